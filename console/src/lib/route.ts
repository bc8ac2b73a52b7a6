// The page that is shown, kept after the `#` of the address: `#/memory/ID?tab=history`. No text, key or name is put there.
import { Shared } from "./state";

export interface Route {
  page: string;
  rest: string[];
  query: URLSearchParams;
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/").map(decode);
  return { page, rest, query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Shared<Route>(read());
addEventListener("hashchange", () => {
  route.value = read();
  scrollTo(0, 0);
});

export const link = (...parts: string[]): string => `#/${parts.map(encodeURIComponent).join("/")}`;

export function go(...parts: string[]): void {
  location.hash = link(...parts);
}
