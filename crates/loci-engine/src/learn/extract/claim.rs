//! Extracts claims from sentences, where they are certain.
//!
//! A [`Claim`] has a subject with its owner, an attribute and a value. It is made only from a few typed templates: a
//! fixed phrase ("lives in", "works at", "is"), a subject with its owner and all its qualifiers, and a value of the
//! right type (a name, a number, a date). A sentence that is conditional, hypothetical or a question gives no claim,
//! and neither does one whose subject is a pronoun.

use super::SpeakerIdentity;
use crate::learn::language::word::{Shape, Word};
use crate::learn::language::{Attribute, Language, form};

/// A parsed statement. All texts are folded, so that two spellings of the same are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The subject: owner, all qualifiers and the noun, folded and sorted: `acm port`, `ana`.
    pub subject: String,
    /// The same as it was said: `acme port`.
    pub about: String,
    /// Which side of it: `home`, `employer`, `is`.
    pub attribute: &'static str,
    /// The value, folded: `lisbon`, `9090`.
    pub value: String,
    /// The same as it was said.
    pub said: String,
    /// It says that this is not so.
    pub negated: bool,
    /// There can be only one value at a time: another one replaces it.
    pub single: bool,
    /// Many values can be true at the same time, so another value never replaces it.
    pub many: bool,
    /// It says that this has changed.
    pub changes: bool,
    /// It holds only for a while, or only then.
    pub bounded: bool,
    /// The type of its value.
    pub(crate) sort: ValueType,
}

/// What sort of value a claim has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    Number,
    Day,
    Name,
    Text,
}

/// A word of a subject or a value, as it is compared and as it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ClaimTerm {
    key: String,
    said: String,
}

impl ClaimTerm {
    fn of(word: &Word, language: &Language) -> Self {
        Self { key: language.folded(word.bare()), said: word.bare().to_owned() }
    }

    fn named(name: &str) -> Self {
        Self { key: name.to_owned(), said: name.to_owned() }
    }
}

/// A clause: words without the marks around them.
type Clause<'a> = &'a [Word];

/// The claims of a sentence.
pub(crate) fn claims(words: &[Word], language: Option<&Language>, voice: &SpeakerIdentity) -> Vec<Claim> {
    let Some(language) = language else { return Vec::new() };
    let unreal =
        words.iter().any(|word| word.is(form::UNREAL | form::CONDITION)) || words.iter().any(|word| word.mark("?"));
    if unreal {
        return Vec::new();
    }
    let mut found: Vec<Claim> = Vec::new();
    let mut before: Option<Vec<ClaimTerm>> = None;
    for clause in clauses(words) {
        let claim = from_clause(clause, language, voice, before.as_ref());
        if let Some((claim, subject)) = claim {
            before = Some(subject);
            if !found.contains(&claim) {
                found.push(claim);
            }
        } else if let Some(subject) = leading(clause, language, voice) {
            before = Some(subject);
        }
    }
    found
}

/// The clauses of a sentence: what stands between commas, colons and conjunctions.
fn clauses(words: &[Word]) -> Vec<Clause<'_>> {
    let ends = |place: usize| {
        let word = &words[place];
        // A colon behind a short noun phrase is a copula ("Budget: 72k") unless what follows has one of its own.
        let has_copula = || words[place..].iter().any(|word| word.is(form::COPULA));
        word.mark(",;()") || word.mark(":") && (place > 7 || has_copula()) || word.is(form::AND)
    };
    let mut found = Vec::new();
    let mut start = 0;
    for place in 0..words.len() {
        if ends(place) {
            found.push(&words[start..place]);
            start = place + 1;
        }
    }
    found.push(&words[start..]);
    found.retain(|clause| clause.iter().any(Word::tells));
    found
}

/// The claim of one clause, and its subject.
fn from_clause(
    clause: Clause<'_>,
    language: &Language,
    voice: &SpeakerIdentity,
    before: Option<&Vec<ClaimTerm>>,
) -> Option<(Claim, Vec<ClaimTerm>)> {
    changed(clause, language, voice).or_else(|| stated(clause, language, voice, before))
}

/// "⟨subject⟩ ⟨phrase⟩ ⟨value⟩".
fn stated(
    clause: Clause<'_>,
    language: &Language,
    voice: &SpeakerIdentity,
    before: Option<&Vec<ClaimTerm>>,
) -> Option<(Claim, Vec<ClaimTerm>)> {
    let texts: Vec<&str> = clause.iter().map(|word| if word.mark(":") { "=" } else { word.text.as_str() }).collect();
    // Adverbs of now and how long it has been so stand between the words of a phrase: "is now", "wohne seit drei Jahren in".
    let between = between(clause);
    let phrase = |at: usize| {
        let rest: Vec<&str> = (at..clause.len()).filter(|place| !between[*place]).map(|place| texts[place]).collect();
        language.claim(&rest).filter(|_| !between[at]).map(|(attribute, length)| {
            let mut left = length;
            let end = (at..clause.len()).find(|place| {
                left -= usize::from(!between[*place]);
                left == 0
            });
            (attribute, end.map_or(clause.len(), |end| end + 1))
        })
    };
    let (at, attribute, end) =
        (0..clause.len()).find_map(|at| phrase(at).map(|(attribute, end)| (at, attribute, end)))?;
    let negated_after = clause.get(end).is_some_and(|word| word.is(form::NEGATION));
    let negated = clause[..at].iter().any(|word| word.is(form::NEGATION)) || negated_after;
    let value_words = &clause[end + usize::from(negated_after)..];
    let subject_words = &clause[..at];
    let mut subject = match subject(subject_words, language, voice) {
        Some(subject) => subject,
        None if subject_words.iter().all(|word| (!word.tells() || word.is(form::NOW)) && !word.is(form::PRONOUN)) => {
            before.cloned().or_else(|| clause[at].is(form::FIRST).then(|| vec![ClaimTerm::named(&voice.key)]))?
        }
        None => return None,
    };
    let owner = subject.clone();
    let past = clause[at..end].iter().any(|word| word.is(form::PAST)) && attribute != Attribute::Born;
    let attribute = renamed(attribute, &mut subject, subject_words, language);
    let (value, sort, rest) = value(value_words, attribute, language)?;
    let single = single(attribute, sort, subject_words, clause, past);
    if attribute == Attribute::Is && sort == ValueType::Text && !single {
        return None;
    }
    // A statement about a person is complete by itself; for a thing, everything else narrows down which one it is.
    if attribute.is_of_things() {
        subject.extend(rest);
    }
    // When a shop opens is not when it closes.
    if attribute == Attribute::Hours {
        subject.push(ClaimTerm::of(&clause[at], language));
    }
    let limits = |words: &[Word]| words.iter().any(|word| word.is(form::LIMIT) && !word.is(form::COPULA));
    let changes = clause.iter().any(|word| word.is(form::CHANGE | form::NOW));
    // "In summer", "on Mondays": elsewhere at other times. "Main for the docs repository": something else for others.
    let since = clause[end..].iter().position(|word| word.is(form::SINCE)).map_or(clause.len(), |since| end + since);
    let timed = clause[end..since].iter().any(|word| word.is(form::TIME | form::LASTING) || is_day(word, language));
    let sometimes = timed && !changes && !attribute.is_of_things() && sort == ValueType::Name;
    let qualified = sort == ValueType::Text && value_words.iter().any(|word| word.is(form::ROLE));
    let bounded = past || sometimes || qualified || limits(&clause[..at]) || limits(&clause[end..]);
    let claim = Claim {
        about: said(&subject),
        subject: key(subject),
        attribute: attribute.name(),
        said: said(&value),
        value: joined(&value),
        negated,
        single,
        many: many(attribute, sort, subject_words, past),
        changes,
        bounded,
        sort,
    };
    (!claim.subject.is_empty() && !claim.value.is_empty()).then_some((claim, owner))
}

/// Which words of a clause only say when: "now", "since 2019" before another preposition.
fn between(clause: Clause<'_>) -> Vec<bool> {
    let mut between: Vec<bool> = clause.iter().map(|word| word.is(form::NOW)).collect();
    if let Some(since) = clause.iter().position(|word| word.is(form::SINCE)) {
        let behind = &clause[since + 1..];
        let next = behind.iter().position(|word| word.is(form::ROLE) && !word.is(form::SINCE | form::TIME));
        let span = next.filter(|next| (1..5).contains(next));
        let number = |word: &Word| word.shape == Shape::Number || word.counts || word.is(form::TIME);
        if let Some(span) = span.filter(|span| behind[..*span].iter().any(number)) {
            between[since..=since + span].fill(true);
        }
    }
    between
}

/// "⟨subject⟩ was moved to ⟨value⟩", "we raised ⟨subject⟩ to ⟨value⟩".
fn changed(clause: Clause<'_>, language: &Language, voice: &SpeakerIdentity) -> Option<(Claim, Vec<ClaimTerm>)> {
    let verb = clause.iter().position(|word| word.is(form::SETS))?;
    let to = verb + 1 + clause[verb + 1..].iter().position(|word| word.is(form::TO))?;
    let (value, sort, rest) = value(&clause[to + 1..], Attribute::Is, language)?;
    if !matches!(sort, ValueType::Number | ValueType::Day) {
        return None;
    }
    let silent = |word: &Word| {
        word.is(form::COPULA | form::FIRST | form::EMPTY | form::PRONOUN | form::AUXILIARY) || !word.tells()
    };
    let passive = clause[..verb].iter().any(|word| !silent(word));
    let between = &clause[verb + 1..to];
    // "from 5 to 7" names the old value, which does not belong to the subject.
    let from = between.iter().position(|word| matches!(word.text.as_str(), "from" | "von" | "de" | "с"));
    let between = &between[..from.unwrap_or(between.len())];
    let words: Vec<Word> = if passive {
        let helps = |word: &&Word| word.is(form::AUXILIARY | form::HAS) || word.is(form::EMPTY) && !word.is(form::MINE);
        clause[..verb].iter().filter(|word| !helps(word)).cloned().collect()
    } else {
        between.to_vec()
    };
    let mut subject = subject(&words, language, voice)?;
    if passive && between.iter().any(Word::tells) {
        return None;
    }
    let owner = subject.clone();
    subject.extend(rest);
    let claim = Claim {
        about: said(&subject),
        subject: key(subject),
        attribute: Attribute::Is.name(),
        said: said(&value),
        value: joined(&value),
        negated: false,
        single: true,
        many: false,
        changes: true,
        bounded: false,
        sort,
    };
    (!claim.subject.is_empty()).then_some((claim, owner))
}

/// The noun phrase before a phrase as folded words, with the speaker replaced by their key. `None` if it is unclear
/// who or what it refers to.
fn subject(words: &[Word], language: &Language, voice: &SpeakerIdentity) -> Option<Vec<ClaimTerm>> {
    let mut found = Vec::new();
    for word in words {
        if word.is(form::FIRST) || word.is(form::MINE) {
            found.push(ClaimTerm::named(&voice.key));
        } else if voice.is_owner(word.bare()) {
            found.push(ClaimTerm::named("user"));
        } else if word.is(form::PRONOUN) && !word.is(form::EMPTY) || word.is(form::ASKS | form::SECOND | form::SAYS) {
            return None;
        } else if word.shape != Shape::Mark
            && !word.is(form::NOW | form::OPENER | form::TITLE)
            && !word.is(form::ROLE)
            && (word.tells() || word.is(form::LIMIT))
        {
            found.push(ClaimTerm::of(word, language));
        }
    }
    found.dedup();
    (!found.is_empty() && found.len() <= 8).then_some(found)
}

/// The subject that a clause without a claim leaves to the next: its first person or its first name.
fn leading(clause: Clause<'_>, language: &Language, voice: &SpeakerIdentity) -> Option<Vec<ClaimTerm>> {
    let first = clause.iter().find(|word| word.shape != Shape::Mark && !word.is(form::OPENER | form::NOW))?;
    match () {
        () if first.is(form::FIRST) => Some(vec![ClaimTerm::named(&voice.key)]),
        () if voice.is_owner(first.bare()) => Some(vec![ClaimTerm::named("user")]),
        () if first.capital && first.tells() && first.form == 0 => Some(vec![ClaimTerm::of(first, language)]),
        () => None,
    }
}

/// "My address is …" says where I live: the noun names the attribute, and the rest is its owner.
fn renamed(attribute: Attribute, subject: &mut Vec<ClaimTerm>, words: &[Word], language: &Language) -> Attribute {
    let noun = words.iter().rev().find(|word| word.tells());
    match noun.and_then(|noun| language.noun(noun.bare()).map(|attribute| (attribute, noun))) {
        Some((named, noun)) if attribute == Attribute::Is && subject.len() > 1 => {
            let folded = language.folded(noun.bare());
            subject.retain(|word| word.key != folded);
            named
        }
        _ => attribute,
    }
}

/// The value at the start of these words, its type, and the qualifiers behind it.
fn value(
    words: &[Word],
    attribute: Attribute,
    language: &Language,
) -> Option<(Vec<ClaimTerm>, ValueType, Vec<ClaimTerm>)> {
    let skipped = |word: &Word| word.is(form::NOW | form::TITLE) || word.is(form::EMPTY) && !word.capital;
    let start = words.iter().position(|word| word.shape != Shape::Mark && !skipped(word) || word.mark("«\"“»"))?;
    let words = &words[start..];
    let first = words.iter().find(|word| word.shape != Shape::Mark)?;
    let typed = matches!(
        attribute,
        Attribute::Is
            | Attribute::Cost
            | Attribute::Weight
            | Attribute::Hours
            | Attribute::Port
            | Attribute::Birthday
            | Attribute::Born
    );
    let day = |word: &Word| is_day(word, language);
    let sort = match first.shape {
        Shape::Number if words.iter().take(3).any(day) => ValueType::Day,
        Shape::Number => ValueType::Number,
        Shape::Code => ValueType::Number,
        _ if day(first) => ValueType::Day,
        _ if language.folded(&first.text).bytes().all(|byte| byte.is_ascii_digit()) => ValueType::Number,
        _ if first.capital && !first.is(form::FIRST) => ValueType::Name,
        _ => ValueType::Text,
    };
    let wants_name = matches!(attribute, Attribute::Home | Attribute::Employer | Attribute::Name);
    if wants_name && sort != ValueType::Name && !(words[0].mark("«\"“"))
        || typed && attribute != Attribute::Is && sort == ValueType::Text
    {
        return None;
    }
    let fold = |word: &Word| ClaimTerm::of(word, language);
    if attribute == Attribute::Count {
        // What is counted is part of what it is about: "5 nodes" of a cluster are not its 3 disks.
        let counted = words[1..].iter().filter(|word| word.tells() || word.is(form::LIMIT)).map(fold).collect();
        return (sort == ValueType::Number && words.len() > 1).then(|| (vec![fold(first)], sort, counted));
    }
    let end = match sort {
        ValueType::Name => words
            .iter()
            .position(|word| !(word.capital || word.mark("«\"“-&.") || word.shape == Shape::Number))
            .unwrap_or(words.len()),
        // A number has its unit: words up to a preposition, but "100 requests per minute" is one value.
        ValueType::Number | ValueType::Day => {
            let per = |word: &Word| matches!(word.text.as_str(), "per" | "pro" | "por" | "par");
            // A day has its time: "Thursday at 12", "jueves a las 12".
            let timed = |place: usize| {
                sort == ValueType::Day && words[place + 1..].iter().take(2).any(|next| next.shape == Shape::Number)
            };
            let ends = |place: usize| {
                let word = &words[place];
                // "3 de mayo".
                let dated = words.get(place + 1).is_some_and(day);
                word.is(form::ROLE | form::BECAUSE | form::SINCE | form::NEGATION)
                    && !per(word)
                    && !dated
                    && !timed(place)
            };
            (0..words.len()).find(|place| ends(*place)).unwrap_or(words.len())
        }
        ValueType::Text => words.iter().position(|word| word.is(form::BECAUSE | form::SINCE)).unwrap_or(words.len()),
    };
    let end = end.max(1);
    let said: Vec<ClaimTerm> = words[..end]
        .iter()
        .filter(|word| {
            word.shape != Shape::Mark && (word.capital || !word.is(form::EMPTY | form::NOW | form::TITLE | form::ROLE))
        })
        .map(fold)
        .collect();
    let mut rest = &words[end..];
    // Since when it holds, and why, are no part of what it is about.
    if let Some(cut) = rest.iter().position(|word| word.is(form::SINCE | form::BECAUSE | form::NEGATION)) {
        rest = &rest[..cut];
    }
    let rest = rest.iter().filter(|word| word.tells() || word.is(form::LIMIT)).map(fold).collect();
    Some((said, sort, rest))
}

/// A day of the week or a month.
fn is_day(word: &Word, language: &Language) -> bool {
    const DAYS: &str = "mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec";
    word.shape == Shape::Plain && DAYS.split(' ').any(|day| day == language.folded(&word.text)) && word.text != "sun"
}

/// Whether there can be only one such value at a time.
fn single(attribute: Attribute, sort: ValueType, subject: &[Word], clause: Clause<'_>, past: bool) -> bool {
    let has = |form: u64| subject.iter().any(|word| word.is(form));
    match attribute {
        Attribute::Allergy | Attribute::Language => false,
        Attribute::Home
        | Attribute::Address
        | Attribute::Employer
        | Attribute::Born
        | Attribute::Birthday
        | Attribute::Pronouns => true,
        Attribute::Name => !has(form::MANY),
        Attribute::Cost | Attribute::Weight | Attribute::Hours | Attribute::Port | Attribute::Count => !past,
        Attribute::Is => {
            let now = clause.iter().any(|word| word.is(form::NOW));
            match sort {
                _ if past || has(form::MANY) => false,
                ValueType::Number => !has(form::EVENT),
                ValueType::Day => has(form::SINGLE) || now,
                ValueType::Name | ValueType::Text => has(form::SINGLE) || now && sort == ValueType::Name,
            }
        }
    }
}

/// Whether there are many such values beside each other.
fn many(attribute: Attribute, sort: ValueType, subject: &[Word], past: bool) -> bool {
    let has = |form: u64| subject.iter().any(|word| word.is(form));
    past || has(form::MANY)
        || matches!(attribute, Attribute::Allergy | Attribute::Language)
        || sort == ValueType::Number && has(form::EVENT)
}

/// The words of a subject in one order, each once.
fn key(words: Vec<ClaimTerm>) -> String {
    let mut keys: Vec<String> = words.into_iter().map(|word| word.key).collect();
    keys.sort();
    keys.dedup();
    keys.join(" ")
}

/// Words as they are compared.
fn joined(words: &[ClaimTerm]) -> String {
    words.iter().map(|word| word.key.as_str()).collect::<Vec<_>>().join(" ")
}

/// Words as they were said.
fn said(words: &[ClaimTerm]) -> String {
    words.iter().map(|word| word.said.as_str()).collect::<Vec<_>>().join(" ")
}
