// Facts as subject, predicate and object.

import type { Pages } from "./pages.js";
import { type Scope, segment } from "./scope.js";
import type { CallOptions, Fact, FactListOptions, FactWrite, ForgetOptions, NewFact, WriteOptions } from "./types.js";

/** The facts of a scope: `loci.facts`. */
export class Facts {
  readonly #scope: Scope;

  /** @internal */
  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** States a fact. One that is known already stays one: the greater confidence is kept, metadata and sources are added. */
  state(fact: NewFact, options: WriteOptions = {}): Promise<FactWrite> {
    return this.#scope.write<FactWrite>("POST", "/v1/facts", options, fact);
  }

  /** Lists facts, for example of one `subject`. */
  list(options: FactListOptions = {}): Pages<Fact> {
    return this.#scope.pages<Fact>("/v1/facts", options);
  }

  /** Reads a fact. */
  get(id: string, options: CallOptions = {}): Promise<Fact> {
    return this.#scope.get<Fact>(`/v1/facts/${segment("id", id)}`, options);
  }

  /** Retracts a fact: it holds no longer. */
  retract(id: string, options: Omit<ForgetOptions, "version"> = {}): Promise<void> {
    return this.#scope.delete(`/v1/facts/${segment("id", id)}`, options);
  }
}
