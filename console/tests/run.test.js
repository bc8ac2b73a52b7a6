// Running the server from the console: health, events, jobs, maintenance, agents, pools, export, erasure and keys.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
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

const dialog = () => tab.page.getByRole("dialog");

test("health shows the parts, what is stored, and the requests", async () => {
  await tab.visit("run/health");
  const text = await tab.text();
  for (const part of ["Store", "sqlite", "words only", "on disk", "preference", "supersedes", "add memory"]) assert(text.includes(part), part);
});

test("events arrive as they happen", async () => {
  await tab.visit("run/events");
  await tab.page.locator(".tag", { hasText: "live" }).waitFor();
  await server.add("Ana bought a red bicycle");
  await tab.page.locator(".stream li", { hasText: "red bicycle" }).waitFor();
  await tab.button("Pause").click();
  await tab.button("Go on").click();
  await tab.page.locator(".tag", { hasText: "live" }).waitFor();
  await tab.button("Clear").click();
  await tab.page.getByText("Changes appear here").waitFor();
});

test("waiting jobs are run", async () => {
  await tab.visit("run/jobs");
  await tab.button("Run waiting jobs now").click();
  await tab.page.locator(".note", { hasText: "done" }).waitFor();
});

test("maintenance looks into the next year and changes nothing, and then runs", async () => {
  const before = await server.call("GET", "/v1/stats");
  await tab.visit("run/maintenance");
  await tab.button("in five years").click();
  await tab.page.getByText("Ana prefers to be written to in the morning").first().waitFor();
  assert.match(await tab.text(), /mark as decayed|soft-delete/);
  assert.equal((await server.call("GET", "/v1/stats")).ledger, before.ledger);
  await tab.button("Run it now").click();
  await dialog().getByRole("button", { name: "Run it" }).click();
  await tab.page.getByText("This was done").waitFor();
});

test("agents are registered and removed", async () => {
  await tab.visit("run/agents");
  await tab.page.getByLabel("New agent").fill("planner");
  await tab.button("Register").click();
  await tab.page.getByRole("rowheader", { name: "planner" }).waitFor();
  await tab.button("Remove").click();
  assert(await dialog().getByRole("button", { name: "Remove for good" }).isDisabled());
  await dialog().getByLabel("Type planner").fill("planner");
  await dialog().getByRole("button", { name: "Remove for good" }).click();
  await tab.page.getByText("No agent is registered").waitFor();
});

test("pools are made, joined, left and removed", async () => {
  await tab.visit("run/pools");
  await tab.page.getByLabel("New pool").fill("notes");
  await tab.page.getByLabel("Its first members").fill("planner");
  await tab.button("Make", { exact: true }).click();
  const card = tab.page.locator(".card", { hasText: "notes" });
  await card.getByLabel("Add agents").fill("coder");
  await card.getByRole("button", { name: "Add", exact: true }).click();
  await card.locator("li", { hasText: "coder" }).waitFor();
  await card.locator("li", { hasText: "planner" }).getByRole("button", { name: "Remove" }).click();
  await card.locator("li", { hasText: "planner" }).waitFor({ state: "detached" });
  await card.getByRole("button", { name: "Remove the pool" }).click();
  await dialog().getByLabel("Type notes").fill("notes");
  await dialog().getByRole("button", { name: "Remove for good" }).click();
  await tab.page.getByText("No pool.").waitFor();
});

test("what is exported is what the API exports", async () => {
  await tab.visit("run/carry");
  const saved = tab.page.waitForEvent("download");
  await tab.button("Export", { exact: true }).click();
  const lines = (await readFile(await (await saved).path(), "utf8")).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines[0].loci, "export");
  assert(lines.some((line) => line.id === ids.peanuts) && lines.some((line) => line.id === ids.other));
});

test("an erasure shows first what goes, and asks for the name", async () => {
  await tab.page.getByLabel("User", { exact: true }).fill("bo");
  await tab.button("What would go?").click();
  await tab.page.getByText("This would go").waitFor();
  assert.match(await tab.page.locator(".plan").innerText(), /memories\s*1/);
  assert(await tab.button("Erase for good").isDisabled());
  assert.equal((await server.call("GET", `/v1/memories/${ids.other}`)).state, "active");
  await tab.page.getByLabel("Type bo to erase").fill("bo");
  await tab.button("Erase for good").click();
  await tab.page.locator(".plan", { hasText: "Erased" }).waitFor();
  await assert.rejects(server.call("GET", `/v1/memories/${ids.other}`), /404/);
});

/** The last test: from the first key on, the server asks for one. */
test("a key is shown once; with the first one everyone signs in; keys are rotated and revoked", async () => {
  await tab.visit("run/keys");
  const make = async (name, role, users) => {
    await tab.button("Make a key").click();
    await dialog().getByLabel("name", { exact: true }).fill(name);
    await dialog().getByLabel("role").selectOption(role);
    if (users) await dialog().getByLabel("these").fill(users);
    await dialog().getByRole("button", { name: "Make", exact: true }).click();
    await tab.page.locator(".secret").waitFor();
    const secret = await tab.page.locator(".secret").innerText();
    await dialog().getByRole("button", { name: "Close" }).click();
    return secret;
  };
  const admin = await make("ops", "admin");
  await tab.page.getByLabel("Key", { exact: true }).waitFor();
  await tab.page.getByLabel("Key", { exact: true }).fill("loci_wrong");
  await tab.page.keyboard.press("Enter");
  await tab.page.locator(".failure").waitFor();
  await tab.page.getByLabel("Key", { exact: true }).fill(admin);
  await tab.page.keyboard.press("Enter");
  await tab.page.getByRole("rowheader", { name: "ops" }).waitFor();
  const reader = await make("reads", "reader", "ana");
  const row = tab.page.locator("tr", { hasText: "reads" });
  assert.match(await row.innerText(), /users: ana/);
  await row.getByRole("button", { name: "Rotate" }).click();
  await tab.page.locator(".secret").waitFor();
  assert.notEqual(await tab.page.locator(".secret").innerText(), reader);
  await dialog().getByRole("button", { name: "Close" }).click();
  await row.first().getByRole("button", { name: "Revoke" }).click();
  await dialog().getByRole("button", { name: "Revoke" }).click();
  await tab.page.locator(".tag", { hasText: "revoked" }).first().waitFor();
  // The key is in no address and in no storage that outlives the tab.
  for (const { url } of tab.answers) assert(!url.includes(admin) && !url.includes("loci_"), url);
  assert.equal(await tab.page.evaluate((key) => Object.values(localStorage).some((value) => value.includes(key)), admin), false);
  await tab.button("Sign out").click();
  await tab.page.getByLabel("Key", { exact: true }).waitFor();
  assert.deepEqual(await tab.page.evaluate(() => Object.values(sessionStorage).filter((value) => value.includes("loci_"))), []);
  tab.complaints = tab.complaints.filter((text) => !text.includes("401"));
});
