//! Asks a language model to rewrite a turn as statements.
//!
//! Rules choose the turns. The model receives one turn with the one before it, and writes at most three statements;
//! kind, dates, names and sources are added by code. A statement is refused if it breaks the writing rules or has a
//! content word that neither turn has; refused statements are sent back once with the reasons. If none is left, the
//! quotation is kept.

use std::collections::HashSet;

use loci_models::ChatQuestion;
use loci_types::Class;
use serde_json::{Value, json};

use super::fence::{fence, quote};
use super::prompt::Purpose;
use super::{LlmClient, TokenUsage, items, object, question};
use crate::learn::extract::sensitive::claimed;
use crate::learn::extract::{ExtractionContext, LearningCandidate, Speaker, SpeakerIdentity, Utterance, claims_of};
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{form, language_of};
use crate::learn::writing_rules;
use crate::{Result, normalise};

/// Maximum number of statements of a turn.
const MAX_STATEMENTS: usize = 3;
/// Maximum number of tokens of an answer.
const MAX_ANSWER_TOKENS: u32 = 400;

/// What became of turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RewriteResult {
    /// Statements in place of the quotations that were given.
    pub candidates: Vec<LearningCandidate>,
    /// Why statements were refused in the end.
    pub refused: Vec<&'static str>,
    /// How many of the turns were read: all, unless the tokens ran out.
    pub read: usize,
}

impl LlmClient {
    /// Puts quotations into statements, turn by turn. What someone asked to be remembered stays as they said it.
    pub async fn rewrite_all(
        &self,
        turns: &[Utterance<'_>],
        quotations: Vec<LearningCandidate>,
        surroundings: &ExtractionContext,
    ) -> Result<(RewriteResult, TokenUsage)> {
        let mut done = RewriteResult { read: turns.len(), ..RewriteResult::default() };
        let mut spent = TokenUsage::default();
        for (place, turn) in turns.iter().enumerate() {
            let (requested, stated): (Vec<LearningCandidate>, Vec<LearningCandidate>) = quotations
                .iter()
                .filter(|one| one.from.first() == Some(&turn.id))
                .cloned()
                .partition(|one| one.requested);
            done.candidates.extend(requested);
            let Some(first) = stated.first() else { continue };
            let before = turns[..place].iter().rev().find(|other| other.speaker != Speaker::Tool);
            let asked = asked(turn, before, &[]);
            // The first one is always asked for, so that a budget that is too small says so.
            if spent.tokens > 0 && !self.affords(&asked) {
                done.read = place;
                return Ok((done, spent));
            }
            let voice = SpeakerIdentity::of(turn.speaker.name(), surroundings.owner.as_deref());
            let (facts, refused) = self.rewrite(turn, before, &asked, &mut spent).await?;
            done.refused.extend(refused);
            if facts.is_empty() {
                done.candidates.extend(stated);
                continue;
            }
            for fact in facts {
                let claims = claims_of(&fact, &voice);
                let (pattern, quoted, context) = ("rewritten", false, None);
                // Kind, dates and consent are those of the sentence that it tells.
                let source = stated.iter().max_by_key(|one| shared(&one.content, &fact)).unwrap_or(first).clone();
                let field = source.field.or_else(|| claimed(&claims, &voice.key));
                done.candidates.push(LearningCandidate {
                    content: fact,
                    claims,
                    pattern,
                    quoted,
                    context,
                    field,
                    ..source
                });
            }
        }
        Ok((done, spent))
    }

    /// The statements of one turn that are believed, and why others are not.
    async fn rewrite(
        &self,
        turn: &Utterance<'_>,
        before: Option<&Utterance<'_>>,
        asked_first: &ChatQuestion,
        spent: &mut TokenUsage,
    ) -> Result<(Vec<String>, Vec<&'static str>)> {
        let (known, denial) = (said(turn, before), denies(turn, before));
        let (mut facts, mut refused) = sorted(&self.ask(asked_first, spent).await?, &known, denial);
        if !refused.is_empty() {
            let again = asked(turn, before, &refused);
            let (more, still) = sorted(&self.ask(&again, spent).await?, &known, denial);
            let new = |fact: &String| facts.iter().all(|known| normalise(known) != normalise(fact));
            let more: Vec<String> = more.into_iter().filter(new).collect();
            facts.extend(more);
            refused = still;
        }
        facts.truncate(MAX_STATEMENTS);
        Ok((facts, refused.into_iter().map(|(_, reason)| reason).collect()))
    }

    fn affords(&self, question: &ChatQuestion) -> bool {
        self.left().is_none_or(|left| self.chat.estimate(question) <= left)
    }
}

fn asked(turn: &Utterance<'_>, before: Option<&Utterance<'_>>, refused: &[(String, &'static str)]) -> ChatQuestion {
    let line = |mark: &str, turn: &Utterance<'_>| {
        let speaker = match turn.speaker {
            Speaker::Assistant => "assistant".to_owned(),
            speaker => quote(speaker.name().unwrap_or("User")),
        };
        format!("[{mark}] {speaker}: {}", quote(turn.text))
    };
    let mut lines: Vec<String> = before.into_iter().map(|before| line("before", before)).collect();
    lines.push(line("turn", turn));
    lines.extend(refused.iter().map(|(fact, reason)| format!("[refused] {}: {reason}", quote(fact))));
    let facts = json!({ "type": "array", "maxItems": MAX_STATEMENTS, "items": { "type": "string" } });
    question(Purpose::Rewrite, fence(&lines), object([("facts", facts)]), MAX_ANSWER_TOKENS)
}

/// The words that were said, folded, with the names of who said them.
fn said(turn: &Utterance<'_>, before: Option<&Utterance<'_>>) -> HashSet<String> {
    let names = [turn.speaker.name(), before.and_then(|before| before.speaker.name()), Some("User")];
    let texts = [Some(turn.text), before.map(|before| before.text)].into_iter().chain(names).flatten();
    texts.flat_map(folded).collect()
}

fn folded(text: &str) -> Vec<String> {
    let language = language_of(text);
    let fold = |word: &str| language.map_or_else(|| word.to_owned(), |language| language.folded(word));
    words(text, language).iter().map(|word| fold(word.bare())).collect()
}

/// How many words two texts share.
fn shared(a: &str, b: &str) -> usize {
    let words: HashSet<String> = folded(a).into_iter().collect();
    folded(b).iter().filter(|word| words.contains(*word)).count()
}

/// Whether something is denied in a turn or the one before.
fn denies(turn: &Utterance<'_>, before: Option<&Utterance<'_>>) -> bool {
    let texts = [Some(turn.text), before.map(|before| before.text)];
    let denies = |text: &str| words(text, language_of(text)).iter().any(|word| word.is(form::NEGATION | form::ENDS));
    texts.into_iter().flatten().any(denies)
}

/// Those of an answer's statements that are believed, and the others with the reason.
fn sorted(answer: &Value, known: &HashSet<String>, denial: bool) -> (Vec<String>, Vec<(String, &'static str)>) {
    let (mut believed, mut refused) = (Vec::new(), Vec::new());
    for fact in items(answer, "facts").filter_map(Value::as_str).map(str::trim).filter(|fact| !fact.is_empty()) {
        // Another ending is the same word, but not of a number or a name.
        let ending = |word: &str| {
            let stem: String = word.chars().take(5).collect();
            word.chars().count() > 5 && known.iter().any(|other| other.starts_with(&stem))
        };
        let language = language_of(fact);
        let stands = |word: &Word| {
            let folded = language.map_or_else(|| word.bare().to_owned(), |language| language.folded(word.bare()));
            let exact = word.shape != Shape::Plain || word.capital;
            known.contains(&folded) || !exact && ending(&folded)
        };
        let said = words(fact, language);
        let denies = |word: &Word| word.is(form::NEGATION | form::ENDS);
        let unsaid = said.iter().any(|word| word.tells() && !stands(word));
        let breach = writing_rules::validate(fact, Class::Semantic).first().map(writing_rules::Breach::reason);
        match breach
            .or_else(|| unsaid.then_some("it has a word that was not said"))
            .or_else(|| (!denial && said.iter().any(denies)).then_some("it denies what was not denied"))
        {
            Some(reason) => refused.push((fact.to_owned(), reason)),
            None if believed.len() < MAX_STATEMENTS => believed.push(fact.to_owned()),
            None => {}
        }
    }
    (believed, refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_is_believed() {
        let turn = Utterance {
            id: loci_types::MemoryId(uuid::Uuid::nil()),
            text: "Two weeks ago I moved to Lisbon with my sister Marta",
            speaker: Speaker::User(Some("Ana")),
            actor: None,
            at: "2026-05-03T14:05:00Z".parse().unwrap(),
        };
        let known = said(&turn, None);
        for (fact, expect) in [
            ("Ana moved to Lisbon two weeks ago with her sister Marta.", None),
            ("Ana moves to Lisbon.", None),
            ("Ana moved to Porto.", Some("it has a word that was not said")),
            ("Ana has 3 sisters.", Some("it has a word that was not said")),
            ("Ana did not move to Lisbon.", Some("it denies what was not denied")),
            ("Ana moved to Lisbonne.", Some("it has a word that was not said")),
            ("I moved to Lisbon.", Some("it is in the first person")),
            ("She moved to Lisbon.", Some("it has a pronoun before any name")),
        ] {
            let (_, refused) = sorted(&json!({ "facts": [fact] }), &known, false);
            assert_eq!(refused.first().map(|(_, reason)| *reason), expect, "{fact}");
        }
    }
}
