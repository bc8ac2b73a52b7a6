// What may be done with memories: one, many, and those that wait for a decision.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { quit, Tab } from "./browser.js";
import { furnish, Server } from "./server.js";

let server;
let ids;
let tab;

before(async () => {
  server = await Server.start();
  ids = await furnish(server);
  tab = await Tab.open(server);
});
after(async () => {
  await tab?.close();
  await quit();
  await server?.close();
});

const read = (id) => server.call("GET", `/v1/memories/${id}`);
const dialog = () => tab.page.getByRole("dialog");
const receipt = () => tab.page.locator(".receipt").innerText();

async function open(id) {
  await tab.visit(`memory/${id}`);
  await tab.page.locator(".statement").waitFor();
}

test("a change gives a receipt, is in the history as a difference, and can be undone", async () => {
  await open(ids.deploy);
  await tab.button("Edit").click();
  await dialog().getByLabel("Text").fill("The deploy of build 4022 failed with ERR-7731 on the staging cluster");
  await dialog().getByLabel("importance").fill("0.8");
  await dialog().getByLabel("tags").fill("release, urgent");
  await dialog().getByRole("button", { name: "Save" }).click();
  await tab.page.locator(".receipt").waitFor();
  assert.match(await receipt(), /Changed.*UPDATE · version 2/s);
  await tab.settle();
  const changed = await read(ids.deploy);
  assert.deepEqual([changed.content.includes("4022"), changed.importance, changed.tags], [true, 0.8, ["release", "urgent"]]);
  await tab.page.getByRole("tab", { name: "History" }).click();
  const text = await tab.page.locator(".history li").first().innerText();
  assert.match(text, /update/);
  assert.deepEqual(await tab.page.locator(".history li").first().locator("del").first().innerText(), "4021");
  await tab.page.locator(".receipt").getByRole("button", { name: "Undo" }).click();
  await tab.page.locator(".statement", { hasText: "build 4021" }).waitFor();
  assert.match((await read(ids.deploy)).content, /4021/);
});

test("someone else's change is not overwritten", async () => {
  await open(ids.morning);
  await tab.button("Edit").click();
  await dialog().getByLabel("category").fill("mine");
  await server.call("PATCH", `/v1/memories/${ids.morning}`, { category: "theirs" });
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().getByText("Someone else has changed it").waitFor();
  assert.equal(await dialog().getByLabel("category").inputValue(), "mine");
  assert.equal((await read(ids.morning)).category, "theirs");
  await tab.page.keyboard.press("Escape");
  tab.complaints = tab.complaints.filter((text) => !text.includes("409"));
});

test("confirm, pin, unpin, forget, restore", async () => {
  await open(ids.peanuts);
  assert.match(await tab.text(), /goes on/);
  await tab.button("Confirm").click();
  await tab.page.getByText("It is confirmed").waitFor();
  assert.equal((await read(ids.peanuts)).decayRate, 0);
  await tab.button("Pin", { exact: true }).click();
  await tab.button("Unpin").waitFor();
  assert.equal((await read(ids.peanuts)).pinned, true);
  await tab.button("Unpin").click();
  await tab.button("Pin", { exact: true }).waitFor();
  await tab.button("Forget").click();
  await dialog().getByLabel("Reason").fill("a test");
  await dialog().getByRole("button", { name: "Forget" }).click();
  await tab.button("Restore").waitFor();
  assert.equal((await read(ids.peanuts)).state, "soft_deleted");
  await tab.page.getByRole("tab", { name: "History" }).click();
  assert.match(await tab.page.locator(".history").innerText(), /a test/);
  await tab.button("Restore").click();
  await tab.button("Edit").waitFor();
  assert.equal((await read(ids.peanuts)).state, "active");
});

test("a correction replaces, and the versions are a line", async () => {
  await open(ids.lisbon);
  await tab.button("Correct").click();
  await dialog().getByLabel("What is right").fill("Ana moved to Lisbon in June 2024");
  await dialog().getByLabel("Reason").fill("wrong month");
  await dialog().getByRole("button", { name: "Correct" }).click();
  await tab.page.locator(".statement", { hasText: "June" }).waitFor();
  await tab.page.getByRole("tab", { name: "Versions" }).click();
  const versions = tab.page.locator(".chain li");
  assert.equal(await versions.count(), 2);
  assert.deepEqual([await versions.nth(1).locator("del").innerText(), await versions.nth(1).locator("ins").innerText()], ["May", "June"]);
  await versions.nth(0).getByRole("link").click();
  await tab.page.getByText("replaced by a newer one").waitFor();
});

test("a turn shows what was learned from it, and what was learned its turn", async () => {
  const { data } = await server.call("GET", "/v1/memories?userId=ana&kind=decision");
  await open(data[0].id);
  await tab.page.getByRole("tab", { name: "Sources" }).click();
  const panel = tab.page.getByRole("tabpanel");
  assert.match(await panel.innerText(), /My name is Ana/);
  await panel.locator(".memory-row a").first().click();
  await tab.page.locator(".statement", { hasText: "My name is Ana" }).waitFor();
  await tab.page.getByRole("tab", { name: "Sources" }).click();
  await tab.page.getByRole("tabpanel").getByText("We decided to use PostgreSQL").first().waitFor();
  await tab.page.getByRole("link", { name: "the whole session" }).click();
  await tab.page.locator(".turns").waitFor();
});

test("the curve is drawn, with the day on which the memory goes", async () => {
  await open(ids.seven);
  await tab.page.locator(".chart canvas").waitFor();
  const text = await tab.text();
  const { data } = await server.call("GET", "/v1/memories/weak?userId=ana&below=0.999999&limit=200");
  const weak = data.find((one) => one.memory.id === ids.seven);
  const gone = new Date(weak.goneAt);
  const shown = await tab.page.evaluate((time) => [-1, 0, 1].map((days) => new Intl.DateTimeFormat(undefined, { dateStyle: "medium" }).format(time + days * 86400000)), gone.getTime());
  assert(shown.some((day) => text.includes(day)), `${text}\nshould say ${shown[1]}`);
});

test("the table filters, selects, and changes many after a dry run", async () => {
  await tab.visit("browse");
  await tab.choose({ user: "ana" });
  await tab.visit("browse");
  await tab.page.getByLabel("tags").fill("release");
  await tab.page.waitForFunction(() => document.querySelectorAll(".table-body .table-row").length === 1);
  await tab.page.getByLabel("tags").fill("");
  await tab.page.waitForFunction(() => document.querySelectorAll(".table-body .table-row").length > 3);
  const chosen = ["The cluster has 7 nodes", "Ana lives in Porto"];
  for (const text of chosen) await tab.page.getByLabel(`Choose ${text}`).check();
  await tab.button("Change the chosen").click();
  await dialog().getByLabel("what").selectOption("importance");
  await dialog().getByLabel("importance (0 to 1)").fill("0.95");
  assert(await dialog().getByRole("button", { name: "Change them" }).isDisabled());
  await dialog().getByRole("button", { name: "Dry run" }).click();
  await dialog().getByText("2 memories").waitFor();
  for (const text of chosen) assert.match(await dialog().innerText(), new RegExp(text));
  assert.notEqual((await read(ids.seven)).importance, 0.95);
  await dialog().getByRole("button", { name: "Change them" }).click();
  await dialog().waitFor({ state: "detached" });
  assert.deepEqual([(await read(ids.seven)).importance, (await read(ids.porto)).importance], [0.95, 0.95]);
  // Those that match a filter.
  await tab.page.getByLabel("importance from").fill("0.95");
  await tab.page.waitForFunction(() => document.querySelectorAll(".table-body .table-row").length === 2);
  await tab.button("Change all").click();
  await dialog().getByLabel("what").selectOption("pin");
  await dialog().getByRole("button", { name: "Dry run" }).click();
  await dialog().getByText("2 memories").waitFor();
  await dialog().getByRole("button", { name: "Change them" }).click();
  await dialog().waitFor({ state: "detached" });
  assert.equal((await read(ids.porto)).pinned, true);
  await tab.page.getByLabel("importance from").fill("");
});

test("consents are accepted and rejected", async () => {
  await tab.visit("decide/consents");
  await tab.button("Accept").first().click();
  await tab.page.getByText("Nothing waits for consent").waitFor();
  const { data } = await server.call("GET", "/v1/memories?userId=ana");
  assert(data.some((memory) => memory.content.startsWith("My name is Ana") && memory.kind === "fact"));
});

test("of two statements both are kept, one replaces, or they become one", async () => {
  const pairs = [
    ["Dana moved to Oslo in May 2024", "Dana lives in Rome"],
    ["Eli moved to Kyiv in May 2024", "Eli lives in Nice"],
    ["Fay moved to Bern in May 2024", "Fay lives in Bonn"],
  ];
  for (const texts of pairs) for (const text of texts) await server.add(text, {}, "cleo");
  await tab.choose({ user: "cleo" });
  await tab.visit("decide/contradictions");
  const cards = tab.page.locator(".pair");
  const left = (count) => tab.page.waitForFunction((wanted) => document.querySelectorAll(".pair").length === wanted, count);
  const texts = async () => (await server.call("GET", "/v1/memories?userId=cleo")).data.map((memory) => memory.content);
  await cards.first().waitFor();
  const count = await cards.count();
  assert(count >= 3, `${count} pairs`);
  await cards.first().getByRole("button", { name: "Keep both" }).click();
  await left(count - 1);
  assert.equal((await texts()).length, 6);
  const [earlier, later] = await cards.first().locator(".memory-text").allInnerTexts();
  await cards.first().getByRole("button", { name: "The later replaces" }).click();
  // Its other pairs go with what was replaced.
  await tab.page.waitForFunction((text) => ![...document.querySelectorAll(".pair")].some((pair) => pair.innerText.includes(text)), earlier);
  const now = await texts();
  assert(now.includes(later) && !now.includes(earlier), now.join());
  const pair = await cards.first().locator(".memory-text").allInnerTexts();
  await cards.first().getByRole("button", { name: "Merge" }).click();
  await dialog().getByLabel("One statement for both").fill("They live in both");
  await dialog().getByRole("button", { name: "Merge", exact: true }).click();
  await tab.page.locator(".note", { hasText: "Merged" }).waitFor();
  const merged = await texts();
  assert(merged.includes("They live in both") && !merged.includes(pair[0]) && !merged.includes(pair[1]), merged.join());
});

test("a weak memory is confirmed or forgotten", async () => {
  const second = await server.add("The old printer is called lark", { confidence: 0.15 });
  await tab.choose({ user: "ana" });
  await tab.visit("decide/weak");
  await tab.page.locator(".card", { hasText: "heron" }).getByRole("button", { name: "It is right" }).click();
  await tab.page.locator(".card", { hasText: "heron" }).waitFor({ state: "detached" });
  assert.equal((await read(ids.weak)).confidence, 1);
  await tab.page.locator(".card", { hasText: "lark" }).getByRole("button", { name: "Forget" }).click();
  await tab.page.getByText("Every memory is sure enough").waitFor();
  assert.equal((await read(second)).state, "soft_deleted");
});

test("a session is learned from and ended; its turns show what they taught", async () => {
  await tab.visit("sessions/friday");
  assert.match(await tab.text(), /not learned from yet/);
  await tab.button("Learn from it now").click();
  await tab.page.locator(".taught", { hasText: "tea" }).waitFor();
  await tab.button("End", { exact: true }).click();
  await tab.page.locator(".tag", { hasText: "ended" }).waitFor();
});

test("entities are merged and split", async () => {
  const { data } = await server.call("GET", "/v1/entities?userId=ana");
  const [one, other] = ["Porto", "Lisbon"].map((name) => data.find((entity) => entity.canonicalName === name));
  assert(one && other, data.map((entity) => entity.canonicalName).join());
  await tab.visit(`entities/${one.id}`);
  await tab.button("Merge another into it").click();
  await dialog().getByLabel("The other one").fill("Lisbon");
  await dialog().getByRole("button", { name: "Merge", exact: true }).click();
  await tab.page.locator("main .tag", { hasText: "Lisbon" }).waitFor();
  await tab.button("Merge another into it").click();
  await dialog().getByRole("button", { name: "Split Lisbon off again" }).click();
  await tab.page.locator(".statement", { hasText: "Lisbon" }).waitFor();
});

test("the graph chooses, expands, hides a relation and goes back in time", async () => {
  await tab.visit(`graph/${ids.seven}`);
  await tab.page.locator(".graph canvas").first().waitFor();
  await tab.page.locator("[data-chosen]", { hasText: "7 nodes" }).waitFor();
  await tab.button("Show what is around").click();
  const list = tab.page.locator("details li");
  await tab.page.locator("summary", { hasText: "The same as a list" }).click();
  const before = await list.count();
  assert(before > 0);
  await tab.page.getByLabel("supersedes").uncheck();
  assert((await list.count()) < before);
  await tab.visit("graph");
  await tab.page.locator(".graph canvas").first().waitFor();
  await tab.page.getByRole("slider").fill("10");
  assert.doesNotMatch(await tab.page.locator(".time-slider").innerText(), /today/);
});

test("the timeline goes back day by day", async () => {
  await server.add("Ana ran the marathon of Porto", { eventTime: "2024-11-03" });
  await tab.visit("timeline");
  assert((await tab.page.locator(".days > li").count()) >= 1);
  await tab.page.getByLabel("by the day it").selectOption("happened");
  await tab.page.locator(".days h2", { hasText: "2024" }).first().waitFor();
  await tab.page.getByLabel("before").fill("2020-01-01");
  await tab.page.getByText("Nothing was remembered before this day").waitFor();
});

test("something is remembered on the first page", async () => {
  await tab.visit("");
  await tab.page.getByLabel("What", { exact: true }).fill("Ana has a cat called Miso");
  await tab.button("Remember").click();
  await tab.page.locator(".statement", { hasText: "Miso" }).waitFor();
  for (const [name, text] of [["MCP", "mcpServers"], ["Python", "from loci import"], ["TypeScript", "@loci/client"], ["curl", "curl http"]]) {
    await tab.visit("");
    await tab.page.getByRole("tab", { name }).click();
    assert((await tab.page.locator(".snippet pre").innerText()).includes(text), name);
  }
});
