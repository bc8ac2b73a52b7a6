// Reading memories that are named by their ids.
import { get, type Memory, type Page, pathPart, scopeQuery } from "./api";
import { notice } from "./session";

/** Every state that a memory of a list may have. */
const STATES = ["active", "decayed", "archived", "proposed"];

/** The memories with these ids, as far as the caller may see them, in the same order. */
export async function memoriesOf(ids: string[], signal?: AbortSignal): Promise<Memory[]> {
  const found = new Map<string, Memory>();
  // An address has an end; 50 ids are 1,900 characters.
  for (let at = 0; at < ids.length; at += 50) {
    const query = { ...scopeQuery(), id: ids.slice(at, at + 50), state: STATES, superseded: true, limit: 50 };
    const page = await get<Page<Memory>>("/v1/memories", query, signal);
    for (const memory of page.data) {
      notice(memory.identifiers);
      found.set(memory.id, memory);
    }
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** One memory, in any state. */
export const memoryOf = (id: string, signal?: AbortSignal): Promise<Memory> =>
  get<Memory>(`/v1/memories/${pathPart(id)}`, scopeQuery(), signal);
