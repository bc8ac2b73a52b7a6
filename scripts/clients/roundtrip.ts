// Remembers and recalls through the generated client.
import assert from "node:assert/strict";

import createClient from "openapi-fetch";

import type { paths } from "./schema.js";

const { LOCI_URL: baseUrl = "", LOCI_KEY: key = "" } = process.env;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const identifiers = { userId: "typescript" };

const content = "The ladder of the office is behind the door";
const written = await client.POST("/v1/memories", { body: { content, identifiers } });
assert.equal(written.response.status, 201, JSON.stringify(written.error));
assert(written.data !== undefined);
assert.equal(written.data.event, "ADD");

const found = await client.POST("/v1/recall", { body: { query: "Where is the ladder?", identifiers } });
assert(found.data !== undefined, JSON.stringify(found.error));
assert.deepEqual(found.data.data.map((one) => one.memory.id), [written.data.id]);
assert.equal(found.data.data[0]?.memory.content, content);
