// Writes src/schema.ts, the types of the HTTP API, from docs/openapi.json. With --check it writes nothing and fails if
// the file is out of date.
//
// Failures are left out of the operations, because each of them is a `Problem`; so are the paths outside /v1, but for the
// two of health, and the schemas that nothing else needs then.
import { readFile, writeFile } from "node:fs/promises";

import openapiTypescript, { astToString } from "openapi-typescript";

const source = new URL("../../docs/openapi.json", import.meta.url);
const target = new URL("../src/schema.ts", import.meta.url);
const head = "// Generated from docs/openapi.json by `npm run schema`; do not edit.\n\n";

/** Collects the names of the schemas that a value refers to, also through other schemas. */
function collect(value, schemas, names) {
  if (value === null || typeof value !== "object") return;
  const name = /^#\/components\/schemas\/(.+)$/.exec(value.$ref ?? "")?.[1];
  if (name !== undefined && !names.has(name)) {
    names.add(name);
    collect(schemas[name], schemas, names);
  }
  for (const part of Object.values(value)) collect(part, schemas, names);
}

/** The description without what the client does not use. */
function reduce(description) {
  const { paths, components } = description;
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith("/v1/") && path !== "/healthz" && path !== "/readyz") {
      delete paths[path];
      continue;
    }
    for (const { responses } of Object.values(item).filter((part) => part.responses !== undefined)) {
      for (const status of Object.keys(responses)) {
        if (status.startsWith("2")) delete responses[status].headers;
        else delete responses[status];
      }
    }
  }
  const names = new Set(["Problem"]);
  collect(paths, components.schemas, names);
  collect(components.schemas.Problem, components.schemas, names);
  components.schemas = Object.fromEntries(Object.entries(components.schemas).filter(([name]) => names.has(name)));
  delete components.responses;
  delete components.headers;
  return description;
}

// A field with a default may be left out of a request, so it is not required.
const tree = await openapiTypescript(reduce(JSON.parse(await readFile(source, "utf8"))), { defaultNonNullable: false });
const types = head + astToString(tree);
if (!process.argv.includes("--check")) {
  await writeFile(target, types);
} else if ((await readFile(target, "utf8").catch(() => "")) !== types) {
  console.error("typescript/src/schema.ts is out of date: run `npm run schema` in typescript/ and commit the result");
  process.exitCode = 1;
}
