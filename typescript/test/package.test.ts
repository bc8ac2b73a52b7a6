// What is published: the tarball installs in an empty folder and works in five lines.
import assert from "node:assert/strict";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { PACKAGE, ROOT, run, Server } from "./server.js";

let server: Server;
let folder: string;

before(async () => {
  server = await Server.start();
  folder = await mkdtemp(join(tmpdir(), "loci-package-"));
});
after(async () => {
  await server.remove();
  await rm(folder, { recursive: true, force: true });
});

const FIVE_LINES = `
import { Loci } from "@loci/client";
const loci = new Loci({ userId: "ana" });
await loci.remember("Ana is allergic to peanuts");
const { data } = await loci.recall("what is Ana allergic to?");
console.log(data[0].memory.content);
`;

test("the tarball installs in an empty folder, and five lines remember and recall", async () => {
  // As `prepack` does; the build is there, and other tests are using it.
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) await copyFile(join(ROOT, licence), join(PACKAGE, licence));
  const env = { ...server.environment, LOCI_SERVER: server.url, npm_config_update_notifier: "false" };
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const packed = JSON.parse((await run("npm", pack, { cwd: PACKAGE, env })).stdout) as { filename: string; files: { path: string }[] }[];
  const { filename, files } = packed[0] ?? assert.fail("nothing was packed");
  const modules = ["client", "errors", "events", "facts", "http", "index", "pages", "retry", "schema", "scope", "types"];
  const wanted = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json"];
  wanted.push(...modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]));
  assert.deepEqual(files.map(({ path }) => path).sort(), wanted.sort());

  const start = performance.now();
  const install = ["install", "--offline", "--no-audit", "--no-fund", join(folder, filename)];
  await run("npm", install, { cwd: folder, env });
  const installed = performance.now();
  await writeFile(join(folder, "five.mjs"), FIVE_LINES);
  const { stdout } = await run(process.execPath, ["five.mjs"], { cwd: folder, env });
  assert.equal(stdout, "Ana is allergic to peanuts\n");
  const seconds = (from: number, to: number): string => ((to - from) / 1000).toFixed(2);
  console.log(`installed in ${seconds(start, installed)} s, five lines in ${seconds(installed, performance.now())} s`);
});

test("the package is described in full, and its version is that of the workspace", async () => {
  const read = (path: string): Promise<string> => readFile(join(ROOT, path), "utf8");
  const manifest = JSON.parse(await read("typescript/package.json")) as Record<string, unknown>;
  const lock = JSON.parse(await read("typescript/package-lock.json")) as { version: string };
  const version = /\[workspace\.package\][^[]*?\nversion = "([^"]+)"/.exec(await read("Cargo.toml"))?.[1];
  assert.equal(typeof version, "string");
  assert.equal(manifest["version"], version);
  assert.equal(lock.version, version);
  assert.match(await read("typescript/CHANGELOG.md"), new RegExp(`^## ${version?.replaceAll(".", "\\.")}\\b`, "m"));
  for (const field of ["name", "description", "keywords", "license", "exports", "types", "files", "engines"]) {
    assert(manifest[field] !== undefined, field);
  }
  assert.equal(manifest["dependencies"], undefined);
  assert.equal(manifest["private"], undefined);
});

test("lock files name no registry", async () => {
  for (const path of ["typescript/package-lock.json", "examples/typescript/package-lock.json"]) {
    assert.doesNotMatch(await readFile(join(ROOT, path), "utf8"), /https?:\/\/registry/, path);
  }
});
