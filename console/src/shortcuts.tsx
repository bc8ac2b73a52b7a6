// The keys of the console: `/` to ask, `g` and a letter to go to a page, `?` for help.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { PAGES } from "./pages";
import { go, route } from "./lib/route";
import { Dialog } from "./ui/basics";

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Moves the focus to the next or previous link of a list. */
function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>("main .memory-row a, main [data-row]")];
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  rows[Math.min(rows.length - 1, Math.max(0, at + by))]!.focus();
  return true;
}

/** Puts the focus into the question, as soon as its page is there. */
function focusQuestion(frames = 120): void {
  const question = document.querySelector<HTMLElement>("[data-question]");
  if (question) question.focus();
  else if (frames > 0) requestAnimationFrame(() => focusQuestion(frames - 1));
}

export function Shortcuts(): JSX.Element | null {
  const [help, setHelp] = useState(false);
  useEffect(() => {
    let waiting = 0;
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      const page = Date.now() < waiting ? PAGES.find((one) => one.shortcut === event.key) : undefined;
      waiting = 0;
      if (page) go(page.path);
      else if (event.key === "g") waiting = Date.now() + 1_500;
      else if (event.key === "/") {
        if (route.value.page !== "ask") go("ask");
        focusQuestion();
      } else if (event.key === "?") setHelp(true);
      else if (event.key === "s") document.querySelector<HTMLElement>("[data-scope]")?.click();
      else if (event.key === "j" || event.key === "k") {
        if (!step(event.key === "j" ? 1 : -1)) return;
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  if (!help) return null;
  const keys: [string, string][] = [
    ["/", "Ask a question"],
    ["j, k", "Next and previous row"],
    ["Enter", "Open the row"],
    ["s", "Choose whose memories are shown"],
    ["Escape", "Close a dialog"],
    ...PAGES.filter((one) => one.shortcut).map((one): [string, string] => [`g ${one.shortcut}`, one.title]),
  ];
  return (
    <Dialog title="Keys" close={() => setHelp(false)}>
      <dl class="facts">
        {keys.map(([name, what]) => (
          <div key={name}>
            <dt>
              <kbd>{name}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
