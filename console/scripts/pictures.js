// Makes the pictures in docs/console/: each page with the same small life, with the model of this machine.
import { execFileSync } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { quit, Tab } from "../tests/browser.js";
import { furnish, Server } from "../tests/server.js";

const folder = fileURLToPath(new URL("../../docs/console/", import.meta.url));
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });

const server = await Server.start({ model: true });
const ids = await furnish(server);
const identifiers = { userId: "ana" };
/** What else Ana said over the last two months. */
const LIFE = [
  [60, "Ana works at Meridian as a data engineer"],
  [58, "The billing service is written in Rust"],
  [51, "Ana runs on Tuesdays and Thursdays"],
  [44, "The staging cluster lives in Frankfurt"],
  [43, "Deploys of the billing service wait for Priya's review"],
  [37, "Ana is learning Portuguese"],
  [30, "The billing service depends on PostgreSQL 16"],
  [22, "Priya prefers short pull requests"],
  [15, "Ana bought a red bicycle"],
  [9, "The billing release is planned for March 12"],
  [6, "Rollback of billing takes two minutes"],
  [2, "Ana wants to visit Tokyo in spring"],
];
for (const [days, content] of LIFE) {
  const saidAt = new Date(Date.now() - days * 86_400_000).toISOString();
  await server.call("POST", "/v1/memories", { content, identifiers, saidAt });
}
await server.call("PATCH", `/v1/memories/${ids.deploy}`, { content: "The deploy of build 4022 failed with ERR-7731 on the staging cluster", importance: 0.8 });

/** Reduces a picture to 256 colours, where the tool for that is installed. */
function compress(path) {
  try {
    execFileSync("pngquant", ["--force", "--ext", ".png", "--skip-if-larger", path]);
  } catch {
    // The picture stays as it is.
  }
}

async function picture(tab, name) {
  await tab.settle();
  await tab.page.waitForTimeout(500);
  const path = `${folder}${name}.png`;
  await tab.page.screenshot({ path });
  compress(path);
}

async function ask(tab) {
  await tab.visit("ask");
  await tab.page.getByLabel("Question").fill("what food must Ana avoid?");
  await tab.page.keyboard.press("Enter");
  await tab.page.locator(".hit").first().waitFor();
  await tab.button("Why").first().click();
}

const tab = await Tab.open(server, { viewport: { width: 1200, height: 760 } });
const pages = { start: "", browse: "browse", timeline: "timeline", sessions: "sessions/monday", entities: "entities", graph: "graph", consents: "decide/consents", contradictions: "decide/contradictions", health: "run/health", maintenance: "run/maintenance", keys: "run/keys" };
await tab.visit("");
await tab.choose({ user: "ana" });
for (const [name, hash] of Object.entries(pages)) {
  await tab.visit(hash);
  if (name === "maintenance") await tab.button("next year").click();
  await picture(tab, name);
}
await ask(tab);
await picture(tab, "ask");
await tab.visit(`memory/${ids.seven}`);
await picture(tab, "memory");
await tab.visit(`memory/${ids.deploy}`);
await tab.page.getByRole("tab", { name: "History" }).click();
await picture(tab, "history");
await tab.close();

const dark = await Tab.open(server, { viewport: { width: 1200, height: 760 }, colorScheme: "dark" });
await ask(dark);
await picture(dark, "dark");
await dark.close();

const phone = await Tab.open(server, { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true });
await ask(phone);
await picture(phone, "phone");
await phone.close();

await quit();
await server.close();
