// How the score of a result is made up. The terms add up to the score exactly; the formula is that of docs/concepts.md.
import type { Schemas } from "./api";

export interface Term {
  name: string;
  value: number;
  why: string;
}

/** The terms of the score, with what each means. */
export function termsOf(of: Schemas["Explanation"]): Term[] {
  const { weights, closeness } = of;
  const relevance = weights.similarity * of.relevance;
  const recency = closeness * weights.recency * of.recency;
  const utility = closeness * weights.utility * of.utility;
  const rest = (1 - (relevance + recency + utility)) * closeness;
  return [
    { name: "relevance", value: relevance, why: "how well the text answers the question" },
    { name: "recency", value: recency, why: "how new it is" },
    { name: "utility", value: utility, why: "how important and how often used it is" },
    { name: "layer", value: rest * of.layer, why: "how specific its layer is" },
    { name: "relation", value: rest * of.relation, why: "a link to another result" },
  ];
}
