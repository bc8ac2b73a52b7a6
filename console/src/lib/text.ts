// Texts, times and numbers as people read them.

const DAY = 86_400_000;
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const numbers = new Intl.NumberFormat();

export const number = (value: number): string => numbers.format(value);
export const day = (time: string | number): string => dates.format(new Date(time));
export const instant = (time: string | number): string => times.format(new Date(time));
export const exact = (time: string | number): string => full.format(new Date(time));

/** A score between 0 and 1 with two digits. */
export const score = (value: number | undefined): string => (value === undefined ? "–" : value.toFixed(2));

/** How long ago, or until, an instant is. */
export function ago(time: string | number, now: number = Date.now()): string {
  const away = new Date(time).getTime() - now;
  const units: [Intl.RelativeTimeFormatUnit, number][] = [
    ["year", 365 * DAY],
    ["month", 30 * DAY],
    ["day", DAY],
    ["hour", DAY / 24],
    ["minute", 60_000],
  ];
  const [unit, length] = units.find(([, length]) => Math.abs(away) >= length) ?? ["second", 1_000];
  return relative.format(Math.round(away / length), unit);
}

/** Bytes with a unit. */
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = count > 0 ? Math.min(Math.floor(Math.log2(count) / 10), units.length - 1) : 0;
  const value = count / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}

/** A number with the noun that fits it. */
export const count = (value: number, one: string, many: string = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;

/** A name of the API as words: `soft_deleted` and `derivedFrom` become "soft deleted" and "derived from". */
export const words = (name: string): string =>
  name.replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`).replaceAll("_", " ");

/** The beginning of a text. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;

export interface Piece {
  text: string;
  mark: boolean;
}

const STOP = new Set(
  "a an and are as at be but by did do does for from had has have he her his how i in is it its me my of on or our she that the their them they this to was we were what when where which who whom whose why will with would you your".split(
    " ",
  ),
);

/** A word without the endings that English adds to it; close enough to mark it in a text. */
function stem(word: string): string {
  const plain = word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.length > 4 ? plain.replace(/(?:ing|edly|ed|es|s|ies|ly|ic)$/u, "") : plain;
}

/** Splits a text into pieces, those marked whose word is one of the question. */
export function highlight(text: string, question: string): Piece[] {
  const asked = new Set<string>();
  for (const [word] of question.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu)) {
    if (!STOP.has(word.toLowerCase())) asked.add(stem(word));
  }
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu)) {
    if (!asked.has(stem(match[0]))) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), mark: false });
    pieces.push({ text: match[0], mark: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), mark: false });
  return pieces;
}

export interface Change {
  text: string;
  kind: "same" | "added" | "removed";
}

/** What changed between two texts, word by word. Long texts are compared as wholes. */
export function diff(old: string, now: string): Change[] {
  const [before, after] = [old.split(/(\s+)/), now.split(/(\s+)/)];
  if (before.length * after.length > 1_000_000) {
    return [
      { text: old, kind: "removed" },
      { text: now, kind: "added" },
    ];
  }
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const here = row * width + column;
      common[here] =
        before[row] === after[column]
          ? common[here + width + 1]! + 1
          : Math.max(common[here + width]!, common[here + 1]!);
    }
  }
  const changes: Change[] = [];
  const add = (text: string, kind: Change["kind"]): void => {
    const last = changes.at(-1);
    if (last?.kind === kind) last.text += text;
    else changes.push({ text, kind });
  };
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const here = row * width + column;
    if (row < before.length && column < after.length && before[row] === after[column]) {
      add(before[row++]!, "same");
      column++;
    } else if (column >= after.length || (row < before.length && common[here + width]! >= common[here + 1]!)) {
      add(before[row++]!, "removed");
    } else {
      add(after[column++]!, "added");
    }
  }
  return changes;
}
