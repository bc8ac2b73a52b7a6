// Reads the lines of an answer as they arrive.

/** Calls back with each line until it returns false or the answer ends. */
export async function eachLine(response: Response, take: (line: string) => boolean | void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop()!;
      for (const line of lines) if (take(line) === false) return;
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
