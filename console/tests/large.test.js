// 100,000 memories, and a graph of 5,000: frame times, the first paint, and when the graph can be used. Only with CONSOLE_LARGE.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { quit, Tab } from "./browser.js";
import { Server } from "./server.js";

const LARGE = Boolean(process.env.CONSOLE_LARGE);
const MANY = Number(process.env.CONSOLE_LARGE) > 1 ? Number(process.env.CONSOLE_LARGE) : 100_000;
const NODES = Math.min(5_000, MANY);

let server;

before(async () => {
  if (!LARGE) return;
  server = await Server.start();
  const add = (memories, userId) => server.call("POST", "/v1/memories/batch", { identifiers: { userId }, memories });
  for (let at = 0; at < MANY; at += 500) {
    const memories = Array.from({ length: 500 }, (_, index) => ({ content: `Note ${at + index}: the sensor of room ${(at + index) % 977} was read`, asIs: true, kind: "fact" }));
    await add(memories, "many");
  }
  // Turns that follow each other are linked, so that they make a graph.
  for (let at = 0; at < NODES; at += 100) {
    const turns = Array.from({ length: 100 }, (_, index) => ({ threadId: `thread ${(at + index) % 50}`, role: "user", actorId: "graph", content: `Turn ${at + index} of the long talk` }));
    await server.call("POST", `/v1/sessions/talk/turns`, { identifiers: { userId: "graph" }, turns });
  }
});
after(async () => {
  await quit();
  await server?.close();
});

/** The times between frames while something happens, in milliseconds, the longest last. */
async function framesDuring(tab, work) {
  await tab.page.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const step = (now) => {
      window.frames_.push(now - last);
      last = now;
      window.next_ = requestAnimationFrame(step);
    };
    window.next_ = requestAnimationFrame(step);
  });
  await work();
  return tab.page.evaluate(() => {
    cancelAnimationFrame(window.next_);
    return window.frames_.sort((one, other) => one - other);
  });
}
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

test("the table is there within a second, and scrolls", { skip: !LARGE }, async () => {
  const tab = await Tab.open(server);
  const begun = Date.now();
  await tab.page.goto(`${server.url}/console#/browse`);
  await tab.page.locator(".table-body .table-row a").first().waitFor();
  const shown = Date.now() - begun;
  const paint = await tab.page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const frames = await framesDuring(tab, async () => {
    await tab.page.locator(".table").hover();
    for (let turn = 0; turn < 120; turn++) await tab.page.mouse.wheel(0, 340);
  });
  await tab.page.locator(".table").focus();
  await tab.page.keyboard.press("End");
  const reached = Date.now();
  await tab.page.locator(".table-row.active a").waitFor({ timeout: 120_000 });
  console.error(
    `table of ${MANY}: first paint ${Math.round(paint)} ms, rows after ${shown} ms, ${frames.length} frames, median ${at(frames, 0.5).toFixed(1)} ms, ` +
      `95 % within ${at(frames, 0.95).toFixed(1)} ms, the last row after ${Date.now() - reached} ms`,
  );
  assert(at(frames, 0.5) < 18, `half of the frames took longer than ${at(frames, 0.5)} ms`);
  await tab.close();
});

test("a graph of 5,000 memories can be used", { skip: !LARGE }, async () => {
  const tab = await Tab.open(server);
  await tab.visit("");
  await tab.choose({ user: "graph" });
  const begun = Date.now();
  await tab.page.evaluate(() => (location.hash = "#/graph"));
  await tab.page.locator(".graph canvas").first().waitFor();
  await tab.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  console.error(`graph of ${NODES}: ${Date.now() - begun} ms until it can be used`);
  assert.match(await tab.page.getByRole("status").first().innerText(), /memories/);
  await tab.close();
});
