//! Which steps does someone tell, one after the other?
//!
//! Only where the words say so: "to deploy, first …, then …", "the way we release is …", a numbered
//! list under a heading. A procedure is written as numbered orders.

use super::clause::base;
use super::lexicon::{self, within};
use super::paraphrase::begins;
use super::prose::Sentence;
use super::verbs::{Form, verb};
use super::word::{Shape, Word, capitalised, join, words};

/// A procedure, and up to which sentence it was told.
pub(crate) struct Procedure {
    pub(crate) content: String,
    pub(crate) end: usize,
}

/// The procedure that begins at a sentence.
pub(crate) fn procedure(sentences: &[Sentence<'_>], start: usize) -> Option<Procedure> {
    let sentence = sentences.get(start)?;
    if sentence.asks {
        return None;
    }
    let words = words(sentence.text);
    let (title, behind) = title(&words)?;
    let mut steps = parts(&words[behind..]);
    let mut end = start + 1;
    let listed = steps.is_empty();
    while let Some(next) = sentences.get(end) {
        let words = super::word::words(next.text);
        let goes_on =
            words.first().is_some_and(|word| word.any(&["then", "next", "finally", "lastly", "afterwards", "after"]))
                && steps.len() < 20;
        let numbered = listed && (next.step.is_some() || bulleted(&words));
        if !goes_on && !numbered || next.asks {
            break;
        }
        steps.extend(parts(&words));
        end += 1;
    }
    let mut object = None;
    let orders: Option<Vec<String>> = steps.iter().map(|step| order(step, &mut object)).collect();
    let orders = match orders.filter(|orders| orders.len() > 1) {
        Some(orders) => orders,
        // What was asked to be remembered is kept in its own words.
        None if asked(&words).is_some() && end == start + 1 => verbatim(&words[behind..]),
        None => return None,
    };
    if orders.len() < 2 {
        return None;
    }
    let mut content = format!("To {title}:");
    for (number, order) in orders.iter().enumerate() {
        content.push_str(&format!("\n{}. {order}", number + 1));
    }
    Some(Procedure { content, end })
}

/// The steps as they were told.
fn verbatim(words: &[Word]) -> Vec<String> {
    let first: Vec<Word> =
        words.iter().take_while(|word| word.speaks() && verb(&word.lower).is_none()).cloned().collect();
    let object = Some(join(&plain(&first))).filter(|_| first.len() > 1 && first.len() < 4);
    let named = |word: &Word| match &object {
        Some(object) if word.any(&["them", "it", "they"]) => word.instead(object),
        _ => word.clone(),
    };
    let told = words.split(|word| word.any(&[",", ";"])).map(|part| {
        let lead = part.iter().take_while(|word| word.any(&["and", "then", "first", "finally"])).count();
        let part: Vec<Word> = part[lead..].iter().filter(|word| !word.any(&[".", "!"])).map(named).collect();
        capitalised(&join(&plain(&part)))
    });
    told.filter(|step| !step.is_empty()).collect()
}

/// A line under a heading that is an order.
fn bulleted(words: &[Word]) -> bool {
    words.first().is_some_and(|word| base(&word.lower))
}

/// What the steps are for, and where they begin.
fn title(words: &[Word]) -> Option<(String, usize)> {
    let start = words
        .iter()
        .position(|word| !word.any(&["so", "ok", "okay", ",", "btw", "remember", ":", "note", "fyi", "and", "well"]))
        .unwrap_or(0);
    let start = asked(words).unwrap_or(start);
    let words_from = &words[start..];
    let found = if begins(words_from, "to") && base(&words_from.get(1)?.lower) {
        let comma = words_from.iter().take(10).position(|word| word.any(&[",", ":"]))?;
        (1, comma, comma + 1)
    } else {
        let heads = [
            "the way we",
            "the way i",
            "here is how we",
            "here is how i",
            "here is how to",
            "this is how we",
            "how to",
            "how we",
            "how i",
            "steps to",
            "the steps to",
            "our process to",
            "the process to",
        ];
        let head = heads.into_iter().find(|head| begins(words_from, head))?;
        let from = head.split(' ').count();
        let stop = words_from
            .iter()
            .take(12)
            .position(|word| word.any(&[":", "is", "are", ","]))
            .or(Some(words_from.len()))?;
        (from, stop, (stop + 1).min(words_from.len()))
    };
    let (from, stop, behind) = found;
    let title: Vec<Word> = words_from.get(from..stop)?.to_vec();
    let first = title.first()?;
    if !base(&first.lower) || title.iter().any(|word| word.any(&["you", "it", "this", "that", "me"])) {
        return None;
    }
    let mut steps_at = start + behind;
    while words.get(steps_at).is_some_and(|word| word.any(&[":", "to", "by", "that", ","])) {
        steps_at += 1;
    }
    Some((join(&plain(&title)), steps_at))
}

/// Where the way to do something begins, if it was asked to be remembered: "remember how we deploy".
pub(super) fn asked(words: &[Word]) -> Option<usize> {
    let colon = words.iter().position(|word| word.is(":"))?;
    let how = words[..colon].iter().position(|word| word.is("how") || word.is("way"))?;
    let asks =
        words[..how].iter().any(|word| word.any(&["remember", "note", "forget", "lose", "save", "store", "memo"]));
    let start = if words[how].is("way") { how.checked_sub(1).filter(|the| words[*the].is("the"))? } else { how };
    asks.then_some(start)
}

/// The words without whose it is.
fn plain(words: &[Word]) -> Vec<Word> {
    words.iter().map(|word| if word.any(&["my", "our", "your"]) { word.instead("the") } else { word.clone() }).collect()
}

/// Cuts the telling into steps.
fn parts(words: &[Word]) -> Vec<Vec<Word>> {
    let mut parts: Vec<Vec<Word>> = vec![Vec::new()];
    let mut place = 0;
    while place < words.len() {
        let word = &words[place];
        let next = words.get(place + 1);
        let joint = word.any(&[",", ";", ".", "→", ">"])
            || word.any(&["then", "finally", "next", "lastly", "afterwards"])
            || word.is("and") && next.is_some_and(|next| next.any(&["then", "finally"]) || base(&next.lower));
        let stops = joint && (word.shape != Shape::Mark || follows(words, place + 1));
        if stops || word.shape == Shape::Mark && (place + 1 == words.len()) {
            if parts.last().is_some_and(|part| !part.is_empty()) {
                parts.push(Vec::new());
            }
        } else if let Some(part) = parts.last_mut() {
            part.push(word.clone());
        }
        place += 1;
    }
    parts.retain(|part| part.iter().any(Word::speaks));
    parts
}

/// Whether a step begins behind a mark: an order, or a word that opens one.
fn follows(words: &[Word], place: usize) -> bool {
    words.get(place).is_none_or(|word| {
        base(&word.lower)
            || word.any(&["then", "finally", "next", "and", "you", "we", "lastly", "after", "first", "afterwards"])
            || verb(&word.lower).is_some_and(|(_, form)| form == Form::Ing)
    })
}

/// Words that open a step and are no part of it.
const LEADS: &[&str] = &[
    "first",
    "firstly",
    "second",
    "third",
    "then",
    "next",
    "finally",
    "lastly",
    "and",
    "you",
    "we",
    "i",
    "just",
    "simply",
    "always",
    "should",
    "must",
    "need",
    "have",
    "to",
    "after",
    "that",
    ",",
    "afterwards",
    "can",
    "also",
    "now",
    "please",
    "will",
    "by",
    "of",
    "all",
];

/// A step as an order.
fn order(step: &[Word], object: &mut Option<String>) -> Option<String> {
    let lead = step.iter().take_while(|word| LEADS.contains(&word.lower.as_str())).count();
    let mut words = plain(step.get(lead..)?);
    let first = words.first_mut()?;
    let (lemma, form) = match verb(&first.lower) {
        Some(known) => known,
        None if first.shape == Shape::Code => ("", Form::Base),
        // A command that is no English verb: "ssh into the box".
        None if !within(lexicon::DETERMINERS, &first.lower)
            && !within(lexicon::PREPOSITIONS, &first.lower)
            && first.shape == Shape::Word
            && !first.capital() =>
        {
            ("", Form::Base)
        }
        None => return None,
    };
    if lemma.is_empty() {
        // It stays as it is written.
    } else if matches!(form, Form::Ing | Form::Base) || lemma == first.lower {
        *first = first.instead(lemma);
    } else {
        return None;
    }
    while words.last().is_some_and(|word| word.shape == Shape::Mark && !word.any(&[")", "%"])) {
        words.pop();
    }
    // "Tag it": what the step before was about.
    for word in &mut words {
        if word.any(&["it", "them"]) {
            *word = word.instead(object.as_deref()?);
        }
    }
    let noun: Vec<Word> = words[1..]
        .iter()
        .take_while(|word| !within(lexicon::PREPOSITIONS, &word.lower) && word.speaks())
        .cloned()
        .collect();
    if !noun.is_empty() {
        *object = Some(join(&noun));
    }
    let text = join(&words);
    Some(if words[0].shape == Shape::Code { text } else { capitalised(&text) })
}

#[cfg(test)]
mod tests {
    use super::super::prose::sentences;
    use super::*;

    #[test]
    fn procedures_are_numbered_orders() {
        for (text, expect) in [
            (
                "To deploy, first run make build, then push the tag.",
                Some("To deploy:\n1. Run make build\n2. Push the tag"),
            ),
            (
                "The way we release is: bump the version, tag the commit and push our image.",
                Some("To release:\n1. Bump the version\n2. Tag the commit\n3. Push the image"),
            ),
            (
                "How to restart the API:\n1. Drain the node\n2. Run `systemctl restart api`\n3. Check the logs",
                Some("To restart the API:\n1. Drain the node\n2. Run `systemctl restart api`\n3. Check the logs"),
            ),
            ("To deploy you run make. Then pray.", None),
            (
                "To rotate keys, open the vault. Then create a new key. Finally delete the old one.",
                Some("To rotate keys:\n1. Open the vault\n2. Create a new key\n3. Delete the old one"),
            ),
            ("To be honest, I like tea.", None),
            ("How to deploy?", None),
        ] {
            let found = procedure(&sentences(text), 0).map(|procedure| procedure.content);
            assert_eq!(found.as_deref(), expect, "{text}");
        }
    }
}
