// Asking, and what is shown of the answer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { quit, Tab } from "./browser.js";
import { furnish, Server } from "./server.js";

let server;
let tab;

before(async () => {
  server = await Server.start();
  await furnish(server);
  tab = await Tab.open(server);
});
after(async () => {
  await tab?.close();
  await quit();
  await server?.close();
});

async function ask(question) {
  await tab.visit("ask");
  await tab.page.getByLabel("Question").fill(question);
  await tab.button("Ask", { exact: true }).click();
  await tab.page.locator(".verdict").waitFor();
  await tab.settle();
}

test("a result shows the words that matched, and a bar whose parts are its score", async () => {
  await ask("is Ana allergic to peanuts?");
  const hit = tab.page.locator(".hit").first();
  assert.match(await hit.innerText(), /Ana is allergic to peanuts/);
  assert.deepEqual(await hit.locator("mark").allInnerTexts(), ["Ana", "allergic", "peanuts"]);
  await hit.getByRole("button", { name: "Why" }).click();
  const score = Number((await hit.locator(".explanation h3").first().innerText()).match(/[\d.]+/)[0]);
  const terms = await hit.locator(".explanation section:first-child td.num").allInnerTexts();
  const sum = terms.reduce((total, term) => total + Number(term), 0);
  assert(Math.abs(sum - score) < 0.004, `${terms.join(" + ")} is ${sum}, not ${score}`);
  const [bar, width] = await hit.locator(".score-bar").evaluate((bar) => [
    [...bar.children].reduce((total, part) => total + part.getBoundingClientRect().width, 0),
    bar.getBoundingClientRect().width,
  ]);
  assert(Math.abs(bar / width - score) < 0.02, `the bar shows ${bar / width}, the score is ${score}`);
});

test("the prompt is beside the results, within its budget", async () => {
  await tab.page.getByLabel("prompt tokens").fill("30");
  await ask("the cluster and peanuts");
  assert.match(await tab.page.locator(".packed pre").innerText(), /peanuts|cluster/);
  const [, used, budget] = (await tab.page.locator(".budget").innerText()).match(/(\d+) of (\d+) tokens/);
  assert.equal(budget, "30");
  assert(Number(used) <= 30);
  await tab.page.locator(".packed").getByRole("button", { name: "Copy" }).click();
  assert.equal(await tab.page.evaluate(() => navigator.clipboard.readText()), await tab.page.locator(".packed pre").textContent());
  await tab.page.getByLabel("prompt tokens").fill("600");
});

test("nothing known is said as such", async () => {
  await ask("zxqv");
  assert.match(await tab.text(), /Nothing known answers this question/);
});

test("filters and the strategy are asked for", async () => {
  await tab.page.getByLabel("kinds").fill("preference");
  await tab.page.getByLabel("strategy").selectOption("recency");
  await ask("Ana");
  const kinds = await tab.page.locator(".hit .tag.kind").allInnerTexts();
  assert(kinds.length > 0 && kinds.every((kind) => kind === "preference"), kinds.join());
  await tab.page.getByLabel("kinds").fill("");
  await tab.page.getByLabel("strategy").selectOption("hybrid");
});

test("in the past nothing was known yet, and the future is asked as the future", async () => {
  await ask("where does Ana live, Porto or Lisbon?");
  assert((await tab.page.locator(".hit").count()) > 0);
  const slider = tab.page.getByRole("slider");
  const asked = tab.page.waitForResponse((response) => response.url().endsWith("/v1/recall"));
  await slider.fill("-60");
  await asked;
  await tab.settle();
  assert.match(await tab.text(), /Nothing known answers/);
  const again = tab.page.waitForRequest((request) => request.url().endsWith("/v1/recall"));
  await slider.fill("80");
  const body = (await again).postDataJSON();
  assert(new Date(body.now) > Date.now() + 300 * 86_400_000 && body.filter === undefined, JSON.stringify(body));
  await tab.button("today").click();
});

test("the answer is still there when one comes back from a memory", async () => {
  await ask("is Ana allergic to peanuts?");
  await tab.page.locator(".hit a").first().click();
  await tab.page.locator(".statement").waitFor();
  await tab.page.goBack();
  assert.match(await tab.page.locator(".hit").first().innerText(), /peanuts/);
  // Another scope must not see it.
  await tab.choose({ user: "bo" });
  assert.equal(await tab.page.locator(".hit").count(), 0);
});
