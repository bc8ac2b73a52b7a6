// Texts that try to be scripts are shown as texts, wherever a caller may store one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { quit, Tab } from "./browser.js";
import { Server } from "./server.js";

const EVIL = [
  `<img src=x onerror="window.hurt=1">`,
  `<script>window.hurt=1</script>`,
  `"><svg onload="window.hurt=1">`,
  `javascript:window.hurt=1`,
  "{{constructor.constructor('window.hurt=1')()}}",
];
const [IMAGE, SCRIPT, VECTOR] = EVIL;

let server;
let tab;
const ids = [];

before(async () => {
  server = await Server.start();
  const identifiers = { userId: `${IMAGE}` };
  const memory = {
    tags: EVIL,
    category: SCRIPT,
    metadata: { [IMAGE]: SCRIPT, title: VECTOR },
    source: { type: SCRIPT, role: IMAGE, reference: VECTOR },
    actorId: IMAGE,
    threadId: SCRIPT,
    runId: VECTOR,
    role: "user",
    confidence: 0.2,
  };
  for (const text of EVIL) ids.push(await server.add(`Ana said ${text}`, { ...memory, asIs: true }, identifiers.userId));
  ids.push(await server.add("The cluster has 5 nodes", {}, identifiers.userId));
  ids.push(await server.add("The cluster has 7 nodes <b>now</b>", {}, identifiers.userId));
  await server.call("PATCH", `/v1/memories/${ids[0]}`, { content: `Ana wrote ${SCRIPT} and ${IMAGE}` });
  await server.call("POST", `/v1/sessions/${encodeURIComponent(SCRIPT)}/turns`, {
    identifiers,
    turns: [
      { role: "user", actorId: IMAGE, threadId: VECTOR, content: `My name is ${IMAGE}. We decided to use ${SCRIPT} for billing.` },
      { role: "assistant", actorId: SCRIPT, threadId: VECTOR, content: VECTOR },
    ],
  });
  await server.call("POST", `/v1/sessions/${encodeURIComponent(SCRIPT)}/learn`, { identifiers, again: true, wait: true });
  await server.call("POST", "/v1/facts", { identifiers, factType: SCRIPT, subject: IMAGE, predicate: VECTOR, object: SCRIPT, confidence: 0.9 });
  await server.call("POST", "/v1/pools", { poolId: "pool", name: IMAGE, agentIds: ["agent"] });
  await server.call("DELETE", `/v1/memories/${ids[1]}?userId=${encodeURIComponent(IMAGE)}&reason=${encodeURIComponent(SCRIPT)}`);
  tab = await Tab.open(server);
  tab.page.on("dialog", (dialog) => {
    tab.complaints.push(`a dialog of a script: ${dialog.message()}`);
    void dialog.dismiss();
  });
});
after(async () => {
  await tab?.close();
  await quit();
  await server?.close();
});

async function unhurt(where) {
  const found = await tab.page.evaluate(() => ({
    hurt: window.hurt,
    images: document.querySelectorAll("main img, main script, main svg:not(.u-hz), main [onerror], main [onload], main a[href^='javascript']").length,
  }));
  assert.deepEqual(found, { hurt: undefined, images: 0 }, where);
}

test("on every page", async () => {
  const pages = ["", "browse", "timeline", "sessions", `sessions/${encodeURIComponent(SCRIPT)}`, "entities", "graph", "decide/consents", "decide/contradictions", "decide/weak", "run/health", "run/jobs", "run/agents", "run/pools", "run/carry"];
  let seen = "";
  for (const page of pages) {
    await tab.visit(page);
    await unhurt(page);
    seen += await tab.text();
  }
  for (const text of EVIL.slice(0, 4)) assert(seen.includes(text), `${text} was shown nowhere as a text`);
});

test("on the page of each memory, with its history, versions and sources", async () => {
  for (const id of ids) {
    await tab.visit(`memory/${id}`);
    for (const part of ["About", "History", "Versions", "Sources", "Links", "All fields"]) {
      await tab.page.getByRole("tab", { name: part }).click();
      await tab.settle();
      await unhurt(`${id} ${part}`);
    }
  }
  await tab.visit(`memory/${ids[0]}`);
  assert.equal(await tab.page.locator(".statement").innerText(), `Ana wrote ${SCRIPT} and ${IMAGE}`);
  await tab.page.getByRole("tab", { name: "History" }).click();
  assert((await tab.page.locator(".history").innerText()).includes(SCRIPT));
  await tab.button("Edit").click();
  assert.equal(await tab.page.getByLabel("Text").inputValue(), `Ana wrote ${SCRIPT} and ${IMAGE}`);
  await unhurt("a dialog");
  await tab.page.keyboard.press("Escape");
});

test("in questions, answers, prompts, receipts, notes and previews", async () => {
  await tab.visit("ask");
  await tab.page.getByLabel("Question").fill(`${IMAGE} what did Ana write ${SCRIPT}?`);
  await tab.page.keyboard.press("Enter");
  await tab.page.locator(".hit").first().waitFor();
  await tab.button("Why").first().click();
  await unhurt("an answer");
  await tab.choose({ user: IMAGE });
  await unhurt("the scope");
  assert((await tab.page.locator("[data-scope]").innerText()).includes(IMAGE));
  await tab.visit("browse");
  await tab.button("Change all").click();
  await tab.page.getByLabel("reason").fill(SCRIPT);
  await tab.button("Dry run").click();
  await tab.page.locator(".plan li").first().waitFor();
  await unhurt("a preview");
  await tab.page.keyboard.press("Escape");
  await tab.visit("run/maintenance");
  await tab.button("in five years").click();
  await tab.page.locator("details").first().waitFor();
  await unhurt("maintenance");
  await tab.visit("run/events");
  await tab.page.locator(".tag", { hasText: "live" }).waitFor();
  await server.call("PATCH", `/v1/memories/${ids[2]}`, { content: `Ana shouted ${IMAGE}` });
  await tab.page.locator(".stream li").first().waitFor();
  await unhurt("events");
});

test("an address that tries to be a script is a page that does not exist", async () => {
  for (const hash of [SCRIPT, `memory/${IMAGE}`, `sessions/${VECTOR}`, "memory/%", "run/javascript:alert(1)"]) {
    await tab.visit(hash);
    await unhurt(hash);
  }
  tab.complaints = tab.complaints.filter((text) => !/status of 40[04]/.test(text));
});
