//! What can be learned from a Russian sentence?
//!
//! The same as from an English one, with fewer patterns. The speaker becomes "Пользователь" or the
//! name in its case; verbs of the first person come from a table, and one that is not in it is not
//! retold.

mod aside;
mod clause;
mod forms;
mod lead;
mod opener;
mod other;
mod own;
mod split;
mod steps;
#[cfg(test)]
mod tests;

use jiff::Zoned;

use super::Speaker;
use super::claim::claim_of;
use super::correct::{fragment, patch};
use super::judge::Verdict;
use super::prose::Sentence;
use super::read::Draft;
use super::when::dates;
use super::word::{Word, words};
use clause::Clause;
use opener::Opening;

/// Whether a sentence is written in Cyrillic for the most part.
pub(crate) fn is_russian(text: &str) -> bool {
    let (mut cyrillic, mut latin) = (0_usize, 0_usize);
    for c in text.chars() {
        cyrillic += usize::from(('\u{400}'..='\u{4ff}').contains(&c));
        latin += usize::from(c.is_ascii_alphabetic());
    }
    cyrillic > 0 && cyrillic * 3 >= latin
}

/// What a Russian sentence states; nothing for the assistant, who states nothing about others.
pub(super) fn read(sentence: &Sentence<'_>, speaker: Option<Speaker<'_>>, now: &Zoned, said: &[String]) -> Vec<Draft> {
    let name = match speaker {
        Some(Speaker::User(None)) => "Пользователь",
        Some(Speaker::User(Some(name)) | Speaker::Named(name)) => name,
        _ => return Vec::new(),
    };
    let mut words = words(sentence.text);
    let opening = opener::strip(&mut words);
    if words.is_empty() || sentence.asks || opener::supposes(&words) || opener::repeats(&words) {
        return Vec::new();
    }
    if let Some(content) = steps::procedure(&words) {
        return vec![draft(content, Verdict::new("procedure", "procedural", 0.85))];
    }
    // "Не 8080, а 4000" says nothing by itself.
    let contrast = words[0].is("не") || words.windows(2).any(|two| two[0].is("а") && two[1].is("не"));
    if contrast && let Some(fixed) = put_right(&words, opening, said) {
        return vec![fixed];
    }
    let drafts = statements(words.clone(), sentence.text, name, now, opening);
    if drafts.is_empty() && opening.corrects {
        return put_right(&words, opening, said).into_iter().collect();
    }
    drafts
}

/// What was said before, put right by a fragment.
fn put_right(words: &[Word], opening: Opening, said: &[String]) -> Option<Draft> {
    let content = fragment(words, opening.corrects).and_then(|fragment| patch(&fragment, said))?;
    Some(Draft { corrects: true, ..draft(content, Verdict::new("correction", "correction", 0.85)) })
}

/// The statements of a sentence, part by part.
fn statements(words: Vec<Word>, text: &str, name: &str, now: &Zoned, opening: Opening) -> Vec<Draft> {
    let ahead = dates(text, now, true);
    let behind = if ahead.is_empty() { Vec::new() } else { dates(text, now, false) };
    let mut drafts = Vec::new();
    let mut before: Option<Word> = None;
    for mut part in split::parts(split::plain(aside::bracketed(words))) {
        let mut opening = opening;
        let more = opener::strip(&mut part);
        opening.corrects |= more.corrects;
        opening.asked |= more.asked;
        if part.is_empty() || opener::unreal(&part) {
            continue;
        }
        if let Some(subject) = before.as_ref().filter(|_| split::lacks_subject(&part)) {
            part.insert(0, subject.clone());
        }
        before = part.first().filter(|word| word.any(&["я", "мы"])).cloned().or(before);
        let clause = Clause { words: &part, name, ahead: &ahead, behind: &behind };
        drafts.extend(clause.read().map(|draft| weighed(draft, opening)));
    }
    drafts
}

/// A statement in the light of how the sentence was opened.
fn weighed(mut draft: Draft, opening: Opening) -> Draft {
    if opening.asked {
        draft.verdict.confidence = (draft.verdict.confidence + 0.1).min(0.98);
        draft.verdict.importance = draft.verdict.importance.max(0.85);
    }
    if opening.corrects && draft.verdict.kind != "task" {
        draft.verdict = Verdict::new("correction", "correction", 0.9);
        // What says by itself what it is about replaces just that, and nothing that is merely like it.
        draft.corrects = claim_of(&draft.content).is_none();
    }
    draft
}

fn draft(content: String, verdict: Verdict) -> Draft {
    Draft { content, verdict, corrects: false, dates: Vec::new(), past: false }
}
