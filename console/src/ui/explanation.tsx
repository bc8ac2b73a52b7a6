// Why a result was found: the terms of its score as a stacked bar, and behind them the clues.
import type { JSX } from "preact";

import type { Schemas } from "../lib/api";
import { link } from "../lib/route";
import { termsOf } from "../lib/score";
import { cut, words } from "../lib/text";
import { Facts, Marked } from "./basics";

/** What each clue measures, for people who do not know the names. */
const CLUES: Record<string, string> = {
  meaning: "the text means something similar",
  tokens: "single words mean something similar",
  words: "the same words",
  lasting: "a lasting statement, not a passing turn",
};

export function ScoreBar({ explain, score }: { explain: Schemas["Explanation"]; score: number }): JSX.Element {
  const terms = termsOf(explain).filter((term) => term.value >= 0.0005);
  const text = terms.map((term) => `${term.name} ${term.value.toFixed(3)}`).join(", ");
  return (
    <span class="score">
      <span class="score-bar" role="img" aria-label={`Score ${score.toFixed(3)}: ${text}`} title={text}>
        {terms.map((term) => (
          <span key={term.name} class={`term-${term.name}`} style={{ width: `${term.value * 100}%` }} />
        ))}
      </span>
      <b>{score.toFixed(2)}</b>
    </span>
  );
}

export function ExplanationView({ explain, score, question }: {
  explain: Schemas["Explanation"];
  score: number;
  question: string;
}): JSX.Element {
  const greatest = Math.max(...explain.clues.map((clue) => Math.abs(clue.weight * clue.value)), 1e-9);
  return (
    <div class="explanation">
      <section>
        <h3>Score {score.toFixed(3)} =</h3>
        <table class="terms">
          <tbody>
            {termsOf(explain).map((term) => (
              <tr key={term.name}>
                <th scope="row">
                  <span class={`key term-${term.name}`} aria-hidden="true" /> {term.name}
                </th>
                <td class="num">{term.value.toFixed(3)}</td>
                <td class="quiet">{term.why}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section>
        <h3>Clues</h3>
        <table class="terms">
          <tbody>
            {explain.clues.map((clue) => (
              <tr key={clue.clue}>
                <th scope="row" title={CLUES[clue.clue]}>{words(clue.clue)}</th>
                <td class="num">{(clue.weight * clue.value).toFixed(2)}</td>
                <td>
                  <span class="clue-bar" aria-hidden="true">
                    <span
                      class={clue.weight * clue.value < 0 ? "less" : undefined}
                      style={{ width: `${(Math.abs(clue.weight * clue.value) / greatest) * 100}%` }}
                    />
                  </span>
                </td>
                <td class="quiet">{`${clue.weight} × ${clue.value.toFixed(2)}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <Facts
          of={[
            ["found by", explain.lanes.map((lane) => `${lane.lane} (rank ${lane.rank})`).join(", ") || "a link from another result"],
            ...(explain.similarity === undefined ? [] : [["similarity", explain.similarity.toFixed(3)] as [string, string]]),
            ...(explain.reranked === undefined ? [] : [["reranker", explain.reranked.toFixed(3)] as [string, string]]),
            ["evidence", `${explain.evidence.toFixed(2)} of ${explain.best.toFixed(2)} for the best`],
            ["certainty", `${Math.round(explain.confidence * 100)} % that the question is answered at all`],
          ]}
        />
      </section>
      {explain.passage && (
        <section class="wide">
          <h3>Passage that was found</h3>
          <blockquote>
            <Marked text={explain.passage} question={question} />
          </blockquote>
        </section>
      )}
      {explain.related && explain.related.length > 0 && (
        <section class="wide">
          <h3>Linked to</h3>
          <ul class="plain-list">
            {explain.related.map((other) => (
              <li key={`${other.id} ${other.relation}`}>
                <span class="quiet">{words(other.relation)}</span> <a href={link("memory", other.id)}>{cut(other.content, 120)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
