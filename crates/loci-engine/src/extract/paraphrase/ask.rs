//! What is asked for, to be kept and to be done?

use super::super::clause::base;
use super::super::lexicon::{self, within};
use super::super::opener::Opening;
use super::super::verbs::verb;
use super::super::when::Dated;
use super::super::word::{Shape, Word, capitalised};
use super::{Found, begins, lower, say, with};

/// "Remind me tomorrow to call Bob."
pub(super) fn reminder(words: &[Word]) -> Found {
    if let Some(told) = set_reminder(words) {
        return Some((told, "reminder"));
    }
    let start = words.iter().take(5).position(|word| word.is("remind"))?;
    let asked = words[..start]
        .iter()
        .all(|word| word.any(&["can", "could", "will", "would", "you", "please", "also", "and", "pls"]));
    if !asked || lower(words, start + 1) != "me" {
        return None;
    }
    let rest = &words[start + 2..];
    let to = rest.iter().take(6).position(|word| word.any(&["to", "about", "that"]))?;
    let mut told = match lower(rest, to) {
        "to" => with("I want a reminder to", &rest[to + 1..]),
        "about" => with("I want a reminder about", &rest[to + 1..]),
        _ => return None,
    };
    while told.last().is_some_and(|word| word.any(&[".", "?", "!", ",", "please"])) {
        told.pop();
    }
    told.extend(rest[..to].iter().cloned());
    Some((told, "reminder"))
}

/// "Set a reminder for tomorrow at 9 to call Bob."
fn set_reminder(words: &[Word]) -> Option<Vec<Word>> {
    let place = words.iter().take(8).position(|word| word.is("reminder"))?;
    let asked = words[..place].iter().all(|word| {
        word.any(&["can", "could", "you", "please", "set", "add", "create", "me", "a", "up", "make", "also"])
    });
    let rest = &words[place + 1..];
    let to = rest.iter().take(8).position(|word| word.any(&["to", "about"])).filter(|to| rest.len() > to + 1)?;
    if !asked || !words[..place].iter().any(|word| word.any(&["set", "add", "create", "make"])) {
        return None;
    }
    let mut told =
        with(if rest[to].is("to") { "I want a reminder to" } else { "I want a reminder about" }, &rest[to + 1..]);
    while told.last().is_some_and(|word| word.any(&[".", "?", "!", ",", "please"])) {
        told.pop();
    }
    told.extend(rest[..to].iter().filter(|word| !word.is("for")).cloned());
    Some(told)
}

/// "Call me Ana", "people call me Ana", "I'm Ana".
pub(super) fn named(words: &[Word]) -> Found {
    if begins(words, "i am")
        && words.get(2).is_some_and(is_name)
        && words.get(3).is_none_or(|next| next.shape == Shape::Mark || next.any(&["from", "and", "by"]))
    {
        let mut told = say("my name is");
        told.push(words[2].clone());
        return Some((told, "name"));
    }
    let call = words.iter().take(6).position(|word| word.any(&["call", "calls"]))?;
    if lower(words, call + 1) != "me" || words[..call].iter().any(|word| word.any(&["not", "will", "to", "did"])) {
        return None;
    }
    let name = words.get(call + 2).filter(|word| word.shape == Shape::Word)?;
    let fits = name.capital() || words.len() <= call + 4;
    let verbal = within(lexicon::PREPOSITIONS, &name.lower)
        || within(lexicon::CALENDAR, &name.lower)
        || name.any(&["back", "a", "when", "if", "later", "an", "maybe", "now"]);
    if !fits || verbal {
        return None;
    }
    let mut told = say("my preferred name is");
    told.push(name.instead(&capitalised(&name.text)));
    if let Some(next) = words.get(call + 3).filter(|next| next.capital()) {
        told.push(next.clone());
    }
    Some((told, "name"))
}

/// Whether a word can only be someone's name behind "I am".
fn is_name(word: &Word) -> bool {
    word.capital()
        && word.text.chars().count() > 2
        && word.text.chars().skip(1).all(char::is_lowercase)
        && !within(lexicon::TRAITS, &word.lower)
        && !within(lexicon::FEELINGS, &word.lower)
        && !within(lexicon::ROLES, &word.lower)
        && !within(lexicon::TOOLS, &word.lower)
        && !within(lexicon::CALENDAR, &word.lower)
        && verb(&word.lower).is_none()
}

/// "Remember to renew my passport", "deploy by Friday", "todo: pay rent".
pub(super) fn duty(words: &[Word], opening: &Opening, dates: &[Dated]) -> Found {
    let label =
        ["todo :", "to do :", "action item :", "task :", "reminder :"].into_iter().find(|label| begins(words, label));
    if let Some(label) = label {
        let rest = &words[label.split(' ').count()..];
        return base(lower(rest, 0)).then(|| (with("I need to", rest), "task"));
    }
    let first = words.first()?;
    if opening.duty && base(&first.lower) {
        return Some((with("I need to", words), "reminder"));
    }
    if begins(words, "need to") || begins(words, "have to") || begins(words, "must") || begins(words, "gotta") {
        return Some((with("I", words), "task"));
    }
    let ordered = base(&first.lower) && !words.iter().any(|word| word.any(&["me", "you", "this", "that"]));
    let for_now = first.any(&[
        "show",
        "tell",
        "write",
        "translate",
        "explain",
        "summarise",
        "summarize",
        "list",
        "give",
        "generate",
        "help",
        "find",
        "search",
        "use",
        "let",
        "remember",
        "compare",
        "am",
        "have",
        "be",
        "do",
        "love",
        "hate",
        "like",
        "prefer",
    ]);
    let by = |dated: &Dated| {
        words.iter().enumerate().any(|(place, word)| {
            word.at.start >= dated.at.start
                && word.at.start < dated.at.end
                && place > 0
                && (words[place - 1].any(&["by", "before"]) || word.any(&["before", "until"]))
        })
    };
    (ordered && !for_now && dates.iter().any(by)).then(|| (with("I need to", words), "task"))
}

/// Orders that hold for every turn to come.
pub(super) fn standing(words: &[Word], opening: &Opening) -> Found {
    let asked = begins(words, "when you") || begins(words, "whenever you");
    let comma = words.iter().position(|word| word.is(",")).filter(|_| asked);
    let start = comma.map_or(0, |comma| comma + 1);
    let start = start + words[start..].iter().take_while(|word| word.any(&["please", "kindly"])).count();
    let first = words.get(start)?;
    let rest = &words[start..];
    let always = first.any(&["always", "never"]) && base(lower(rest, 1));
    let never = begins(rest, "do not ever") && base(lower(rest, 3));
    let replies = rest.iter().any(|word| {
        word.any(&[
            "answers",
            "replies",
            "responses",
            "answer",
            "reply",
            "explanations",
            "messages",
            "respond",
            "emojis",
            "emoji",
            "comments",
            "english",
            "portuguese",
            "russian",
        ])
    });
    const MANNERS: &[&str] = &[
        "concise", "brief", "short", "formal", "polite", "informal", "casual", "friendly", "direct", "honest",
        "precise", "terse", "blunt",
    ];
    let manners = first.is("be") && rest.len() <= 5 && rest.iter().any(|word| word.any(MANNERS));
    let stops = first.is("stop")
        && rest.get(1).is_some_and(|word| {
            word.any(&[
                "apologizing",
                "apologising",
                "saying",
                "calling",
                "using",
                "asking",
                "repeating",
                "adding",
                "suggesting",
            ])
        });
    let kept = manners
        || stops
        || comma.is_some() && base(&first.lower)
        || first.any(&["keep", "stop", "avoid", "answer", "reply", "respond", "write"]) && replies && opening.standing
        || begins(rest, "keep your") && replies
        || begins(rest, "keep answers")
        || begins(rest, "keep replies")
        || begins(rest, "keep responses")
        || begins(rest, "do not") && replies
        || begins(rest, "no emojis");
    let ruled = opening.standing && (base(&first.lower) || first.is("do"));
    let use_for = first.is("use")
        && rest.iter().skip(2).any(|word| word.is("for"))
        && !rest.iter().any(|word| word.any(&["this", "that", "it", "these", "the", "a", "an"]));
    // "Give quantities in grams."
    let units = first.any(&["give", "state", "write", "express", "quote", "list", "show"])
        && rest.get(1).is_some_and(|word| word.lower.ends_with('s') && word.lower.len() > 4)
        && lower(rest, 2) == "in";
    let kept = kept || units;
    if !(always || never || kept || ruled || use_for) {
        return None;
    }
    let mut told: Vec<Word> = Vec::new();
    if never {
        told.push(first.instead("never"));
        told.extend_from_slice(&rest[3..]);
    } else if ruled && !use_for && begins(rest, "do not") {
        told.push(first.instead("never"));
        told.extend_from_slice(&rest[2..]);
    } else {
        told.extend_from_slice(rest);
    }
    if units {
        told.truncate(told.iter().position(|word| word.any(&[";", ",", "."])).unwrap_or(told.len()));
    }
    let told: Vec<Word> = told.into_iter().filter(|word| !word.any(&["your", "please"])).collect();
    let about_replies = replies || kept;
    let pattern = if about_replies { "tone" } else { "rule" };
    if !about_replies {
        return Some((told, pattern));
    }
    if begins(&told, "do not") {
        return Some((with("I want the assistant not to", &told[2..]), pattern));
    }
    let tail = if begins(&told, "no emojis") { with("never use", &told[1..]) } else { told };
    // "Me" is the one who is answered.
    Some((with("I want the assistant to", &tail), pattern))
}
