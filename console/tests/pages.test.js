// Every page, in light and dark, wide and on a phone: it shows what it should, fits, and axe finds nothing serious.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { quit, Tab } from "./browser.js";
import { furnish, Server } from "./server.js";

let server;
let ids;

before(async () => {
  server = await Server.start();
  ids = await furnish(server);
});
after(async () => {
  await quit();
  await server?.close();
});

/** The pages, and a text that is on each. */
const pages = () => [
  ["", "Remember something"],
  ["ask", "Ask in plain words"],
  ["browse", "Ana is allergic to peanuts"],
  ["timeline", "Ana lives in Porto"],
  ["sessions/monday", "PostgreSQL for billing"],
  ["entities", "Porto"],
  ["graph", "memories"],
  [`graph/${ids.seven}`, "The cluster has 7 nodes"],
  ["decide/consents", "My name is Ana"],
  ["decide/contradictions", "Two statements"],
  ["decide/weak", "heron"],
  [`memory/${ids.seven}`, "The cluster has 7 nodes"],
  ["run/health", "sqlite"],
  ["run/events", "Changes appear here"],
  ["run/jobs", "Run waiting jobs now"],
  ["run/maintenance", "What would be done today?"],
  ["run/keys", "Make a key"],
  ["run/agents", "Register"],
  ["run/pools", "A pool is a memory"],
  ["run/carry", "Erase a user"],
];

const LOOKS = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

for (const [look, options] of Object.entries(LOOKS)) {
  test(`every page: ${look}`, async () => {
    const tab = await Tab.open(server, options);
    for (const [hash, expected] of pages()) {
      await tab.visit(hash);
      const text = await tab.text();
      assert(text.includes(expected), `#/${hash} does not show “${expected}”:\n${text}`);
      const wide = await tab.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert(wide <= 0, `#/${hash} is ${wide} pixels too wide`);
      assert.deepEqual(await tab.findings(), [], `#/${hash}`);
    }
    // An answer with its explanation, a dialog, and the parts of a memory.
    await tab.visit("ask");
    await tab.page.getByLabel("Question").fill("what food must Ana avoid, peanuts?");
    await tab.page.keyboard.press("Enter");
    await tab.page.locator(".hit").first().waitFor();
    await tab.button("Why").first().click();
    assert.deepEqual(await tab.findings(), [], "an answer");
    await tab.visit(`memory/${ids.peanuts}`);
    for (const part of ["About", "History", "Versions", "Sources", "Links", "All fields"]) {
      await tab.page.getByRole("tab", { name: part }).click();
      await tab.settle();
      assert.deepEqual(await tab.findings(), [], part);
    }
    await tab.button("Edit").click();
    assert.deepEqual(await tab.findings(), [], "a dialog");
    await tab.close();
  });
}

test("the page of another version, an unknown memory and an unknown page say what is wrong", async () => {
  const tab = await Tab.open(server);
  await tab.visit("nothing-of-that-name");
  assert.match(await tab.text(), /Remember something/);
  await tab.visit("memory/01a1f5fc-0000-7000-8000-000000000000");
  assert.match(await tab.text(), /not found|no memory|unknown|NOT_FOUND/i);
  // The browser itself notes that an answer was a 404.
  tab.complaints = tab.complaints.filter((text) => !text.includes("404"));
  await tab.close();
});

test("the whole console is small", async () => {
  const tab = await Tab.open(server);
  for (const hash of ["timeline", "sessions", "entities", "graph", "run", `memory/${ids.peanuts}`]) await tab.visit(hash);
  await tab.page.waitForTimeout(300);
  const names = new Set(tab.answers.map((answer) => new URL(answer.url).pathname).filter((path) => path.startsWith("/console/")));
  assert(names.size >= 9, [...names].join(" "));
  await tab.close();
});
