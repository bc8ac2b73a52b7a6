// A browser for tests. It notes what the page says, asks for and is answered.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

import { chromium } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const BROWSER = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
/** A build to test in place of the embedded one. The policy is that of the server, whose page is asked for it. */
const DIST = process.env.CONSOLE_DIST;
const TYPES = { js: "text/javascript", css: "text/css", svg: "image/svg+xml", html: "text/html; charset=utf-8" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

let browser;

/** Starts the browser once for a file of tests. */
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: BROWSER,
    // Tests run as any user, in containers too, and see their own server only.
    args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
  });
  return browser;
}

export async function quit() {
  await browser?.close();
  browser = undefined;
}

async function serveBuild(context) {
  await context.route(/\/console(\/[^?#]*)?([?#]|$)/, async (route) => {
    const name = new URL(route.request().url()).pathname.replace(/^\/console\/?/, "") || "index.html";
    const body = await readFile(join(DIST, name)).catch(() => undefined);
    if (!body) return route.fulfill({ status: 404 });
    return route.fulfill({ body, headers: { "content-type": TYPES[name.split(".").pop()], "content-security-policy": POLICY } });
  });
}

/** A window with a user of its own, which remembers what happened in it. */
export class Tab {
  /** Errors and warnings of the browser, and uncaught exceptions. */
  complaints = [];
  /** Every answer: `{ url, status, body }`. */
  answers = [];

  static async open(server, options = {}) {
    const context = await (await launch()).newContext({ viewport: { width: 1280, height: 860 }, acceptDownloads: true, reducedMotion: "reduce", ...options });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    if (DIST) await serveBuild(context);
    const tab = new Tab();
    tab.server = server;
    tab.context = context;
    tab.page = await context.newPage();
    tab.page.setDefaultTimeout(20_000);
    tab.page.on("console", (message) => {
      const text = message.text();
      // The drawing of a graph is emulated where there is no graphics card, and the browser says so.
      if (["error", "warning"].includes(message.type()) && !text.includes("GL Driver Message")) tab.complaints.push(text);
    });
    tab.page.on("pageerror", (error) => tab.complaints.push(String(error.stack)));
    tab.page.on("response", (response) => {
      const url = response.url();
      if (url.includes("/v1/events")) return;
      const noted = { url, status: response.status(), request: response.request(), body: "" };
      tab.answers.push(noted);
      noted.read = response.text().then(
        (body) => (noted.body = body),
        () => {},
      );
    });
    return tab;
  }

  /** Goes to a page of the console and waits until it is loaded. */
  async visit(hash = "") {
    const address = `${this.server.url}/console#/${hash}`;
    if (this.page.url().startsWith(`${this.server.url}/console`)) {
      await this.page.evaluate((to) => (location.hash = to), `#/${hash}`);
    } else {
      await this.page.goto(address);
    }
    await this.settle();
  }

  /** Waits until nothing is being loaded. */
  async settle() {
    await this.page.waitForSelector("main");
    await this.page.waitForTimeout(60);
    await this.page.waitForFunction(() => document.querySelector(".loading, .reloading, [aria-busy=true]") === null);
  }

  /** Whose memories are shown, chosen as a person does. */
  async choose(names) {
    await this.page.click("[data-scope]");
    for (const [label, name] of Object.entries(names)) await this.page.getByLabel(label, { exact: true }).fill(name);
    await this.page.getByRole("button", { name: "Show" }).click();
    await this.settle();
  }

  async signIn(key) {
    await this.page.goto(`${this.server.url}/console`);
    await this.page.getByLabel("Key").fill(key);
    await this.page.keyboard.press("Enter");
    await this.settle();
  }

  button(name, options = {}) {
    return this.page.getByRole("button", { name, ...options });
  }

  text() {
    return this.page.locator("main").innerText();
  }

  /** Serious and critical findings of axe. */
  async findings() {
    const session = await this.context.newCDPSession(this.page);
    // The policy lets no script in but those of the server; the debugger may.
    await session.send("Runtime.evaluate", { expression: await readFile(AXE, "utf8") });
    const { result } = await session.send("Runtime.evaluate", {
      expression: `axe.run(document, { resultTypes: ["violations"] }).then((found) => JSON.stringify(found.violations
        .filter((one) => ["serious", "critical"].includes(one.impact))
        .map((one) => one.id + ": " + one.nodes.map((node) => node.target + " " + node.failureSummary).slice(0, 3).join(" | "))))`,
      awaitPromise: true,
      returnByValue: true,
    });
    await session.detach();
    return JSON.parse(result.value);
  }

  /** Waits for the bodies of the answers. That of a server which was ended in the middle never comes. */
  async read() {
    const late = new Promise((done) => setTimeout(done, 3_000));
    await Promise.race([Promise.all(this.answers.map((answer) => answer.read)), late]);
  }

  /** Nothing was complained of, and nothing but the server was asked. */
  async close() {
    await this.read();
    for (const { url } of this.answers) assert(url.startsWith(this.server.url) || url.startsWith("blob:"), `the page asked ${url}`);
    await this.context.close();
    assert.deepEqual(this.complaints, []);
  }
}
