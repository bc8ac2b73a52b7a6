// Memory as tools of the Vercel AI SDK: the model decides when it remembers and when it recalls.
//
//   OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=… OPENAI_MODEL=… npm run tools -- "What do you know about me?"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Loci } from "@loci/client";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const { OPENAI_BASE_URL = "http://127.0.0.1:11434/v1", OPENAI_API_KEY = "none", OPENAI_MODEL = "llama3.2" } = process.env;

/** The tools of one user. The model sees the question and the answer, never the scope: it cannot ask for another user. */
export function memoryTools(loci: Loci) {
  return {
    remember: tool({
      description: "Store one fact about the user that will matter in later conversations, as a full sentence.",
      inputSchema: z.object({ content: z.string().describe("The fact, for example: Ana is allergic to peanuts") }),
      execute: async ({ content }, { abortSignal }) => {
        const { event, id } = await loci.remember(content, { signal: abortSignal });
        return { event, id };
      },
    }),
    recall: tool({
      description: "Find what is known about the user that matters for a question.",
      inputSchema: z.object({ query: z.string().describe("The question, in plain words") }),
      execute: async ({ query }, { abortSignal }) => {
        const { text, answered } = await loci.context(query, { budgetTokens: 500, signal: abortSignal });
        return { answered, memories: text };
      },
    }),
  };
}

const provider = createOpenAICompatible({ name: "model", baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY });
const { text } = await generateText({
  model: provider(OPENAI_MODEL),
  tools: memoryTools(new Loci({ userId: process.env["CHAT_USER"] ?? "me" })),
  stopWhen: stepCountIs(5),
  system: "Recall what you know before you answer. Remember what the user says about themselves.",
  prompt: process.argv[2] ?? "What do you know about me?",
});
console.log(text);
