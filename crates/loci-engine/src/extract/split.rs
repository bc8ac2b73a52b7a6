//! Where does one statement end inside a sentence, and the next begin?
//!
//! "I live in Porto and work at Acme" are two. A part that has no subject of its own takes over the
//! one before it. Words in front ("last week", "at work,") move behind what they belong to.

use super::clause::{Clause, Mood, Who, base, finite};
use super::lexicon::{self, within};
use super::verbs::{Form, verb};
use super::word::{Shape, Word};

/// The clauses of a sentence, each with a subject where one can be found.
pub(crate) fn clauses(words: Vec<Word>) -> Vec<Vec<Word>> {
    let words = subject_first(words);
    let mut parts: Vec<Vec<Word>> = Vec::new();
    let mut current: Vec<Word> = Vec::new();
    let mut depth = 0_usize;
    let mut place = 0;
    while place < words.len() {
        let word = &words[place];
        match word.text.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let length = if depth == 0 { joint(&words, place) } else { 0 };
        if length > 0
            && let Some(subject) = starts(&current, &words[place..place + length], &words[place + length..])
        {
            parts.push(std::mem::take(&mut current));
            current.extend(subject);
            place += length;
            // "And also", "but now".
            while words.get(place).is_some_and(|word| word.any(&["also", "then", "now", "just", "still", "yet"])) {
                place += 1;
            }
            continue;
        }
        current.push(word.clone());
        place += 1;
    }
    parts.push(current);
    parts.retain(|part| part.iter().any(Word::speaks));
    parts
}

/// How many words join two clauses here; none: this is no joint.
fn joint(words: &[Word], place: usize) -> usize {
    let lower = |place: usize| words.get(place).map_or("", |word| word.lower.as_str());
    match lower(place) {
        ";" | "—" | "–" => 1,
        ":" if words[..place].iter().filter(|word| word.speaks()).count() > 3 => 1,
        "-" if !words[place].glued => 1,
        "," if matches!(lower(place + 1), "and" | "but" | "so" | "plus" | "yet") => 2,
        "," => 1,
        "and" | "but" | "plus" => 1,
        "so" if lower(place + 1) != "that" => 1,
        _ => 0,
    }
}

/// The words to begin the next clause with, if one begins behind this joint.
fn starts(current: &[Word], joint: &[Word], rest: &[Word]) -> Option<Vec<Word>> {
    let hard = joint[0].any(&[";", "—", "–", "-"]);
    let first = rest.iter().find(|word| !word.any(&["also", "then", "now", "just", "still", "yet"]))?;
    let skipped = rest.iter().position(|word| std::ptr::eq(word, first))?;
    let before = Clause::read(current.to_vec());
    if hard && (own_subject(&rest[skipped..]) || before.is_some()) {
        return Some(Vec::new());
    }
    let goes_on = own_subject(&rest[skipped..]) || joint[0].is(",") && stray(&rest[skipped..]);
    if goes_on
        && (before.is_some()
            || complete(current)
            || lead_in(current, joint)
            || joint.len() == 2 && first.any(&["i", "we"]))
    {
        return Some(Vec::new());
    }
    let before = before?;
    let shared =
        !first.capital() && shares(&before, first, rest.get(skipped + 1), joint[0].is(",") && joint.len() == 1);
    shared.then(|| before.subject_words().to_vec())
}

/// Whether a part only leads up to what follows: "good news from the lab," says nothing yet.
fn lead_in(current: &[Word], joint: &[Word]) -> bool {
    let circumstance = current.first().is_some_and(|word| {
        LEADING.contains(&word.lower.as_str()) && !word.is("a") || within(lexicon::SUBORDINATORS, &word.lower)
    });
    let named = current.iter().filter(|word| word.speaks()).all(Word::capital);
    let says = current.iter().any(|word| finite(&word.lower));
    joint[0].any(&[",", ":"]) && joint.len() == 1 && !says && !circumstance && !named
}

/// Whether one word stands before someone and what they do: "honestly I eat meat", however it is spelt.
pub(crate) fn stray(words: &[Word]) -> bool {
    let Some(first) = words.first() else { return false };
    let plain = first.shape == Shape::Word
        && first.lower.len() > 3
        && !first.capital()
        && verb(&first.lower).is_none()
        && !within(lexicon::SUBORDINATORS, &first.lower)
        && !within(lexicon::PREPOSITIONS, &first.lower)
        && !within(lexicon::DETERMINERS, &first.lower)
        && !first.any(&["what", "maybe", "perhaps", "wish", "unless", "imagine", "suppose", "hopefully", "whether"]);
    plain && words.get(1).is_some_and(|word| word.any(&["i", "we"])) && own_subject(&words[1..])
}

/// Whether a part without a verb still stands for itself: "yes", "sure thing".
fn complete(current: &[Word]) -> bool {
    current.iter().filter(|word| word.speaks()).count() <= 2
        && !current.iter().any(|word| within(lexicon::DETERMINERS, &word.lower))
        && !current.first().is_some_and(|word| word.capital() && !within(lexicon::GREETINGS, &word.lower))
}

/// Whether the words begin with someone and what they do.
fn own_subject(words: &[Word]) -> bool {
    let Some(first) = words.first() else { return false };
    let next = |place: usize| words.get(place).map_or("", |word| word.lower.as_str());
    match first.lower.as_str() {
        "i" | "we" | "he" | "she" | "they" | "you" | "it" | "there" => {
            words.iter().skip(1).take(3).any(|word| base(&word.lower) || finite(&word.lower) || word.is("no"))
        }
        "please" | "remind" => true,
        "do" | "does" | "did" | "can" | "could" | "would" => matches!(next(1), "you" | "i" | "we" | "they" | "anyone"),
        "let" => next(1) == "us",
        lower => {
            let known = within(lexicon::DETERMINERS, lower)
                || first.capital()
                || first.owner()
                || matches!(lower, "half" | "most" | "all" | "mum" | "dad" | "mom");
            let known = known
                || next(1) == "is"
                    && verb(lower).is_none()
                    && first.shape == Shape::Word
                    && !within(lexicon::SUBORDINATORS, lower)
                    && !matches!(lower, "what" | "who" | "how" | "why" | "which" | "where" | "here" | "this");
            known
                && words
                    .iter()
                    .take(9)
                    .skip(1)
                    .take_while(|word| word.shape != Shape::Mark && !word.any(&["and", "or"]))
                    .any(|word| finite(&word.lower) && !within(lexicon::SUBORDINATORS, &word.lower))
                && Clause::read(words.to_vec()).is_some_and(|clause| clause.who == Who::Thing)
        }
    }
}

/// Verbs that follow a bare comma in a list of what someone does.
const LISTED: &[&str] =
    &["live", "work", "have", "love", "like", "hate", "prefer", "use", "study", "play", "speak", "own", "am", "is"];

/// Whether a verb goes on with what the clause before is about.
fn shares(before: &Clause, first: &Word, next: Option<&Word>, comma: bool) -> bool {
    if !matches!(before.mood, Mood::Plain | Mood::Perfect | Mood::Progressive) || before.who == Who::Nobody {
        return false;
    }
    if before.next(0) == "to" || before.rest().windows(2).any(|two| two[0].is("to") && base(&two[1].lower)) {
        return before.lemma == "move" && finite(&first.lower);
    }
    let Some(next) = next.filter(|next| next.speaks()) else {
        return matches!(verb(&first.lower), Some((_, Form::Third))) && before.who == Who::Thing && !comma;
    };
    if next.any(&["and", "or", "is", "are"]) || comma && !LISTED.contains(&first.lower.as_str()) {
        return false;
    }
    let personal = matches!(before.who, Who::I | Who::We);
    match (first.lower.as_str(), verb(&first.lower)) {
        ("am", _) => before.who == Who::I,
        ("is" | "has" | "does", _) => !personal,
        ("do" | "can" | "will", _) => next.is("not") || first.is("will"),
        (_, Some((_, Form::Base))) => personal && before.form != Form::Past && !noun_like(first, next),
        (_, Some((_, Form::Third))) => !personal,
        (_, Some((_, Form::Past))) => before.form == Form::Past && !before.rest().is_empty(),
        _ => false,
    }
}

/// "I like work and play too": the verb may be a noun when nothing follows that a verb takes.
fn noun_like(first: &Word, next: &Word) -> bool {
    let takes = next.capital()
        || within(lexicon::DETERMINERS, &next.lower)
        || within(lexicon::PREPOSITIONS, &next.lower)
        || next.digits()
        || within(lexicon::NUMBERS, &next.lower)
        || verb(&next.lower).is_some_and(|(_, form)| form == Form::Ing)
        || next.is("not")
        || LISTED.contains(&first.lower.as_str());
    !takes
}

/// Words that a time or a circumstance in front begins with.
const LEADING: &[&str] = &[
    "in",
    "on",
    "at",
    "since",
    "for",
    "last",
    "next",
    "this",
    "yesterday",
    "today",
    "tomorrow",
    "as",
    "after",
    "before",
    "during",
    "until",
    "by",
    "recently",
    "two",
    "three",
    "a",
    "with",
    "when",
    "over",
    "these",
    "back",
    "starting",
    "currently",
    "every",
    "tonight",
    "nowadays",
    "lately",
    "earlier",
    "because",
    "while",
    "now",
];

/// Moves what stands in front of the subject behind the rest.
fn subject_first(mut words: Vec<Word>) -> Vec<Word> {
    let Some(first) = words.first() else { return words };
    // "Tuesdays and Fridays I go running."
    let weekly = within(lexicon::CALENDAR, &first.lower) && first.lower.ends_with("days");
    let surprise = first.is("to") && words.get(1).is_some_and(|word| word.any(&["my", "our"]));
    if !LEADING.contains(&first.lower.as_str()) && !weekly && !surprise {
        return words;
    }
    let comma = words.iter().take(12).position(|word| word.is(","));
    let subject = words.iter().enumerate().take(12).skip(1).find(|(place, word)| {
        (word.any(&["i", "we"]) || word.any(&["my", "our"]) && !surprise)
            && words[place + 1..].iter().take(4).any(|next| base(&next.lower) || finite(&next.lower))
    });
    let (start, skip) = match (comma, subject) {
        (Some(comma), _) if own_subject(&words[comma + 1..]) => (comma, 1),
        // "With my sister I speak French": the first word that owns something is no subject.
        (_, Some((place, word))) if word.any(&["i", "we"]) => (place, 0),
        (_, Some((place, _))) if !within(lexicon::PREPOSITIONS, &words[place - 1].lower) => (place, 0),
        _ => return words,
    };
    let behind = words.split_off(start + skip);
    words.truncate(start);
    let circumstance = words.first().is_some_and(|word| word.any(&["when", "because", "as", "while"]));
    let mut moved = behind;
    if circumstance || surprise {
        return moved;
    }
    if weekly {
        words.splice(0..0, super::paraphrase::say("on"));
    }
    while moved.last().is_some_and(|word| word.any(&[".", "!", "…"])) {
        moved.pop();
    }
    if let Some(first) = words.first_mut() {
        let lower = first.text.to_lowercase();
        if LEADING.contains(&lower.as_str()) {
            first.text = lower;
        }
        first.glued = false;
    }
    // A reason stays at the end.
    let reason = moved.iter().position(|word| word.is("because")).unwrap_or(moved.len());
    moved.splice(reason..reason, words);
    moved
}

#[cfg(test)]
mod tests {
    use super::super::word::{join, words};
    use super::*;

    #[test]
    fn sentences_fall_into_clauses() {
        for (text, expect) in [
            ("I live in Porto and work at Acme", "I live in Porto|I work at Acme"),
            ("I live in Porto, work at Acme and have two kids", "I live in Porto|I work at Acme|I have two kids"),
            ("I have a dog and a cat", "I have a dog and a cat"),
            ("I like tea but I hate coffee", "I like tea|I hate coffee"),
            ("I use Rust and Go", "I use Rust and Go"),
            ("I need to buy milk and call Bob", "I need to buy milk and call Bob"),
            ("Last week we scaled to 5 nodes", "we scaled to 5 nodes last week"),
            ("At work, I use Emacs", "I use Emacs at work"),
            ("My sister Marta and I live in Porto", "My sister Marta and I live in Porto"),
            ("Marta works at Acme and lives in Rome", "Marta works at Acme|Marta lives in Rome"),
            ("I work at Acme; my wife is a nurse", "I work at Acme|my wife is a nurse"),
            ("I quit Acme and joined Initech", "I quit Acme|I joined Initech"),
            ("I love hiking, my brother loves chess", "I love hiking|my brother loves chess"),
            ("When I was 5, we moved to Rome", "we moved to Rome"),
        ] {
            let parts: Vec<String> = clauses(words(text)).iter().map(|part| join(part)).collect();
            assert_eq!(parts.join("|"), expect);
        }
    }
}
