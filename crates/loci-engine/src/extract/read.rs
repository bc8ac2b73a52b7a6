//! What does each turn teach?
//!
//! Turns are read in order, because a pronoun, a fragment or a "scratch that" leans on what was
//! said before. Every statement passes the writing rules or is dropped.

mod part;

use jiff::{Timestamp, Zoned};
use loci_types::{Class, EntityType};

use super::claim::claim_of;
use super::clause::{Clause, Who};
use super::correct::{fragment, patch};
use super::focus::Focus;
use super::judge::{Setting, Verdict, done, judge};
use super::lead::{chosen_for, straight, topic};
use super::names::given::{self, Alias};
use super::names::mentions;
use super::opener::{Opening, strip};
use super::paraphrase::plain;
use super::prose::{Sentence, sentences};
use super::retell::{Teller, Told};
use super::split::{clauses, stray};
use super::steps::procedure;
use super::verbs::Form;
use super::when::{Dated, dates};
use super::word::{Word, words};
use super::{Candidate, Speaker, Surroundings, Utterance, russian};
use part::{about, appositions, capitalise, extra, household, is_past, is_talk, remind, without_subject};

use crate::plan::time::OPEN_PAST;
use crate::writing::validate;

/// The most candidates of one turn.
pub const MOST: usize = 5;

/// What is less sure than this is not worth a look.
const LEAST: f64 = 0.4;

/// How many statements a correction may reach back.
const REACH: usize = 16;

/// What can be learned from turns, at most [`MOST`] a turn, the surest of a turn first.
pub fn extract(turns: &[Utterance<'_>], surroundings: &Surroundings) -> Vec<Candidate> {
    let user = turns.iter().find_map(|turn| match turn.speaker {
        Speaker::User(name) => name,
        _ => None,
    });
    let mut reader = Reader {
        surroundings,
        user: user.unwrap_or("User"),
        focus: Focus::default(),
        said: Vec::new(),
        asked: false,
        aliases: given::known(&surroundings.known),
    };
    let mut candidates: Vec<Candidate> = Vec::new();
    for turn in turns {
        for candidate in reader.turn(turn) {
            match candidates.iter_mut().find(|known| known.content == candidate.content) {
                Some(known) if known.from.contains(&turn.id) => {}
                Some(known) => known.from.push(turn.id),
                None => candidates.push(candidate),
            }
        }
    }
    candidates
}

struct Reader<'a> {
    surroundings: &'a Surroundings,
    /// What the user is called.
    user: &'a str,
    focus: Focus,
    /// What was stated last, by anyone, as it would be kept.
    said: Vec<String>,
    /// The turn before ended in a question.
    asked: bool,
    /// Other names that were given for something.
    aliases: Vec<Alias>,
}

/// A statement that was found, before it is checked.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) content: String,
    pub(super) verdict: Verdict,
    pub(super) corrects: bool,
    pub(super) dates: Vec<Dated>,
    /// It tells what is over.
    pub(super) past: bool,
}

/// Who is heard.
#[derive(Clone, Copy, PartialEq)]
enum Voice {
    Person,
    Assistant,
    Tool,
}

impl Reader<'_> {
    fn turn(&mut self, turn: &Utterance<'_>) -> Vec<Candidate> {
        let (name, voice) = match turn.speaker {
            Speaker::User(name) => (name.unwrap_or(self.user), Voice::Person),
            Speaker::Named(name) => (name, Voice::Person),
            Speaker::Assistant => ("Assistant", Voice::Assistant),
            Speaker::Tool => (self.user, Voice::Tool),
        };
        let now = turn.at.to_zoned(self.surroundings.time_zone.clone());
        let sentences = sentences(turn.text);
        let mut drafts = Vec::new();
        let mut carried = Opening::default();
        // What was asked to be remembered.
        let mut asked: Vec<String> = Vec::new();
        let mut place = 0;
        while place < sentences.len() {
            if voice == Voice::Person
                && let Some(found) = procedure(&sentences, place)
            {
                if sentences[place].text.to_lowercase().contains("remember")
                    || super::steps::asked(&words(sentences[place].text)).is_some()
                {
                    asked.push(found.content.clone());
                }
                drafts.push(draft(found.content, Verdict::new("procedure", "procedural", 0.85)));
                place = found.end;
                continue;
            }
            let sentence = &sentences[place];
            place += 1;
            // What the assistant says in between does not make anyone forget.
            if voice == Voice::Person || place == 1 {
                self.focus.pass();
            }
            if russian::is_russian(sentence.text) {
                let speaker = (voice == Voice::Person).then_some(turn.speaker);
                drafts.extend(russian::read(sentence, speaker, &now, &self.said));
                continue;
            }
            let found = match voice {
                Voice::Person => self.sentence(sentence, name, &now, &mut carried),
                Voice::Assistant => self.assistant(sentence, &now),
                Voice::Tool => {
                    self.sentence(sentence, name, &now, &mut carried).into_iter().filter(|_| carried.asked).collect()
                }
            };
            if carried.asked {
                asked.extend(found.iter().map(|draft| draft.content.clone()));
            }
            drafts.extend(found);
        }
        self.asked = voice != Voice::Person && sentences.last().is_some_and(|last| last.asks);
        self.candidates(drafts, turn, &asked)
    }

    /// What a sentence of a person states.
    fn sentence(&mut self, sentence: &Sentence<'_>, name: &str, now: &Zoned, carried: &mut Opening) -> Vec<Draft> {
        let mut words = words(sentence.text);
        let mut opening = strip(&mut words);
        if self.asked {
            // A "no" that answers a question corrects nobody.
            opening.corrects &= !opening.denies;
        }
        opening.corrects |= std::mem::take(&mut carried.corrects);
        carried.asked = opening.asked;
        if words.iter().filter(|word| word.speaks()).count() == 0 {
            carried.corrects = opening.corrects && !opening.denies;
            return Vec::new();
        }
        let last = self.focus.named_last().map(str::to_owned);
        let found = given::take(&mut words, last.as_deref());
        self.aliases.extend(found);
        if words.iter().filter(|word| word.speaks()).count() == 0 {
            return Vec::new();
        }
        let owner = format!("{name}'s");
        let asks = sentence.asks && !opening.asked && !remind(&words);
        if is_talk(&words, asks) {
            self.focus.people(&words, &owner);
            return Vec::new();
        }
        let ahead = dates(sentence.text, now, true);
        let behind = if ahead.is_empty() { Vec::new() } else { dates(sentence.text, now, false) };
        let mut drafts = Vec::new();
        if let Some(fixed) = self.fragment(&words, &opening) {
            drafts.push(fixed);
            return drafts;
        }
        about(&mut words, &opening);
        let small = !sentence.text.chars().skip(1).any(char::is_uppercase)
            || !sentence.text.replace(" I ", " ").replace("I'", "").chars().skip(1).any(char::is_uppercase);
        let (words, more) = straight(words);
        let mut parts: Vec<Vec<Word>> = appositions(words).into_iter().flat_map(clauses).collect();
        if asks {
            parts.pop();
        }
        parts.extend(more);
        let mut subject: Option<Vec<Word>> = None;
        for part in parts {
            let people = part.clone();
            let mut opening = opening;
            let mut part = part;
            let more = strip(&mut part);
            if stray(&part) {
                part.remove(0);
            }
            if let Some(subject) = &subject {
                chosen_for(&mut part, subject);
            }
            subject = topic(&part);
            opening.corrects |= more.corrects && !more.denies;
            opening.hedged |= more.hedged;
            let telling = Telling { name, opening: &opening, ahead: &ahead, behind: &behind, small };
            let found = self.clause(part, &telling);
            self.focus.people(&people, &owner);
            drafts.extend(found);
        }
        drafts
    }

    /// What a clause states.
    fn clause(&mut self, words: Vec<Word>, telling: &Telling<'_>) -> Vec<Draft> {
        let (words, phrase) = plain(words, telling.opening, telling.ahead, false);
        let clause = if phrase == Some("rule") { Some(Clause::order(words)) } else { Clause::read(words) };
        let Some(mut clause) = clause else { return Vec::new() };
        // "It's 6, not 4" corrects something; if nobody knows what, it says nothing.
        let contrast = clause.rest().windows(2).any(|two| two[0].is(",") && two[1].is("not"));
        if contrast && clause.words[0].is("it") {
            return Vec::new();
        }
        if telling.small {
            capitalise(&mut clause);
        }
        // What was moved to a day lies ahead.
        let moved = clause.who == Who::Thing && clause.lemma == "move" && telling.ahead.iter().any(|dated| !dated.open);
        let past = is_past(&clause) && !moved || clause.words.iter().any(|word| word.is("scaled"));
        let times = if past { telling.behind } else { telling.ahead };
        let dated = times.iter().any(|dated| {
            clause
                .words
                .iter()
                .any(|word| word.at.end > 0 && word.at.start >= dated.at.start && word.at.end <= dated.at.end)
        });
        let teller = Teller {
            name: telling.name,
            focus: &self.focus,
            dates: times,
            later: telling.ahead,
            household: household(&clause) || phrase == Some("us"),
            yearly: clause.words.iter().any(|word| word.any(&["birthday", "born", "anniversary", "bday"])),
        };
        let owner = teller.owner();
        let told = teller.tell(&clause);
        let verdict = judge(&clause, Setting { dated, asked: telling.opening.asked, phrase });
        let mut drafts = Vec::new();
        if let (Some(told), Some(verdict)) = (&told, verdict) {
            let over = extra(&clause, told);
            drafts.push(self.draft(told, verdict, telling.opening, &clause, past));
            drafts.extend(over.map(|content| draft(content, Verdict::new("change", "fact", verdict.confidence - 0.1))));
        }
        if let Some(told) = told {
            if clause.who == Who::Pronoun {
                self.focus.again();
            }
            self.focus.about(&clause, &told.subject, &owner);
            if let Some(name) = called(&clause) {
                self.focus.name(&name);
            }
        }
        drafts
    }

    fn draft(&self, told: &Told, verdict: Verdict, opening: &Opening, clause: &Clause, past: bool) -> Draft {
        let contrast = clause.rest().windows(2).any(|two| two[0].is(",") && two[1].is("not"));
        let corrects = opening.corrects || contrast;
        let verdict = match corrects {
            true if !matches!(verdict.pattern, "reminder" | "task") => {
                Verdict { confidence: verdict.confidence.max(0.85), ..Verdict::new("correction", "correction", 0.9) }
            }
            _ if opening.hedged => Verdict { confidence: verdict.confidence - 0.2, ..verdict },
            _ => verdict,
        };
        Draft { content: told.content.clone(), verdict, corrects, dates: told.dates.clone(), past }
    }

    /// A correction that leans on what was said before.
    fn fragment(&self, words: &[Word], opening: &Opening) -> Option<Draft> {
        let own = Clause::read(words.to_vec()).is_some_and(|clause| {
            let said = clause.who == Who::I && matches!(clause.lemma.as_str(), "say" | "mean");
            !said && !matches!(clause.who, Who::Pronoun | Who::Pointed | Who::Nobody)
        });
        if own {
            return None;
        }
        let content = patch(&fragment(words, opening.corrects)?, &self.said)?;
        Some(Draft { corrects: true, ..draft(content, Verdict::new("correction", "correction", 0.85)) })
    }

    /// What the assistant states: what was decided together, what it got wrong, what it has done.
    fn assistant(&mut self, sentence: &Sentence<'_>, now: &Zoned) -> Vec<Draft> {
        let mut words = words(sentence.text);
        let opening = strip(&mut words);
        let to_user = words.iter().any(|word| word.any(&["you", "your", "yours"]));
        if sentence.asks || to_user || is_talk(&words, false) {
            self.hear(words, now, sentence);
            return Vec::new();
        }
        let times = dates(sentence.text, now, false);
        about(&mut words, &opening);
        let mut drafts = Vec::new();
        for part in clauses(words) {
            let (part, phrase) = plain(part, &opening, &times, true);
            let Some(clause) = Clause::read(part) else { continue };
            let teller = Teller {
                name: self.user,
                focus: &self.focus,
                dates: &times,
                later: &times,
                household: false,
                yearly: false,
            };
            let Some(told) = teller.tell(&clause) else { continue };
            let own = matches!(clause.who, Who::I | Who::We | Who::Nobody);
            let decided = clause.who == Who::We
                && matches!(clause.lemma.as_str(), "decide" | "agree" | "choose" | "settle" | "pick")
                && clause.form == Form::Past
                || phrase == Some("decision");
            let verdict = match () {
                () if decided => Some(Verdict::new("decision", "decision", 0.8)),
                () if opening.corrects && clause.who == Who::Thing && clause.lemma == "be" => {
                    Some(Verdict::new("correction", "correction", 0.85))
                }
                () if own => done(&clause),
                () => None,
            };
            let Some(verdict) = verdict else {
                if clause.who != Who::Nobody {
                    self.remember(&told.content);
                }
                continue;
            };
            let content = if decided || !own { told.content.clone() } else { without_subject(&clause, &told) };
            drafts.push(Draft { content, corrects: opening.corrects, dates: told.dates, past: true, verdict });
        }
        drafts
    }

    /// Keeps what the assistant says of the user in mind, so that it can be corrected; it is not
    /// learned.
    fn hear(&mut self, words: Vec<Word>, now: &Zoned, sentence: &Sentence<'_>) {
        let turned = words.iter().map(|word| match word.lower.as_str() {
            "you" => word.instead("I"),
            "your" => word.instead("my"),
            "are" => word.instead("am"),
            _ => word.clone(),
        });
        let times = dates(sentence.text, now, false);
        for part in clauses(turned.collect()) {
            let Some(clause) = Clause::read(part) else { continue };
            let teller = Teller {
                name: self.user,
                focus: &self.focus,
                dates: &times,
                later: &times,
                household: false,
                yearly: false,
            };
            let kept = judge(&clause, Setting { dated: false, asked: false, phrase: None });
            if let (Some(told), Some(_)) = (teller.tell(&clause), kept) {
                let content = told.content;
                self.remember(&content);
            }
        }
    }

    fn remember(&mut self, content: &str) {
        self.said.push(content.to_owned());
        if self.said.len() > REACH {
            self.said.remove(0);
        }
    }

    /// The drafts that may be kept, the surest first.
    fn candidates(&mut self, drafts: Vec<Draft>, turn: &Utterance<'_>, asked: &[String]) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for mut draft in drafts {
            let on_purpose = asked.contains(&draft.content);
            if draft.verdict.kind != "procedural" && !russian::is_russian(&draft.content) {
                draft.content = given::canonical(&draft.content, &self.aliases);
            }
            let sure =
                draft.verdict.confidence >= LEAST && validate(&draft.content, class(draft.verdict.kind)).is_empty();
            if !sure || candidates.iter().any(|known| known.content == draft.content) {
                continue;
            }
            self.remember(&draft.content);
            let mut candidate = self.candidate(draft, turn);
            if on_purpose && !candidate.told_on_purpose() {
                candidate.pattern = format!("asked {}", candidate.pattern);
            }
            candidates.push(candidate);
        }
        candidates.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        candidates.truncate(MOST);
        candidates
    }

    fn candidate(&self, draft: Draft, turn: &Utterance<'_>) -> Candidate {
        let (event_time, valid_from, expires_at) = times(&draft, turn.at);
        let Draft { content, verdict, corrects, .. } = draft;
        let mut entities = mentions(&content, turn.speaker, &self.surroundings.known);
        for Alias { short, of } in &self.aliases {
            if let Some(mention) =
                entities.iter_mut().find(|mention| mention.name == *of && !mention.aliases.contains(short))
            {
                mention.aliases.push(short.clone());
            }
        }
        if verdict.kind == "person"
            && let Some(first) = entities.first_mut().filter(|first| {
                content.starts_with(&first.name) && matches!(first.entity_type, EntityType::Concept | EntityType::Place)
            })
        {
            first.entity_type = EntityType::Person;
        }
        Candidate {
            kind: verdict.kind.to_owned(),
            claim: if verdict.kind == "procedural" { None } else { claim_of(&content) },
            confidence: verdict.confidence.clamp(0.0, 1.0),
            importance: (verdict.importance > 0.0).then_some(verdict.importance),
            entities,
            event_time,
            valid_from,
            expires_at,
            corrects,
            pattern: verdict.pattern.to_owned(),
            from: vec![turn.id],
            content,
        }
    }
}

/// What is needed to tell the clauses of a sentence.
struct Telling<'a> {
    name: &'a str,
    opening: &'a Opening,
    ahead: &'a [Dated],
    behind: &'a [Dated],
    /// Typed without capitals.
    small: bool,
}

/// The name of a thing that a clause gives or works on: "is called Heron", "am working on Heron".
fn called(clause: &Clause) -> Option<String> {
    let skip = match (clause.lemma.as_str(), clause.next(0)) {
        ("be", "called" | "named") if clause.who == Who::Thing && !super::focus::is_person(clause.subject_words()) => 1,
        ("work", "on") => 1,
        _ => return None,
    };
    let name = clause.rest().get(skip).filter(|word| word.capital())?;
    Some(name.text.clone())
}

fn draft(content: String, verdict: Verdict) -> Draft {
    Draft { content, verdict, corrects: false, dates: Vec::new(), past: false }
}

/// When it happened, since when it holds, and until when it is of use.
fn times(draft: &Draft, at: Timestamp) -> (Option<Timestamp>, Option<Timestamp>, Option<Timestamp>) {
    let date = draft.dates.first();
    let from = date.map(|date| date.from).filter(|from| *from != OPEN_PAST);
    match draft.verdict.pattern {
        "reminder" | "task" if !draft.past => (None, None, date.map(|date| date.until)),
        "task" => (from.or(Some(at)), None, None),
        "change" => (from, from.filter(|from| *from <= at), None),
        // What was announced is known from now on, even if it begins tomorrow.
        // What begins today begins now.
        _ if date.is_some_and(|date| date.open) => {
            (None, from.filter(|from| at.as_second() - from.as_second() > 86_400), None)
        }
        // A day that is today is now, not its midnight.
        _ => (from.map(|from| if date.is_some_and(|date| date.until > at) { from.max(at) } else { from }), None, None),
    }
}

fn class(kind: &str) -> Class {
    match kind {
        "preference" | "opinion" | "insight" => Class::Opinion,
        "episodic" => Class::Episodic,
        "procedural" => Class::Procedural,
        _ => Class::Semantic,
    }
}
