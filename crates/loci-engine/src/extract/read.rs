//! What does each turn teach?
//!
//! Turns are read in order, because a pronoun, a fragment or a "scratch that" leans on what was
//! said before. Every statement passes the writing rules or is dropped.

use jiff::{Timestamp, Zoned};
use loci_types::{Class, EntityType};

use super::claim::claim_of;
use super::clause::{Clause, Mood, Who};
use super::correct::{fragment, patch};
use super::focus::Focus;
use super::judge::{Setting, Verdict, done, judge};
use super::lead::{chosen_for, straight, topic};
use super::lexicon::{self, within};
use super::names::given::{self, Alias};
use super::names::mentions;
use super::opener::{Opening, strip};
use super::paraphrase::{begins, plain, say};
use super::prose::{Sentence, sentences};
use super::retell::{Teller, Told};
use super::split::{clauses, stray};
use super::steps::procedure;
use super::verbs::Form;
use super::when::{Dated, dates};
use super::word::{Shape, Word, capitalised, words};
use super::{Candidate, Speaker, Surroundings, Utterance, russian};
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
    let mut reader = Reader {
        surroundings,
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
            Speaker::User(name) => (name.unwrap_or("User"), Voice::Person),
            Speaker::Named(name) => (name, Voice::Person),
            Speaker::Assistant => ("Assistant", Voice::Assistant),
            Speaker::Tool => ("User", Voice::Tool),
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
                drafts.extend(russian::read(sentence, speaker, &now, &mut self.said));
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
                name: "User",
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
                name: "User",
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

fn is_past(clause: &Clause) -> bool {
    // What was agreed to be done lies ahead.
    if matches!(clause.lemma.as_str(), "decide" | "agree" | "plan" | "choose" | "promise")
        && clause.rest().iter().any(|word| word.is("to"))
    {
        return false;
    }
    let first = clause.lower(clause.subject.end);
    clause.form == Form::Past && matches!(clause.mood, Mood::Plain | Mood::Perfect)
        || clause.mood == Mood::Formerly
        || matches!(first, "was" | "were" | "did")
}

fn remind(words: &[Word]) -> bool {
    words.iter().take(5).any(|word| word.is("remind"))
}

/// Whether a sentence is talk: a question, a greeting, a thought of what might be.
fn is_talk(words: &[Word], asks: bool) -> bool {
    const ASKS: &[&str] = &[
        "what", "who", "how", "why", "where", "when", "which", "whose", "do", "does", "did", "is", "are", "am", "can",
        "could", "would", "will", "should", "have", "has", "any", "was", "were",
    ];
    const UNREAL: &[&str] = &[
        "if",
        "imagine",
        "suppose",
        "assuming",
        "assume",
        "pretend",
        "unless",
        "hypothetically",
        "wish",
        "maybe",
        "perhaps",
        "say",
        "whether",
        "given",
    ];
    let first = &words[0];
    let second = words.get(1).map_or("", |word| word.lower.as_str());
    let third = words.get(2).map_or("", |word| word.lower.as_str());
    let denies = second == "not"
        && !matches!(third, "you" | "i" | "we" | "it" | "he" | "she" | "they" | "the" | "that" | "this");
    let inverted = !denies
        && ASKS.contains(&first.lower.as_str())
        && matches!(
            second,
            "you"
                | "i"
                | "we"
                | "it"
                | "he"
                | "she"
                | "they"
                | "there"
                | "the"
                | "this"
                | "that"
                | "my"
                | "is"
                | "are"
                | "do"
                | "does"
                | "would"
                | "should"
                | "about"
                | "if"
                | "did"
                | "can"
                | "not"
                | "anyone"
        );
    let unreal = UNREAL.contains(&first.lower.as_str())
        || begins(words, "what if")
        || begins(words, "let us say")
        || begins(words, "i wish")
        || begins(words, "i wonder")
        || begins(words, "i would")
            && !matches!(words.get(2).map_or("", |word| word.lower.as_str()), "rather" | "prefer");
    let tale = [
        "in my story",
        "in the story",
        "in my novel",
        "in my book",
        "in my game",
        "in this scenario",
        "in the movie",
        "once upon a",
    ]
    .iter()
    .any(|head| begins(words, head));
    let unreal = unreal || tale;
    let quoted = first.shape == Shape::Quote;
    let reminds = remind(words);
    (asks && ASKS.contains(&first.lower.as_str()) || inverted && !reminds || unreal || quoted) && !(reminds && !unreal)
}

/// "I was wrong about the port, it is 4000": the port is 4000.
fn about(words: &mut Vec<Word>, opening: &Opening) {
    if !opening.corrects || !words[0].any(&["about", "on"]) {
        return;
    }
    let Some(joint) = words.iter().position(|word| word.any(&[",", ";", ":", "-", "—", "."])) else { return };
    let Some(is) = words[joint..].iter().take(4).position(|word| word.any(&["is", "are", "was"])) else { return };
    let mut told: Vec<Word> = words[1..joint].to_vec();
    if !told.first().is_some_and(|word| within(lexicon::DETERMINERS, &word.lower) || word.capital()) {
        told.splice(0..0, say("the"));
    }
    told.extend_from_slice(&words[joint + is..]);
    *words = told;
}

/// "Alice, my manager, approves deployments" says two things.
fn appositions(words: Vec<Word>) -> Vec<Vec<Word>> {
    if begins(&words, "i am")
        && words.get(2).is_some_and(Word::capital)
        && words.get(3).is_some_and(|word| word.is(","))
    {
        return introduced(words);
    }
    let open = words.iter().take(4).position(|word| word.any(&[",", "("]));
    let Some(open) = open.filter(|open| *open > 0) else { return vec![words] };
    let close =
        words.iter().enumerate().skip(open + 1).take(8).find(|(_, word)| word.any(&[",", ")"])).map(|(place, _)| place);
    let Some(close) = close else {
        return vec![words];
    };
    let (head, inner, rest) = (&words[..open], &words[open + 1..close], &words[close + 1..]);
    let named = head.iter().all(Word::capital);
    let related = inner.first().is_some_and(|word| word.any(&["my", "our"]))
        && inner.iter().any(|word| within(lexicon::RELATIONS, &word.lower) || within(lexicon::ROLES, &word.lower));
    let kin = head.first().is_some_and(|word| word.any(&["my", "our"]))
        && inner.len() <= 2
        && inner.iter().all(Word::capital);
    match () {
        () if named && related => {
            let mut relation = head.to_vec();
            relation.extend(say("is"));
            relation.extend_from_slice(inner);
            let mut second = head.to_vec();
            second.extend_from_slice(rest);
            vec![relation, second]
        }
        () if kin => vec![[head, inner, rest].concat()],
        () => vec![words],
    }
}

/// "I'm Ana, 29, a nurse from Porto" says three things.
fn introduced(words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut parts = Vec::new();
    for (number, part) in words.split(|word| word.is(",")).enumerate() {
        let fits = part.first().is_some_and(|word| word.any(&["a", "an", "the"]) || word.shape == Shape::Number);
        let role = part.iter().take(4).any(|word| within(lexicon::ROLES, &word.lower));
        match number {
            0 => parts.push(part.to_vec()),
            _ if fits => parts.push([say("I am"), part.to_vec()].concat()),
            _ if role => parts.push([say("I am a"), part.to_vec()].concat()),
            // Something else goes on here.
            _ => {
                if let Some(last) = parts.last_mut().filter(|_| number > 1) {
                    last.extend(say(","));
                    last.extend_from_slice(part);
                }
            }
        }
    }
    parts
}

/// Whether "we" are a family: they live, marry and have children.
fn household(clause: &Clause) -> bool {
    const HOME: &[&str] = &[
        "retriever",
        "labrador",
        "kids",
        "kid",
        "children",
        "child",
        "daughter",
        "daughters",
        "son",
        "sons",
        "baby",
        "twins",
        "dog",
        "dogs",
        "cat",
        "cats",
        "puppy",
        "house",
        "flat",
        "apartment",
        "home",
        "mortgage",
        "married",
        "engaged",
        "wedding",
        "garden",
        "pets",
        "honeymoon",
        "parents",
    ];
    if clause.who != Who::We {
        return false;
    }
    let says = clause.rest().iter().any(|word| HOME.contains(&word.lower.as_str()));
    let moved = matches!(clause.lemma.as_str(), "move" | "relocate")
        && !clause.rest().iter().any(|word| within(lexicon::TOOLS, &word.lower))
        && clause.rest().iter().any(Word::capital);
    matches!(clause.lemma.as_str(), "live" | "marry" | "adopt")
        || moved
        || says && matches!(clause.lemma.as_str(), "have" | "be" | "get" | "buy" | "rent" | "sell" | "expect" | "own")
}

/// "Switched from Jira to Linear" also says what is used no longer.
fn extra(clause: &Clause, told: &Told) -> Option<String> {
    let rest = clause.rest();
    let old = match clause.lemma.as_str() {
        "switch" | "migrate" | "move" if is_past(clause) => {
            let from = rest.iter().position(|word| word.is("from"))?;
            let to = rest.iter().position(|word| word.is("to")).filter(|to| *to > from)?;
            &rest[from + 1..to]
        }
        "replace" if is_past(clause) => &rest[..rest.iter().position(|word| word.is("with"))?],
        _ => return None,
    };
    let thing = !old.is_empty()
        && old.len() <= 3
        && old.iter().any(|word| word.capital() || within(lexicon::TOOLS, &word.lower));
    let place = clause.lemma == "move" && old.iter().any(|word| !within(lexicon::TOOLS, &word.lower));
    let plain = old.iter().all(|word| !within(lexicon::DETERMINERS, &word.lower));
    (thing && plain && !place && !told.subject.is_empty())
        .then(|| format!("{} no longer uses {}", told.subject, super::word::join(old)))
}

/// "Deployed v2 to staging", whoever did it.
fn without_subject(clause: &Clause, told: &Told) -> String {
    let content = told.content.strip_prefix(told.subject.as_str()).unwrap_or(&told.content).trim_start();
    let content = content.strip_prefix("has ").or_else(|| content.strip_prefix("have ")).unwrap_or(content);
    let _ = clause;
    capitalised(content)
}

/// Gives names their capitals where someone types without any.
fn capitalise(clause: &mut Clause) {
    let plain = |word: &Word| {
        word.shape == Shape::Word
            && !within(lexicon::DETERMINERS, &word.lower)
            && !within(lexicon::PREPOSITIONS, &word.lower)
            && !word.any(&["home", "tech", "finance", "it", "bed", "person"])
    };
    let slot = match (clause.lemma.as_str(), clause.next(0), clause.next(1)) {
        ("live", "in", _) | ("work", "at" | "for", _) | ("move" | "relocate", "to", _) => Some(1),
        ("be", "from", _) => Some(1),
        ("be", "called" | "named", _)
            if clause
                .subject_words()
                .iter()
                .any(|word| within(lexicon::RELATIONS, &word.lower) || within(lexicon::PETS, &word.lower)) =>
        {
            Some(1)
        }
        ("be", "based", "in") => Some(2),
        ("be", ..) if clause.subject_words().last().is_some_and(|word| word.is("name")) => Some(0),
        _ => None,
    };
    let rest = clause.rest_at();
    if let Some(slot) = slot
        && let Some(word) = clause.words.get_mut(rest + slot)
        && plain(word)
    {
        word.text = capitalised(&word.text);
    }
    let subject = clause.subject.clone();
    let related = subject.len() == 3
        && within(lexicon::RELATIONS, clause.lower(subject.start + 1))
        && clause.words[subject.start].any(&["my", "our"]);
    if related && plain(&clause.words[subject.end - 1]) && !within(lexicon::ADVERBS, clause.lower(subject.end - 1)) {
        let word = &mut clause.words[subject.end - 1];
        word.text = capitalised(&word.text);
    }
}
