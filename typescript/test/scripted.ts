// An HTTP server that answers by a script, one step for each request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came in. */
export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
  /** Milliseconds since the server was started. */
  at: number;
}

/** What to do with a request. */
export type Step = (response: ServerResponse, seen: Seen) => void;

/** Answers with JSON. */
export function answer(body: unknown, status = 200, headers: Record<string, string> = {}): Step {
  return (response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(body === undefined ? "" : JSON.stringify(body));
  };
}

/** Answers with a problem document. */
export function problem(code: string, status: number, retryable: boolean, headers: Record<string, string> = {}): Step {
  const body = { type: "about:blank", title: code, status, code, detail: `${code} happened`, instance: "r-1" };
  return answer({ ...body, operation: "testIt", details: { field: "content" }, retryable, hint: "try again" }, status, headers);
}

/** Breaks the connection without an answer. */
export const hangUp: Step = (response) => response.socket?.destroy();

/** Never answers. */
export const silence: Step = () => {};

/** A server that is running, and what it was asked. */
export class Scripted {
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #steps: Step[];

  private constructor(steps: Step[]) {
    this.#steps = steps;
    const start = performance.now();
    this.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        const { method = "", url = "", headers } = request;
        const seen = { method, path: url, headers, body, at: performance.now() - start };
        this.seen.push(seen);
        // The last step is repeated.
        const step = this.#steps.length > 1 ? this.#steps.shift() : this.#steps[0];
        step?.(response, seen);
      });
    });
  }

  static async start(...steps: Step[]): Promise<Scripted> {
    const scripted = new Scripted(steps);
    await new Promise<void>((ready) => scripted.#server.listen(0, "127.0.0.1", ready));
    return scripted;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
