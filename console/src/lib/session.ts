// Who is signed in, and whose memories are shown. Kept in the session storage of this tab and forgotten with it.
import type { components } from "../../../typescript/src/schema";
import { Shared } from "./state";

export type Identity = components["schemas"]["WhoAmI"];

/** The sorts of identifiers, in the order in which they are offered. */
export const SORTS = [
  ["userId", "user", "users"],
  ["agentId", "agent", "agents"],
  ["projectId", "project", "projects"],
  ["sessionId", "session", "sessions"],
  ["teamId", "team", "teams"],
  ["orgId", "organisation", "orgs"],
  ["companyId", "company", "companies"],
  ["poolId", "pool", "pools"],
] as const;

export type Sort = (typeof SORTS)[number][0];
export type Identifiers = Partial<Record<Sort, string>>;

export interface Scope {
  everyone: boolean;
  identifiers: Identifiers;
}

const KEY = "loci.key";
const SCOPE = "loci.scope";
const NOBODY: Scope = { everyone: false, identifiers: {} };

function readScope(): Scope {
  try {
    return { ...NOBODY, ...(JSON.parse(sessionStorage.getItem(SCOPE) ?? "{}") as Partial<Scope>) };
  } catch {
    return NOBODY;
  }
}

/** The key, or nothing on a server that asks for none. */
export const key = new Shared(sessionStorage.getItem(KEY) ?? "");
/** What the credential may do. Absent until someone is signed in. */
export const identity = new Shared<Identity | undefined>(undefined);
export const scope = new Shared<Scope>(readScope());

key.subscribe(() => {
  if (key.value === "") sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key.value);
});
scope.subscribe(() => sessionStorage.setItem(SCOPE, JSON.stringify(scope.value)));

/** Names that were seen in answers, by sort, for suggestions. */
const seen = new Map<string, Set<string>>();

/** Remembers the names in an answer. */
export function notice(identifiers: object | undefined): void {
  for (const [sort, name] of Object.entries(identifiers ?? {})) {
    if (typeof name !== "string") continue;
    const names = seen.get(sort) ?? new Set<string>();
    if (names.size < 200) names.add(name);
    seen.set(sort, names);
  }
}

/** The names that may be chosen of one sort: those of the credential, or those that were seen. */
export function suggestions(sort: Sort): string[] {
  const bound = boundsOf(sort);
  const names = bound.length > 0 && !bound.includes("*") ? bound : [...(seen.get(sort) ?? [])];
  return [...names].sort((one, other) => one.localeCompare(other));
}

/** The names that the credential is bound to. */
export function boundsOf(sort: Sort): string[] {
  const field = SORTS.find(([name]) => name === sort)?.[2];
  const bounds = (identity.value?.bounds ?? {}) as Record<string, string[] | undefined>;
  return (field && bounds[field]) || [];
}

/** Whether the credential is bound to anything. */
export const isBound = (): boolean => SORTS.some(([sort]) => boundsOf(sort).length > 0);

/** Whether the scope names someone. */
export const isChosen = (of: Scope): boolean => of.everyone || Object.keys(of.identifiers).length > 0;

/** The scope as a line of text. */
export function scopeText(of: Scope): string {
  if (of.everyone) return "everyone";
  const parts = SORTS.flatMap(([sort, label]) => (of.identifiers[sort] ? [`${label} ${of.identifiers[sort]}`] : []));
  return parts.length > 0 ? parts.join(", ") : "nobody chosen";
}

/** The scope that a credential begins with: the last one if it still fits, else what it is bound to, else everyone. */
export function firstScope(who: Identity): Scope {
  const last = scope.value;
  const fits = Object.entries(last.identifiers).every(([sort, name]) => {
    const bound = boundsOf(sort as Sort);
    return !isBound() || bound.includes("*") || bound.includes(name);
  });
  if (isChosen(last) && fits && (!last.everyone || mayEveryone(who))) return last;
  if (mayEveryone(who)) return { everyone: true, identifiers: {} };
  const identifiers: Identifiers = {};
  for (const [sort] of SORTS) {
    const [name, ...others] = boundsOf(sort).filter((bound) => bound !== "*");
    if (name !== undefined && others.length === 0) identifiers[sort] = name;
  }
  return { everyone: false, identifiers };
}

/** Whether the credential may read everyone's memories. */
export const mayEveryone = (who: Identity): boolean => who.role === "admin";

const RANK = { reader: 0, writer: 1, admin: 2 };

/** Whether the credential has at least this role. */
export const may = (role: keyof typeof RANK): boolean => RANK[identity.value?.role ?? "reader"] >= RANK[role];
/** Whether the credential has this right; an admin has all. */
export const mayRight = (right: "consent" | "erase" | "hard_delete"): boolean =>
  may("admin") || (identity.value?.rights ?? []).includes(right);

/** Forgets the credential and everything that it showed: the page begins anew. */
export function signOut(): void {
  key.value = "";
  scope.value = NOBODY;
  location.reload();
}
