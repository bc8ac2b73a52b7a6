// The server is ended in the middle: nothing that was typed is lost, and nothing is done twice.
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

/** The browser notes each request that was not answered. */
const forgetRefused = () => (tab.complaints = tab.complaints.filter((text) => !/ERR_|Failed to load/.test(text)));

test("an edit outlives a restart, and is saved once", async () => {
  await tab.visit(`memory/${ids.deploy}`);
  await tab.button("Edit").click();
  const dialog = tab.page.getByRole("dialog");
  await dialog.getByLabel("Text").fill("The deploy of build 4099 was undone");
  await server.stop("SIGKILL");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.locator(".failure", { hasText: "does not answer" }).waitFor();
  await tab.page.locator(".banner").waitFor();
  assert.equal(await dialog.getByLabel("Text").inputValue(), "The deploy of build 4099 was undone");
  await server.resume();
  await tab.page.locator(".banner").waitFor({ state: "detached" });
  // The page was loaded anew beneath; the form keeps what was typed.
  assert.equal(await dialog.getByLabel("Text").inputValue(), "The deploy of build 4099 was undone");
  await dialog.getByRole("button", { name: "Save" }).click();
  await tab.page.locator(".receipt").waitFor();
  const memory = await server.call("GET", `/v1/memories/${ids.deploy}`);
  assert.deepEqual([memory.content, memory.version], ["The deploy of build 4099 was undone", 2]);
  forgetRefused();
});

test("what could not be loaded is loaded when the server is back, and the question is still there", async () => {
  await tab.visit("ask");
  await tab.page.getByLabel("Question").fill("peanuts");
  await server.stop();
  await tab.page.keyboard.press("Enter");
  await tab.page.locator(".failure").waitFor();
  await tab.visit("decide/weak");
  await tab.page.locator(".failure").waitFor();
  await server.resume();
  await tab.page.locator(".card", { hasText: "heron" }).waitFor();
  await tab.visit("ask");
  assert.equal(await tab.page.getByLabel("Question").inputValue(), "peanuts");
  await tab.page.getByLabel("Question").press("Enter");
  await tab.page.locator(".hit").first().waitFor();
  forgetRefused();
});

test("the stream of events goes on where it was", async () => {
  await tab.visit("run/events");
  await tab.page.locator(".tag", { hasText: "live" }).waitFor();
  await server.add("Ana hears the first bell");
  await tab.page.locator(".stream li", { hasText: "first bell" }).first().waitFor();
  await server.stop("SIGKILL");
  await tab.page.locator(".tag", { hasText: "trying again" }).waitFor();
  await server.resume();
  await server.add("Ana hears the second bell");
  await tab.page.locator(".stream li", { hasText: "second bell" }).first().waitFor();
  const adds = await tab.page.locator(".stream li", { hasText: /^.*add.*bell/s }).allInnerTexts();
  assert.equal(adds.length, 2, adds.join("\n"));
  forgetRefused();
});
