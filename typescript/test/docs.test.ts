// Runs the TypeScript of README.md and of the guide. The blocks of a page are one module, which is compiled strictly and
// runs with a server of its own. A block that cannot run is fenced as `ts no-run`.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { before, test } from "node:test";

import ts from "typescript";

import { PACKAGE, ROOT, run, Server } from "./server.js";

const PAGES = ["typescript/README.md", "docs/guides/typescript.md"];
const FOLDER = join(PACKAGE, "build", "pages");

/** The file of the module of a page. */
function moduleOf(page: string, extension: "ts" | "js"): string {
  return join(FOLDER, `${basename(page, ".md")}.${extension}`);
}

/** The TypeScript of a page that runs. */
function blocks(page: string): string[] {
  return [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
}

/** Compiles modules with the settings of the tests and returns what is wrong with them. */
function compile(paths: string[]): string {
  const { config } = ts.readConfigFile(join(PACKAGE, "tsconfig.test.json"), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, PACKAGE);
  // A page may show a variable that its reader would use.
  const own = { rootDir: FOLDER, outDir: FOLDER, noUnusedLocals: false, noUnusedParameters: false, skipLibCheck: true };
  const program = ts.createProgram(paths, { ...options, ...own });
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  const host = { getCurrentDirectory: () => FOLDER, getCanonicalFileName: (name: string) => name, getNewLine: () => "\n" };
  return ts.formatDiagnostics(problems, host);
}

before(async () => {
  await mkdir(FOLDER, { recursive: true });
  for (const page of PAGES) {
    const found = blocks(await readFile(join(ROOT, page), "utf8"));
    assert(found.length >= 2, `${page} has examples`);
    await writeFile(moduleOf(page, "ts"), found.join("\n"));
  }
});

test("the examples compile strictly", () => {
  assert.equal(compile(PAGES.map((page) => moduleOf(page, "ts"))), "");
});

for (const page of PAGES) {
  test(`the examples of ${page} run`, async () => {
    const server = await Server.start();
    try {
      const env = { ...server.environment, LOCI_SERVER: server.url };
      await run(process.execPath, [moduleOf(page, "js")], { env, cwd: server.folder, timeout: 60_000 });
    } finally {
      await server.remove();
    }
  });
}
