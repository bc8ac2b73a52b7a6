// Light, dark, or as the system has it. The choice is kept in this browser; it says nothing about anyone.
import { Shared } from "../lib/state";

type Theme = "system" | "light" | "dark";
const KEY = "loci.theme";
const ORDER: Theme[] = ["system", "light", "dark"];

const kept = localStorage.getItem(KEY) as Theme | null;
export const theme = new Shared<Theme>(kept && ORDER.includes(kept) ? kept : "system");

function apply(): void {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
}

theme.subscribe(() => {
  localStorage.setItem(KEY, theme.value);
  apply();
});
apply();

export function toggleTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length]!;
}

/** Calls back when the colours of the page change, so that drawings follow. */
export function onColours(changed: () => void): () => void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", changed);
  const unsubscribe = theme.subscribe(changed);
  return () => {
    media.removeEventListener("change", changed);
    unsubscribe();
  };
}

/** A colour of the style sheet. */
export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
