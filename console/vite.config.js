// Builds the console into dist/, with names that change with the content, and writes the list of its files that the server
// embeds. `npm run dev` serves the sources and sends calls of the API to a running server (LOCI_SERVER).
import { readdir, writeFile } from "node:fs/promises";

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

/** Writes the list when the bundle is complete, unless it is built elsewhere to be compared. */
const embed = {
  name: "embed",
  apply: "build",
  configResolved: (config) => void (embed.here = config.build.outDir === "dist"),
  async closeBundle() {
    if (!embed.here) return;
    const names = await readdir(new URL("dist", import.meta.url));
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
