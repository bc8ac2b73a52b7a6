//! What does one Russian clause state, and how is it told by someone else?

use super::super::judge::Verdict;
use super::super::read::Draft;
use super::super::when::Dated;
use super::super::word::{Shape, Word, capitalised, join};
use super::forms::{self, Case, declined, own};
use super::split::stated;

/// A clause, and what is needed to retell it.
pub(super) struct Clause<'a> {
    pub(super) words: &'a [Word],
    /// Who speaks.
    pub(super) name: &'a str,
    /// The times of the sentence, if they lie ahead.
    pub(super) ahead: &'a [Dated],
    /// The same, if they lie behind.
    pub(super) behind: &'a [Dated],
}

/// Whom a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Speaker,
    Other,
}

/// Words that end a clause without adding to it.
const TRAILING: &[&str] = &["тоже", "кстати", "сейчас", "теперь", "уже", "пожалуйста", "вообще", "просто", "ваще"];

impl Clause<'_> {
    /// The first pattern that fits.
    pub(super) fn read(&self) -> Option<Draft> {
        self.named()
            .or_else(|| self.called())
            .or_else(|| self.favourite())
            .or_else(|| self.numbered())
            .or_else(|| self.dative())
            .or_else(|| self.having())
            .or_else(|| self.asking())
            .or_else(|| self.owned())
            .or_else(|| self.own_verb())
            .or_else(|| self.team_verb())
            .or_else(|| self.identity())
            .or_else(|| self.other())
    }

    pub(super) fn lower(&self, place: usize) -> &str {
        self.words.get(place).map_or("", |word| word.lower.as_str())
    }

    /// The speaker in a case.
    pub(super) fn case(&self, case: Case) -> String {
        declined(self.name, case)
    }

    /// The first of some words at which someone else does or is something.
    pub(super) fn acts(&self, within: usize) -> Option<usize> {
        (0..self.words.len().min(within)).find(|place| {
            let endures = *place > 1 && self.lower(*place) == "может" && self.lower(place - 2) == "терпеть";
            endures || forms::is_third(self.lower(*place)) || is_dash(&self.words[*place])
        })
    }

    /// Words as someone else would say them; `ahead` says which way their times lie.
    pub(super) fn retold(&self, words: &[Word], ahead: bool, about: About) -> Option<(String, Vec<Dated>)> {
        let times = if ahead { self.ahead } else { self.behind };
        let end = words.iter().rposition(|word| !trails(word)).map_or(0, |last| last + 1);
        let words = &words[..end];
        let mut told: Vec<Word> = Vec::new();
        let mut found = Vec::new();
        let mut place = 0;
        while let Some(word) = words.get(place) {
            let time = times.iter().find(|time| word.at.start >= time.at.start && word.at.end <= time.at.end);
            if let Some(time) = time {
                push_time(&mut told, word, time);
                found.push(time.clone());
                let inside = |word: &&Word| word.at.start >= time.at.start && word.at.end <= time.at.end;
                place += words[place..].iter().take_while(inside).count().max(1);
                continue;
            }
            match (own(&word.lower), forms::speaker_case(&word.lower)) {
                (Some(own), _) if about == About::Speaker => told.push(word.instead(own)),
                (Some(_), _) => {}
                (None, Some(case)) if about == About::Other => told.push(word.instead(&self.case(case))),
                (None, _) if forms::is_pronoun(&word.lower) => {
                    // What is meant is not said here: the words before it must do.
                    let cut = told.iter().rposition(|word| word.any(&[",", "и", "потому", "когда"]));
                    told.truncate(cut.filter(|cut| *cut > 0)?);
                    break;
                }
                _ => told.push(word.clone()),
            }
            place += 1;
        }
        Some((join(&told), found))
    }

    /// A statement of a head and the words from a place on.
    pub(super) fn draft(&self, head: &str, from: usize, ahead: bool, verdict: Verdict) -> Option<Draft> {
        self.told(head, self.words.get(from..)?, ahead, About::Speaker, verdict)
    }

    /// A statement of a head and the words behind it, up to a remark.
    pub(super) fn told(&self, head: &str, rest: &[Word], ahead: bool, about: About, verdict: Verdict) -> Option<Draft> {
        let (tail, dates) = self.retold(&rest[..stated(rest)], ahead, about)?;
        let content = capitalised(format!("{head} {tail}").trim());
        Some(Draft { content, verdict, corrects: false, dates, past: !ahead })
    }
}

fn trails(word: &Word) -> bool {
    word.shape == Shape::Mark && !word.is(")") || TRAILING.contains(&word.lower.as_str())
}

fn push_time(told: &mut Vec<Word>, word: &Word, time: &Dated) {
    let ready = told.last().is_some_and(|word| word.any(&["в", "на", "к", "до", "с", "после", "во"]));
    if ready && !time.preposition.is_empty() {
        told.pop();
    }
    if !time.text.is_empty() {
        told.push(word.instead(format!("{} {}", time.preposition, time.text).trim()));
    }
}

/// Whether a word is the dash that stands for "is".
pub(super) fn is_dash(word: &Word) -> bool {
    word.any(&["—", "–"]) || word.is("-") && !word.glued
}
