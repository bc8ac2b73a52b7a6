// Builds the console into dist/, with names that change with the content, and writes the list of its files that the server
// embeds. `npm run dev` serves the sources and sends calls of the API to a running server (LOCI_SERVER).
import { readdir, readFile, writeFile } from "node:fs/promises";

import { defineConfig } from "vite";

const server = process.env.LOCI_SERVER ?? "http://127.0.0.1:7077";
const list = new URL("../crates/loci-server/src/console/files.rs", import.meta.url);

/** The source of the list of files, sorted so that the same files give the same text. */
function listed(names) {
  const place = 'concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/';
  const rows = names.map((name) => `    ("${name}", include_bytes!(${place}${name}"))),\n`);
  return [
    "//! The built files of the console. Written by the build of `console/`; do not edit.\n\n",
    "/// The page.\n",
    `pub(super) const PAGE: &str = include_str!(${place}index.html"));\n\n`,
    "/// The files that the page loads, by name.\n",
    "#[rustfmt::skip]\n",
    `pub(super) const FILES: &[(&str, &[u8])] = &[\n${rows.join("")}];\n`,
  ].join("");
}

/** The packages of which the bundle contains parts; all of them have the MIT licence. */
const BUNDLED = ["events", "graphology", "graphology-layout-forceatlas2", "graphology-utils", "preact", "sigma", "uplot"];

/** The licences of these packages. */
async function licences() {
  const texts = BUNDLED.map(async (name) => {
    const folder = new URL(`node_modules/${name}/`, import.meta.url);
    const { version } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"));
    const file = (await readdir(folder)).find((entry) => entry.startsWith("LICENSE"));
    return `${name} ${version}\n\n${(await readFile(new URL(file, folder), "utf8")).replaceAll("\r", "").trim()}\n`;
  });
  return `The console contains parts of these packages.\n\n${(await Promise.all(texts)).join("\n----\n\n")}`;
}

/** Writes the list when the bundle is complete, unless it is built elsewhere to be compared. */
const embed = {
  name: "embed",
  apply: "build",
  configResolved: (config) => void (embed.here = config.build.outDir === "dist"),
  async closeBundle() {
    if (!embed.here) return;
    const names = await readdir(new URL("dist", import.meta.url));
    await writeFile(new URL("LICENCES.txt", import.meta.url), await licences());
    await writeFile(list, listed(names.filter((name) => name !== "index.html").sort()));
  },
};

// The server takes a request with another origin for one of a foreign page.
const forward = {
  target: server,
  changeOrigin: true,
  configure: (proxy) => proxy.on("proxyReq", (request) => request.removeHeader("origin")),
};

export default defineConfig({
  base: "/console/",
  publicDir: false,
  plugins: [embed],
  server: {
    proxy: { "/v1": forward, "/metrics": forward, "/readyz": forward, "/healthz": forward, "/docs": forward },
  },
  build: {
    target: "es2022",
    assetsDir: "",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: { entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js", assetFileNames: "[name]-[hash][extname]" },
    },
  },
});
