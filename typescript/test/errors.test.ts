// Errors of the real server and of the client itself.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  AuthenticationError,
  ERROR_CLASSES,
  InvalidRequestError,
  Loci,
  LociError,
  NotFoundError,
  PermissionError,
} from "@loci/client";

import { ROOT, Server } from "./server.js";

let server: Server;
let admin: string;
let reader: string;

before(async () => {
  server = await Server.start();
  admin = await server.key("--role", "admin");
  reader = await server.key("--role", "reader", "--user", "ana");
});
after(() => server.remove());

test("every code of the reference has a class", async () => {
  const page = await readFile(join(ROOT, "docs/reference/errors.md"), "utf8");
  const codes = [...page.matchAll(/^\| `([A-Z_]+)` \| \d{3} \|/gm)].map((match) => match[1]);
  assert(codes.length >= 20);
  assert.deepEqual(Object.keys(ERROR_CLASSES).sort(), codes.sort());
});

test("failures are errors of the class of their code", async () => {
  const url = server.url;
  const ana = new Loci({ url, key: admin, userId: "ana" });
  const id = "01a1efcd-b3a9-700a-add4-4d54866cd7f1";
  const cases: [() => Promise<unknown>, typeof LociError, string, number, string | undefined][] = [
    [() => new Loci({ url }).stats(), AuthenticationError, "UNAUTHENTICATED", 401, undefined],
    [() => new Loci({ url, key: "wrong" }).stats(), AuthenticationError, "UNAUTHENTICATED", 401, undefined],
    [() => new Loci({ url, key: reader, userId: "bo" }).list().page(), PermissionError, "UNAUTHORIZED", 403, undefined],
    [() => new Loci({ url, key: reader }).remember("x"), PermissionError, "UNAUTHORIZED", 403, undefined],
    [() => ana.get(id), NotFoundError, "MEMORY_NOT_FOUND", 404, undefined],
    [() => ana.facts.get(id), NotFoundError, "NOT_FOUND", 404, undefined],
    [() => ana.request("GET", "/v1/nowhere"), NotFoundError, "ROUTE_NOT_FOUND", 404, undefined],
    [() => ana.request("PUT", "/v1/recall"), InvalidRequestError, "METHOD_NOT_ALLOWED", 405, undefined],
    [() => new Loci({ url, key: admin }).recall("x"), InvalidRequestError, "MISSING_IDENTIFIER", 400, undefined],
    [() => ana.remember(""), InvalidRequestError, "INVALID_INPUT", 400, "content"],
    [() => ana.remember("x", { importance: 2 }), InvalidRequestError, "INVALID_INPUT", 400, "importance"],
    [() => ana.remember("x".repeat(8193)), InvalidRequestError, "CONTENT_TOO_LONG", 413, "content"],
    [() => ana.recall("x".repeat(8193)), InvalidRequestError, "QUERY_TOO_LONG", 413, "query"],
  ];
  for (const [call, Class, code, status, field] of cases) {
    const error = await call().then(() => assert.fail(`${code} was expected`), (reason: unknown) => reason);
    assert(error instanceof LociError, String(error));
    assert.deepEqual([error.code, error.status], [code, status]);
    assert.equal(error.constructor, Class, code);
    assert.equal(error.retryable, false);
    assert(error.detail.length > 0 && error.operation.length > 0);
    assert.match(String(error.requestId), /\S/);
    if (field !== undefined) assert.equal(error.details["field"], field);
  }
});

test("what would lead to another path is refused before it is sent", () => {
  const loci = new Loci({ url: server.url, key: admin, userId: "ana" });
  for (const id of ["", ".", ".."]) {
    assert.throws(() => loci.forget(id), TypeError);
    assert.throws(() => loci.endSession(id), TypeError);
  }
  assert.throws(() => loci.get(undefined as unknown as string), TypeError);
});

test("a name with any letters reaches the server as it is", async () => {
  const loci = new Loci({ url: server.url, key: admin, userId: "ana/../b?c=ü&" });
  const sessionId = "a/b ?#%2e..";
  await loci.ingest([{ threadId: "t", role: "user", content: "Hello" }], { sessionId });
  assert.equal((await loci.session(sessionId)).sessionId, sessionId);
});

test("an address that is none is refused", () => {
  for (const url of ["", "127.0.0.1:7077", "localhost", "ftp://x", "http://"]) {
    assert.throws(() => new Loci({ url }), /must begin with http:\/\/ or https:\/\//, url);
  }
});

test("the address and the key come from the environment where they are not given", async () => {
  process.env["LOCI_SERVER"] = `${server.url}/`;
  process.env["LOCI_KEY"] = reader;
  try {
    // The key is bound to one user, who is the default then.
    assert.deepEqual(await new Loci().list().toArray(), []);
  } finally {
    delete process.env["LOCI_SERVER"];
    delete process.env["LOCI_KEY"];
  }
});
