// Starts the real server for a test: `loci serve` on a data folder of its own, without a model.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The folder of the package. The tests run from `build/`. */
export const PACKAGE = resolve(fileURLToPath(import.meta.url), "../..");
/** The folder of the repository. */
export const ROOT = resolve(PACKAGE, "..");

const LOCI = resolve(process.env["LOCI"] ?? join(ROOT, "target/debug/loci"));

/** Runs a program and returns its output. */
export const run = promisify(execFile);

/** A server in a process of its own. */
export class Server {
  #child: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    public url: string,
  ) {}

  /** Starts a server on a new folder. */
  static async start(): Promise<Server> {
    assert(existsSync(LOCI), `${LOCI} does not exist: build it with \`cargo build --workspace --bin loci\`, or set LOCI`);
    const server = new Server(await mkdtemp(join(tmpdir(), "loci-typescript-")), "");
    await server.resume();
    return server;
  }

  /** The environment of the commands. */
  get environment(): NodeJS.ProcessEnv {
    return { PATH: process.env["PATH"], HOME: this.folder, LOCI_DATA: join(this.folder, "data"), LOCI_EMBEDDINGS: "none" };
  }

  /** Makes a key and returns its secret. */
  async key(...args: string[]): Promise<string> {
    const command = ["--json", "key", "create", "--name", "test", ...args];
    const { stdout } = await run(LOCI, command, { env: this.environment, cwd: this.folder });
    return (JSON.parse(stdout) as { data: { secret: string } }).data.secret;
  }

  /** Starts the server again, at the same address, if it had one. */
  async resume(): Promise<void> {
    const listen = this.url === "" ? "127.0.0.1:0" : this.url.slice("http://".length);
    const args = ["--json", "serve", "--listen", listen];
    const child = spawn(LOCI, args, { env: this.environment, cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const first = await lines.next();
    assert(first.done !== true, `the server did not start:\n${log}`);
    this.url = (JSON.parse(first.value) as { listening: string }).listening;
    child.stdout.resume();
  }

  /** Ends the server, in good order or as a crash would, and keeps its folder. */
  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  /** Ends the server and removes its folder. */
  async remove(): Promise<void> {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}
