// Runs the TypeScript of README.md and of the guide. The blocks of a page are one module, which is compiled strictly and
// runs with a server of its own. A block that cannot run is fenced as `ts no-run`.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";

import ts from "typescript";

import { PACKAGE, ROOT, run, Server } from "./server.js";

/** The TypeScript of a page that runs. */
function blocks(page: string): string[] {
  return [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
}

/** Compiles a module with the settings of the tests and returns what is wrong with it. */
function compile(path: string): string {
  const { config } = ts.readConfigFile(join(PACKAGE, "tsconfig.test.json"), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, PACKAGE);
  const folder = join(path, "..");
  const program = ts.createProgram([path], { ...options, rootDir: folder, outDir: folder, noUnusedLocals: false, noUnusedParameters: false });
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  const host = { getCurrentDirectory: () => folder, getCanonicalFileName: (name: string) => name, getNewLine: () => "\n" };
  return ts.formatDiagnostics(problems, host);
}

for (const page of ["typescript/README.md", "docs/guides/typescript.md"]) {
  test(`the examples of ${page} compile and run`, async () => {
    const text = await readFile(join(ROOT, page), "utf8");
    const found = blocks(text);
    assert(found.length >= 2, "there are examples");
    const folder = join(PACKAGE, "build", "pages", basename(page, ".md"));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "page.ts"), found.join("\n"));
    assert.equal(compile(join(folder, "page.ts")), "");
    const server = await Server.start();
    try {
      const env = { ...server.environment, LOCI_SERVER: server.url };
      await run(process.execPath, [join(folder, "page.js")], { env, cwd: server.folder, timeout: 60_000 });
    } finally {
      await server.remove();
    }
  });
}
