// Runs examples/typescript with a scripted model, over real HTTP, on a real server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Loci } from "@loci/client";

import { answer, Scripted, type Step } from "./scripted.js";
import { ROOT, run, Server } from "./server.js";

const EXAMPLES = join(ROOT, "examples/typescript");

let server: Server;

before(async () => {
  server = await Server.start();
  await run(process.execPath, ["node_modules/typescript/bin/tsc"], { cwd: EXAMPLES });
});
after(() => server.remove());

interface Message {
  role: string;
  content: string;
}

/** An answer of the model. */
function says(message: object, reason = "stop"): Step {
  const choices = [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: reason }];
  return answer({ id: "1", object: "chat.completion", created: 1, model: "scripted", choices });
}

/** The model calls a tool. */
function calls(name: string, args: object): Step {
  const call = { id: `call-${name}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return says({ tool_calls: [call] }, "tool_calls");
}

/** Runs an example for a user, who types `input`, and returns what it prints. */
async function example(file: string, model: Scripted, user: string, input: string, ...args: string[]): Promise<string> {
  const env = { ...server.environment, LOCI_SERVER: server.url, OPENAI_BASE_URL: `${model.url}/v1`, CHAT_USER: user };
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [join("build", file), ...args], { cwd: EXAMPLES, env }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
    child.stdin?.end(input);
  });
}

test("the chat agent remembers in one conversation what was said in another", async () => {
  const model = await Scripted.start(says({ content: "Nice to meet her." }), says({ content: "I see." }), says({ content: "Bea." }));
  try {
    const first = await example("chat.js", model, "ana", "My sister Bea plays the cello\nShe is 31 years old\n");
    assert.equal(first, "Nice to meet her.\nI see.\n");
    const loci = new Loci({ url: server.url, userId: "ana" });
    const sessions = await loci.request<{ data: { sessionId: string; endedAt: string | null }[] }>("GET", "/v1/sessions", {
      query: { userId: "ana" },
    });
    assert.equal(sessions.data.length, 1);
    assert.notEqual(sessions.data[0]?.endedAt, null);
    assert.equal((await loci.session(sessions.data[0]?.sessionId ?? "")).endedAt, sessions.data[0]?.endedAt);

    assert.equal(await example("chat.js", model, "ana", "Who plays the cello?\n"), "Bea.\n");
    const prompts = model.seen.map(({ body }) => (JSON.parse(body) as { messages: Message[] }).messages);
    assert.match(prompts[0]?.[0]?.content ?? "", /nothing yet$/);
    assert.deepEqual(prompts[1]?.slice(1).map(({ role }) => role), ["user", "assistant", "user"]);
    assert.match(prompts[2]?.[0]?.content ?? "", /sister Bea plays the cello/);
    assert.equal(prompts[2]?.length, 2);
  } finally {
    await model.stop();
  }
});

test("the tools of the AI SDK store and find, for their user only", async () => {
  const model = await Scripted.start(
    calls("remember", { content: "The user is allergic to peanuts" }),
    calls("recall", { query: "what is the user allergic to?" }),
    says({ content: "No peanuts." }),
  );
  try {
    const printed = await example("ai-sdk.js", model, "bo", "", "I am allergic to peanuts. What may I eat?");
    assert.equal(printed, "No peanuts.\n");
    const requests = model.seen.map(({ body }) => JSON.parse(body) as { messages: Message[]; tools: { function: { name: string } }[] });
    assert.deepEqual(requests[0]?.tools.map((one) => one.function.name), ["remember", "recall"]);
    const results = requests[2]?.messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.parse(content) as object);
    const [stored, found] = results as [{ event: string; id: string }, { answered: string; memories: string }];
    assert.equal(stored.event, "ADD");
    assert.match(found.memories, /The user is allergic to peanuts/);
    const memories = await new Loci({ url: server.url, userId: "bo" }).list().toArray();
    assert.deepEqual(memories.map(({ id }) => id), [stored.id]);
    assert.deepEqual(await new Loci({ url: server.url, userId: "cy" }).list().toArray(), []);
  } finally {
    await model.stop();
  }
});
