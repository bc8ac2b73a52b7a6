// Everything can be reached and done without a pointer.
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
  await tab.visit("");
});
after(async () => {
  await tab?.close();
  await quit();
  await server?.close();
});

const press = (...keys) => keys.reduce((before, key) => before.then(() => tab.page.keyboard.press(key)), Promise.resolve());
const focused = () => tab.page.evaluate(() => document.activeElement?.innerText || document.activeElement?.getAttribute("aria-label") || "");

test("from a question to a memory and back", async () => {
  await press("/");
  await tab.page.locator("[data-question]:focus").waitFor();
  await tab.page.keyboard.type("is Ana allergic to peanuts?");
  await press("Enter");
  await tab.page.locator(".hit").first().waitFor();
  await press("Escape");
  await tab.page.evaluate(() => document.activeElement.blur());
  await press("j");
  assert.match(await focused(), /peanuts/);
  await press("Enter");
  await tab.page.locator(".statement", { hasText: "peanuts" }).waitFor();
  // The key that goes back belongs to the browser, which has no window here.
  await tab.page.goBack();
  await tab.page.locator(".hit").first().waitFor();
});

test("every page has a key, and the keys have a page", async () => {
  for (const [key, title] of [["b", "Browse"], ["t", "Timeline"], ["s", "Sessions"], ["e", "Entities"], ["n", "Graph"], ["d", "Decide"], ["r", "Run"], ["a", "Ask"]]) {
    await tab.page.evaluate(() => document.activeElement?.blur());
    await press("g", key);
    await tab.page.getByRole("heading", { level: 1, name: title }).waitFor();
  }
  await press("?");
  await tab.page.getByRole("dialog", { name: "Keys" }).waitFor();
  await press("Escape");
  await tab.page.getByRole("dialog").waitFor({ state: "detached" });
});

test("the scope is chosen, and the focus comes back", async () => {
  await press("s");
  await tab.page.getByRole("dialog").waitFor();
  await tab.page.getByLabel("user", { exact: true }).focus();
  await tab.page.keyboard.type("ana");
  await press("Enter");
  await tab.page.getByRole("dialog").waitFor({ state: "detached" });
  assert.match(await tab.page.locator("[data-scope]").innerText(), /user ana/);
});

test("the table is walked, rows are chosen, and one is opened", async () => {
  await press("g", "b");
  await tab.page.locator(".table-body .table-row a").first().waitFor();
  for (let tries = 0; tries < 40 && !(await tab.page.locator(".table:focus").count()); tries++) await press("Tab");
  await press("ArrowDown", "ArrowDown", " ");
  assert.match(await tab.page.getByRole("status").first().innerText(), /1 chosen/);
  const text = await tab.page.locator(".table-row.active .cell-text").innerText();
  await press("End");
  assert.equal(await tab.page.locator(".table-row.active").getAttribute("aria-rowindex"), await tab.page.locator(".table").getAttribute("aria-rowcount"));
  await press("Home", "ArrowDown", "ArrowDown", "Enter");
  await tab.page.locator(".statement", { hasText: text }).waitFor();
});

test("a memory is edited: every control is reached with Tab, and shows that it has the focus", async () => {
  await tab.visit(`memory/${ids.deploy}`);
  await tab.page.getByRole("button", { name: "Edit" }).waitFor();
  await tab.page.evaluate(() => document.activeElement?.blur());
  const seen = new Set();
  for (let tries = 0; tries < 40; tries++) {
    await press("Tab");
    const name = await focused();
    seen.add(name);
    const outline = await tab.page.evaluate(() => document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none");
    assert(outline, `${name} does not show the focus`);
    if (name === "Edit") break;
  }
  assert.equal(await focused(), "Edit", [...seen].join(", "));
  await press("Enter");
  await tab.page.getByRole("dialog").waitFor();
  await tab.page.getByLabel("Text").focus();
  await press("Control+a");
  await tab.page.keyboard.type("The deploy of build 4023 was fine");
  for (let tries = 0; tries < 10 && (await focused()) !== "Save"; tries++) await press("Tab");
  await press("Enter");
  await tab.page.locator(".receipt").waitFor();
  assert.match((await server.call("GET", `/v1/memories/${ids.deploy}`)).content, /4023/);
});

test("tabs are moved with the arrows", async () => {
  await tab.page.getByRole("tab", { name: "About" }).focus();
  await press("ArrowRight");
  assert.equal(await focused(), "History");
  await tab.page.locator(".history").waitFor();
  await press("ArrowLeft", "ArrowLeft");
  assert.equal(await focused(), "All fields");
});
