// Lists that come in pages, on a real server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Loci } from "@loci/client";

import { Server } from "./server.js";

let server: Server;
let loci: Loci;
let requests: string[];

before(async () => {
  server = await Server.start();
  requests = [];
  const counting: typeof fetch = (input, init) => {
    requests.push(String(input));
    return fetch(input, init);
  };
  loci = new Loci({ url: server.url, userId: "ana", fetch: counting });
  const notes = Array.from({ length: 25 }, (_, place) => ({
    content: `note ${place}, of the day`,
    asIs: true,
    tags: place % 2 === 0 ? ["even", "number"] : ["odd"],
    metadata: { place, group: `a,b ${place % 5}` },
  }));
  assert.equal((await loci.rememberMany(notes)).succeeded, 25);
});
after(() => server.remove());

test("a list is read to its end, page by page, and no further than it is read", async () => {
  requests.length = 0;
  const places: unknown[] = [];
  for await (const memory of loci.list({ limit: 10 })) places.push(memory.metadata["place"]);
  assert.deepEqual(places, Array.from({ length: 25 }, (_, place) => 24 - place));
  assert.equal(requests.length, 3);

  requests.length = 0;
  for await (const memory of loci.list({ limit: 10 })) if (memory.metadata["place"] === 20) break;
  assert.equal(requests.length, 1);
});

test("a list can be read again, as pages, and as an array", async () => {
  const list = loci.list({ limit: 10 });
  assert.equal((await list.toArray()).length, 25);
  assert.equal((await list.toArray()).length, 25);
  assert.equal((await list.toArray(12)).length, 12);
  assert.deepEqual(await list.toArray(0), []);
  const sizes: number[] = [];
  for await (const page of list.pages()) sizes.push(page.data.length);
  assert.deepEqual(sizes, [10, 10, 5]);
  const first = await list.page();
  const second = await list.page(first.nextCursor ?? undefined);
  assert.equal(second.data[0]?.metadata["place"], 14);
});

test("filters are sent as the server reads them", async () => {
  assert.equal((await loci.list({ tags: ["odd"] }).toArray()).length, 12);
  assert.equal((await loci.list({ tags: ["odd", "number"] }).toArray()).length, 25);
  assert.equal((await loci.list({ metadata: { group: "a,b 2" } }).toArray()).length, 5);
  assert.equal((await loci.list({ createdAfter: "2100-01-01" }).toArray()).length, 0);
  assert.equal((await loci.list({ pinned: true }).toArray()).length, 0);
  assert.equal((await loci.list({ "filter.userId": ["bo"] }).toArray()).length, 0);
});

test("an aborted signal ends a list", async () => {
  const controller = new AbortController();
  const read = async (): Promise<void> => {
    for await (const _ of loci.list({ limit: 10, signal: controller.signal })) controller.abort(new Error("enough"));
  };
  await assert.rejects(read(), /enough/);
});
