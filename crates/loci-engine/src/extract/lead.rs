//! What has to be put straight before a sentence is cut into clauses?
//!
//! "My sister Kat, she lives in Vienna" has two subjects for one verb, "the papers, which must be
//! marked by 9 June" says something of the papers, "they wrote to say that …" says only what
//! follows. Each is put into plain clauses here.

use super::clause::finite;
use super::lexicon::{self, within};
use super::paraphrase::{begins, say};
use super::verbs::{Form, verb};
use super::word::{Shape, Word};

/// The sentence in plain order, and what its relative clauses say of their nouns.
pub(crate) fn straight(mut words: Vec<Word>) -> (Vec<Word>, Vec<Vec<Word>>) {
    reported(&mut words);
    dislocated(&mut words);
    let words =
        cleft(&words).or_else(|| given(&words)).or_else(|| both(&words)).or_else(|| refused(&words)).unwrap_or(words);
    let mut words = words;
    let more = relative(&mut words);
    (words, more)
}

/// "The organisers wrote to say that the race is in May": the race is in May.
fn reported(words: &mut Vec<Word>) {
    const SAYS: &[&str] =
        &["say", "says", "said", "writes", "wrote", "confirmed", "announced", "confirms", "told", "tells", "told"];
    let Some(that) = words.iter().take(9).position(|word| word.is("that")).filter(|that| *that > 2) else { return };
    let told = words[that - 1].any(SAYS) || words[that - 1].any(&["me", "us"]) && words[that - 2].any(SAYS);
    let others = !words[..that].iter().any(|word| word.any(&["i", "you", "we", "not", "if", "would", "?"]));
    let states = words.get(that + 1).is_some_and(|word| word.capital() || within(lexicon::DETERMINERS, &word.lower));
    if told && others && states {
        words.drain(..=that);
    }
}

/// "My sister Kat, she lives in Vienna": my sister Kat lives in Vienna.
fn dislocated(words: &mut Vec<Word>) {
    for comma in 1..words.len().saturating_sub(2) {
        let pronoun = words[comma].is(",")
            && words[comma + 1].any(&["he", "she", "it", "they"])
            && finite(&words[comma + 2].lower);
        if !pronoun {
            continue;
        }
        let joint = words[..comma]
            .iter()
            .rposition(|word| word.shape == Shape::Mark || word.any(&["and", "then", "but"]))
            .map_or(0, |joint| joint + 1);
        let noun = &words[joint..comma];
        let owned = noun.first().is_some_and(|word| word.any(&["my", "our"]) || word.owner());
        if owned
            && (2..=4).contains(&noun.len())
            && noun.iter().all(|word| word.shape == Shape::Word && !finite(&word.lower))
        {
            words.drain(comma..comma + 2);
            return;
        }
    }
}

/// "It is Year 11 that I have been given": I have been given Year 11.
fn cleft(words: &[Word]) -> Option<Vec<Word>> {
    let start = words.windows(2).position(|two| two[0].is("it") && two[1].is("is"))?;
    let clean = start == 0 || words[start - 1].any(&[":", ",", ";"]);
    let that = words[start..].iter().take(8).position(|word| word.is("that"))? + start;
    if !clean || that < start + 3 || !words.get(that + 1)?.any(&["i", "we"]) {
        return None;
    }
    let end = words[that..].iter().position(|word| word.shape == Shape::Mark).map_or(words.len(), |place| place + that);
    let clause = &words[that + 1..end];
    let verb_at = clause.iter().rposition(|word| verb(&word.lower).is_some_and(|(_, form)| form == Form::Past))?;
    let mut told = clause[..=verb_at].to_vec();
    told.extend_from_slice(&words[start + 2..that]);
    told.extend_from_slice(&clause[verb_at + 1..]);
    Some(told)
}

/// "This term they have given me Year 9": I have been given Year 9 this term.
fn given(words: &[Word]) -> Option<Vec<Word>> {
    let they = words.iter().take(5).position(|word| word.is("they"))?;
    let gave = words[they..].iter().take(4).position(|word| word.any(&["given", "gave", "assigned", "made"]))? + they;
    if !words.get(gave + 1)?.is("me")
        || words[they..gave].iter().any(|word| word.any(&["not", "would", "could", "never"]))
    {
        return None;
    }
    let end = words[gave..].iter().position(|word| word.shape == Shape::Mark).map_or(words.len(), |place| place + gave);
    let mut told = say("I have been");
    told.push(words[gave].instead(if words[gave].is("gave") { "given" } else { words[gave].lower.as_str() }));
    told.extend_from_slice(&words[gave + 2..end]);
    told.extend(words[..they].iter().filter(|word| word.speaks()).cloned());
    Some(told)
}

/// "We share a room, he and I": I share it with him.
fn both(words: &[Word]) -> Option<Vec<Word>> {
    if !words.first()?.is("we") {
        return None;
    }
    let comma = words.windows(4).position(|four| {
        four[0].is(",") && (four[1].any(&["he", "she"]) || four[1].capital()) && four[2].is("and") && four[3].is("i")
    })?;
    let who = match words[comma + 1].lower.as_str() {
        "he" => words[comma + 1].instead("him"),
        "she" => words[comma + 1].instead("her"),
        _ => words[comma + 1].clone(),
    };
    let mut told = vec![words[0].instead("I")];
    told.extend_from_slice(&words[1..comma]);
    told.extend(say("with"));
    told.push(who);
    Some(told)
}

/// "No wine for me; a glass brings on a migraine": I avoid wine, because it does.
fn refused(words: &[Word]) -> Option<Vec<Word>> {
    if !words.first()?.is("no") {
        return None;
    }
    let me = words
        .iter()
        .take(7)
        .position(|word| word.is("for"))
        .filter(|place| *place > 1 && words.get(place + 1).is_some_and(|word| word.is("me")))?;
    let mut told = say("I avoid");
    told.extend_from_slice(&words[1..me]);
    let reason = words.iter().position(|word| word.any(&[";", ":", "—", "–"])).map(|joint| &words[joint + 1..]);
    if let Some(reason) = reason.filter(|reason| reason.len() > 2) {
        told.extend(say("because"));
        told.extend_from_slice(reason);
    }
    Some(told)
}

/// Takes relative clauses out: "the papers, which must be marked by 9 June".
fn relative(words: &mut Vec<Word>) -> Vec<Vec<Word>> {
    let mut more = Vec::new();
    let found = words.windows(3).position(|three| {
        three[0].is(",")
            && three[1].any(&["who", "which"])
            && (finite(&three[2].lower)
                || within(lexicon::AUXILIARIES, &three[2].lower)
                || three[1].is("who") && three[2].lower.ends_with('s'))
    });
    let Some(comma) = found.filter(|comma| *comma > 0) else { return more };
    let noun = if words[comma + 1].is("who") { person(&words[..comma]) } else { thing(&words[..comma]) };
    let end =
        words[comma + 1..].iter().position(|word| word.any(&[";", ","])).map_or(words.len(), |place| place + comma + 1);
    if let Some(noun) = noun {
        let mut told = noun;
        told.extend_from_slice(&words[comma + 2..end]);
        more.push(told);
        words.truncate(comma);
    }
    more
}

/// The one who was named last.
fn person(words: &[Word]) -> Option<Vec<Word>> {
    let last =
        words.iter().rposition(|word| word.capital() && !word.is("i") && !within(lexicon::CALENDAR, &word.lower))?;
    let first = (0..=last).rev().take_while(|place| words[*place].capital()).last()?;
    Some(words[first..=last].to_vec())
}

/// The noun that a sentence ends with, with its article.
fn thing(words: &[Word]) -> Option<Vec<Word>> {
    let start = words.iter().rposition(|word| within(lexicon::DETERMINERS, &word.lower) || word.owner())?;
    let noun = &words[start..];
    let plain = noun.len() > 1
        && noun.iter().all(|word| word.shape == Shape::Word && !within(lexicon::PREPOSITIONS, &word.lower));
    (plain && !noun[0].any(&["a", "an", "any", "some", "no", "this", "that"])).then(|| noun.to_vec())
}

/// What a lead-in like "change of plan on the queue," is about.
pub(crate) fn topic(part: &[Word]) -> Option<Vec<Word>> {
    let heads = [
        "change of plan on",
        "change of plans on",
        "change of plan for",
        "update on",
        "news on",
        "decision on",
        "verdict on",
        "as for",
        "about",
        "regarding",
    ];
    let head = heads.into_iter().find(|head| begins(part, head))?;
    let noun: Vec<Word> = part[head.split(' ').count()..].iter().filter(|word| word.speaks()).cloned().collect();
    (!noun.is_empty() && noun.len() <= 6 && !noun.iter().any(|word| finite(&word.lower))).then_some(noun)
}

/// "We decided on NATS because …", said of the queue: as the queue.
pub(crate) fn chosen_for(words: &mut Vec<Word>, topic: &[Word]) {
    let Some(verb_at) =
        words.iter().take(5).position(|word| word.any(&["decided", "chose", "picked", "settled", "went", "opted"]))
    else {
        return;
    };
    let name = verb_at + 1 + usize::from(words.get(verb_at + 1).is_some_and(|word| word.any(&["on", "with", "for"])));
    let joined = words.get(name + 1).is_some_and(|word| word.any(&["as", "for", "to"]));
    if joined || !words.get(name).is_some_and(|word| word.shape == Shape::Word) {
        return;
    }
    let length = words[name..].iter().take_while(|word| word.capital()).count().max(1);
    let mut told = say("as");
    told.extend_from_slice(topic);
    words.splice(name + length..name + length, told);
}

#[cfg(test)]
mod tests {
    use super::super::word::{join, words};
    use super::*;

    #[test]
    fn sentences_are_put_straight() {
        for (text, expect) in [
            ("my brother Jan, he lives in Brno", "my brother Jan lives in Brno"),
            ("the club wrote to say that the race is on 3 May", "the race is on 3 May"),
            ("it is Room 9 that we were given", "we were given Room 9"),
            ("they gave me Team B", "I have been given Team B"),
            ("we run a shop, she and I", "I run a shop with her"),
            ("no milk for me; it gives me hives", "I avoid milk because it gives me hives"),
            ("I marked the essays, which are due on 3 May", "I marked the essays | the essays are due on 3 May"),
            ("you know Olga, who teaches Latin", "you know Olga | Olga teaches Latin"),
            ("I live in Porto", "I live in Porto"),
        ] {
            let (told, more) = straight(words(text));
            let all: Vec<String> = std::iter::once(told).chain(more).map(|part| join(&part)).collect();
            assert_eq!(all.join(" | "), expect, "{text}");
        }
    }
}
