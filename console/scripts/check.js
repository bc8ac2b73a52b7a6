// Fails if the committed build is not that of the sources, or if it has grown too large.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "vite";

/** The greatest size of all files together, compressed. */
const MOST = 150_000;
const root = fileURLToPath(new URL("..", import.meta.url));

/** The files of a build, by name. */
async function filesOf(folder) {
  const names = (await readdir(folder)).sort();
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))])));
}

const outDir = await mkdtemp(join(tmpdir(), "loci-console-build-"));
try {
  await build({ root, logLevel: "warn", build: { outDir, emptyOutDir: true } });
  const [built, committed] = await Promise.all([filesOf(outDir), filesOf(join(root, "dist"))]);
  const names = new Set([...built.keys(), ...committed.keys()]);
  const different = [...names].filter((name) => !built.get(name)?.equals(committed.get(name) ?? Buffer.alloc(0)));
  const list = await readFile(join(root, "../crates/loci-server/src/console/files.rs"), "utf8");
  const unlisted = [...built.keys()].filter((name) => !list.includes(`/console/dist/${name}"`));
  if (different.length + unlisted.length > 0) {
    console.error(`console/dist is out of date (${[...new Set([...different, ...unlisted])].join(", ")}): run \`npm run build\` in console/ and commit the result`);
    process.exitCode = 1;
  }
  const sizes = [...built].map(([name, content]) => [gzipSync(content, { level: 9 }).length, name]);
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  const first = sizes.filter(([, name]) => /^(index|text)[-.]/.test(name)).reduce((sum, [size]) => sum + size, 0);
  console.error(`console: ${total} bytes compressed in ${built.size} files, of which about ${first} for the first page (at most ${MOST})`);
  if (total > MOST) {
    for (const [size, name] of sizes.sort(([one], [other]) => other - one)) console.error(`  ${size} ${name}`);
    process.exitCode = 1;
  }
} finally {
  await rm(outDir, { recursive: true, force: true });
}
