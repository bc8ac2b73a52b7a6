// A reader whose key is bound to one user: nothing of others is in anything that the page was answered.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { quit, Tab } from "./browser.js";
import { furnish, Server } from "./server.js";

/** A word of the memories of others, which the key must not see. */
const FOREIGN = ["blue pot", "quetzal"];

let server;
let ids;
let reader;
let tab;

before(async () => {
  server = await Server.start();
  ids = await furnish(server);
  await server.add("Bo and Ana both know the quetzal", {}, "bo");
  await server.call("POST", "/v1/sessions/secret/turns", { identifiers: { userId: "bo" }, turns: [{ threadId: "tower", role: "user", actorId: "bo", content: "The quetzal lives in the tower" }] });
  reader = await server.makeKey("--role", "reader", "--user", "ana");
  server.key = await server.makeKey("--role", "admin");
  tab = await Tab.open(server);
});
after(async () => {
  await tab?.close();
  await quit();
  await server?.close();
});

test("signing in chooses whom the key is bound to, and offers no one else", async () => {
  await tab.signIn(reader);
  assert.match(await tab.page.locator("[data-scope]").innerText(), /user ana/);
  await tab.page.click("[data-scope]");
  const dialog = tab.page.getByRole("dialog");
  await dialog.waitFor();
  assert.deepEqual(await dialog.getByLabel("user", { exact: true }).locator("option").allInnerTexts(), ["–", "ana"]);
  assert.equal(await dialog.getByRole("button", { name: "Everyone" }).count(), 0);
  await tab.page.keyboard.press("Escape");
});

test("no page shows or is sent anything of others", async () => {
  const pages = ["", "ask", "browse", "timeline", "sessions", "sessions/monday", "sessions/secret", "entities", "graph", `graph/${ids.seven}`, "decide/consents", "decide/contradictions", "decide/weak", `memory/${ids.seven}`, `memory/${ids.other}`, "run/health", "run/events", "run/carry"];
  for (const page of pages) {
    await tab.visit(page);
    const text = await tab.text();
    for (const word of FOREIGN) assert(!text.includes(word), `${page} shows ${word}`);
  }
  await tab.visit("ask");
  await tab.page.getByLabel("Question").fill("where is the quetzal and the blue pot?");
  await tab.page.keyboard.press("Enter");
  await tab.page.locator(".verdict").waitFor();
  await tab.visit("run/carry");
  const saved = tab.page.waitForEvent("download");
  await tab.button("Export", { exact: true }).click();
  await saved;
  await tab.read();
  const bodies = tab.answers.filter((answer) => answer.url.includes("/v1/"));
  assert(bodies.length > 30, `${bodies.length} answers`);
  for (const { url, body, request, status } of bodies) {
    // Not even the question's own words come back with it.
    if (!url.endsWith("/v1/recall")) for (const word of FOREIGN) assert(!body.includes(word), `${url} holds ${word}`);
    assert(!body.includes(ids.other) || url.includes(ids.other), `${url} names a memory of another`);
    if (status !== 401) assert.equal(request.headers()["authorization"], `Bearer ${reader}`);
  }
  const recalled = bodies.filter(({ url }) => url.endsWith("/v1/recall"));
  for (const { body } of recalled) assert(JSON.parse(body).data.every((hit) => hit.memory.identifiers.userId === "ana"), body);
});

test("a reader is offered nothing that changes, nor what an admin does", async () => {
  await tab.visit(`memory/${ids.seven}`);
  for (const name of ["Edit", "Correct", "Confirm", "Forget"]) assert.equal(await tab.button(name).count(), 0, name);
  await tab.visit("decide/consents");
  assert.equal(await tab.button("Accept").count(), 0);
  await tab.visit("run");
  assert.deepEqual(await tab.page.getByRole("tab").allInnerTexts(), ["Health", "Events", "Export and erase"]);
  assert.equal(await tab.page.getByText("Erase a user").count(), 0);
  const writes = tab.answers.filter(({ request }) => !["GET"].includes(request.method()) && !request.url().endsWith("/v1/recall"));
  assert.deepEqual(writes.map(({ url }) => url), []);
  const refused = tab.answers.filter(({ status }) => status === 401 || status === 403);
  assert(refused.length <= 1, refused.map(({ url }) => url).join());
  tab.complaints = tab.complaints.filter((text) => !/status of 40[134]/.test(text));
});

test("the next one who signs in sees nothing of the one before", async () => {
  await tab.visit("ask");
  await tab.page.getByLabel("Question").fill("peanuts");
  await tab.page.keyboard.press("Enter");
  await tab.page.locator(".hit").first().waitFor();
  await tab.button("Sign out").click();
  const other = await server.makeKey("--role", "reader", "--user", "bo");
  await tab.page.getByLabel("Key", { exact: true }).fill(other);
  await tab.page.keyboard.press("Enter");
  await tab.page.locator("[data-scope]", { hasText: "user bo" }).waitFor();
  await tab.visit("ask");
  assert.doesNotMatch(await tab.text(), /allergic/);
  tab.complaints = tab.complaints.filter((text) => !/status of 401/.test(text));
});
