//! Which parts of a sentence are statements, and what do they say beside their words?

use super::super::clause::{Clause, Mood, Who};
use super::super::lexicon::{self, within};
use super::super::opener::Opening;
use super::super::paraphrase::{begins, longs, say};
use super::super::retell::Told;
use super::super::verbs::Form;
use super::super::word::{Shape, Word, capitalised};

pub(super) fn is_past(clause: &Clause) -> bool {
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

pub(super) fn remind(words: &[Word]) -> bool {
    words.iter().take(5).any(|word| word.is("remind"))
}

/// Whether a sentence is talk: a question, a greeting, a thought of what might be.
pub(super) fn is_talk(words: &[Word], asks: bool) -> bool {
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
    // Of "yes" nothing is left once its opener is gone.
    let Some(first) = words.first() else { return true };
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
            && !longs(words)
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
    let asked = asks && ASKS.contains(&first.lower.as_str()) || inverted || quoted;
    unreal || asked && !reminds
}

/// "I was wrong about the port, it is 4000": the port is 4000.
pub(super) fn about(words: &mut Vec<Word>, opening: &Opening) {
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
pub(super) fn appositions(words: Vec<Word>) -> Vec<Vec<Word>> {
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
pub(super) fn household(clause: &Clause) -> bool {
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
pub(super) fn extra(clause: &Clause, told: &Told) -> Option<String> {
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
        .then(|| format!("{} no longer uses {}", told.subject, super::super::word::join(old)))
}

/// "Deployed v2 to staging", whoever did it.
pub(super) fn without_subject(clause: &Clause, told: &Told) -> String {
    let content = told.content.strip_prefix(told.subject.as_str()).unwrap_or(&told.content).trim_start();
    let content = content.strip_prefix("has ").or_else(|| content.strip_prefix("have ")).unwrap_or(content);
    let _ = clause;
    capitalised(content)
}

/// Gives names their capitals where someone types without any.
pub(super) fn capitalise(clause: &mut Clause) {
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
