// The real server for a test: `loci serve` on a data folder of its own, without a model unless one is asked for.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = resolve(fileURLToPath(import.meta.url), "../../..");
const LOCI = resolve(process.env.LOCI ?? join(ROOT, "target/debug/loci"));
const run = promisify(execFile);

export class Server {
  #child;
  key = "";

  /** Starts a server on a new folder. With `model`, it computes vectors with the model of this machine. */
  static async start({ model = false } = {}) {
    assert(existsSync(LOCI), `${LOCI} does not exist: build it first, or set LOCI`);
    const server = new Server();
    server.folder = await mkdtemp(join(tmpdir(), "loci-console-"));
    await writeFile(join(server.folder, "loci.toml"), "");
    server.model = model;
    await server.resume();
    return server;
  }

  get environment() {
    const own = { PATH: process.env.PATH, LOCI_DATA: join(this.folder, "data"), LOCI_CONFIG: join(this.folder, "loci.toml") };
    return this.model ? { ...own, HOME: process.env.HOME } : { ...own, HOME: this.folder, LOCI_EMBEDDINGS: "none" };
  }

  /** Starts the server, at the same address if it had one. */
  async resume() {
    const listen = this.url === undefined ? "127.0.0.1:0" : this.url.slice("http://".length);
    const child = spawn(LOCI, ["--json", "serve", "--listen", listen], {
      env: this.environment,
      cwd: this.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (log += text));
    for await (const line of createInterface(child.stdout)) {
      this.url = JSON.parse(line).listening;
      return;
    }
    throw new Error(`the server did not start: ${log}`);
  }

  /** Ends the process as a crash would, or as an operator does. */
  async stop(signal = "SIGTERM") {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  async close() {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Makes a key with the command line and returns its secret. */
  async makeKey(...args) {
    const { stdout } = await run(LOCI, ["--json", "key", "create", "--name", "test", ...args], {
      env: this.environment,
      cwd: this.folder,
    });
    return JSON.parse(stdout).data.secret;
  }

  /** Calls the API and returns the answer. */
  async call(method, path, body) {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(this.key ? { authorization: `Bearer ${this.key}` } : {}), ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    assert(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Adds a memory of a user and returns its id. */
  async add(content, fields = {}, userId = "ana") {
    return (await this.call("POST", "/v1/memories", { content, identifiers: { userId }, ...fields })).id;
  }
}

/** A small life of two people: facts, a conversation, a replaced statement, a contradiction, a weak one and a proposal. */
export async function furnish(server) {
  const ids = {};
  ids.peanuts = await server.add("Ana is allergic to peanuts", { importance: 0.9, tags: ["health"] });
  ids.morning = await server.add("Ana prefers to be written to in the morning");
  ids.deploy = await server.add("The deploy of build 4021 failed with ERR-7731 on the staging cluster", { tags: ["release"] });
  ids.five = await server.add("The cluster has 5 nodes");
  ids.seven = await server.add("The cluster has 7 nodes");
  ids.lisbon = await server.add("Ana moved to Lisbon in May 2024", { eventTime: "2024-05-01" });
  ids.porto = await server.add("Ana lives in Porto");
  ids.weak = await server.add("The wifi of the old office is called heron", { confidence: 0.2 });
  ids.other = await server.add("Bo keeps the spare keys under the blue pot", {}, "bo");
  const identifiers = { userId: "ana" };
  await server.call("POST", "/v1/sessions/monday/turns", {
    identifiers,
    turns: [
      { threadId: "chat", role: "user", actorId: "ana", content: "My name is Ana and I work at Meridian as a data engineer. We decided to use PostgreSQL for the billing service." },
      { threadId: "chat", role: "assistant", content: "Noted: PostgreSQL for billing." },
      { threadId: "chat", role: "user", actorId: "ana", content: "The release of the billing service is planned for the 12th of March." },
    ],
  });
  await server.call("POST", "/v1/sessions/monday/learn", { identifiers, again: true, wait: true });
  await server.call("POST", "/v1/sessions/friday/turns", {
    identifiers,
    turns: [{ threadId: "chat-2", role: "user", actorId: "ana", content: "I prefer tea over coffee." }],
  });
  return ids;
}
