//! Which plain statement is meant by a turn of phrase?
//!
//! "Remind me to call Bob", "let's go with Postgres", "deploy by Friday", "port: 8080": each is put
//! into a plain clause first, so that reading, judging and retelling know one form of it. Words
//! that were not said stand on no bytes, so that no date is read out of them.

use super::clause::base;
use super::lexicon::{self, within};
use super::opener::Opening;
use super::verbs::verb;
use super::when::Dated;
use super::word::{Shape, Word, words};

mod changes;

use self::changes::{decided, labelled, lowered, moved, scaled, set, unsaid_subject};

/// A clause in plain words, and the pattern that it came from, if any.
pub(crate) type Plain = (Vec<Word>, Option<&'static str>);

/// Words that were not said.
pub(crate) fn say(text: &str) -> Vec<Word> {
    let mut said = words(text);
    for word in &mut said {
        word.at = 0..0;
    }
    said
}

fn with(head: &str, tail: &[Word]) -> Vec<Word> {
    let mut all = say(head);
    all.extend(tail.iter().cloned());
    if let Some(first) = all.get_mut(say(head).len()) {
        first.glued = false;
    }
    all
}

fn lower(words: &[Word], place: usize) -> &str {
    words.get(place).map_or("", |word| word.lower.as_str())
}

/// Whether the words begin so.
pub(crate) fn begins(words: &[Word], phrase: &str) -> bool {
    phrase.split(' ').enumerate().all(|(place, part)| lower(words, place) == part)
}

/// The clause in plain words.
pub(crate) fn plain(words: Vec<Word>, opening: &Opening, dates: &[Dated], assistant: bool) -> Plain {
    let found = if assistant {
        None
    } else {
        reminder(&words)
            .or_else(|| named(&words))
            .or_else(|| own_thing(&words))
            .or_else(|| on_days(&words))
            .or_else(|| harmful(&words))
            .or_else(|| duty(&words, opening, dates))
            .or_else(|| standing(&words, opening))
            .or_else(|| agreed(&words))
            .or_else(|| rather(&words))
            .or_else(|| longed(&words))
            .or_else(|| together(&words))
            .or_else(|| unsaid_subject(&words))
    };
    let found = found
        .or_else(|| decided(&words))
        .or_else(|| moved(&words).map(|told| (told, "change")))
        .or_else(|| scaled(&words))
        .or_else(|| set(&words))
        .or_else(|| labelled(&words, dates));
    match found {
        Some((words, pattern)) => (words, Some(pattern)),
        None => (words, None),
    }
}

type Found = Option<(Vec<Word>, &'static str)>;

/// "Remind me tomorrow to call Bob."
fn reminder(words: &[Word]) -> Found {
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
fn named(words: &[Word]) -> Found {
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
    told.push(name.instead(&super::word::capitalised(&name.text)));
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
fn duty(words: &[Word], opening: &Opening, dates: &[Dated]) -> Found {
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
fn standing(words: &[Word], opening: &Opening) -> Found {
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

/// "Let's go with Postgres."
fn agreed(words: &[Word]) -> Found {
    if !begins(words, "let us") {
        return None;
    }
    let place = 2 + usize::from(lower(words, 2) == "just");
    let firm = matches!(
        lower(words, place),
        "use"
            | "stick"
            | "switch"
            | "pick"
            | "choose"
            | "keep"
            | "adopt"
            | "drop"
            | "deploy"
            | "name"
            | "call"
            | "target"
            | "host"
            | "store"
            | "postpone"
            | "skip"
            | "standardise"
            | "standardize"
            | "settle"
    ) || begins(&words[place..], "go with")
        || begins(&words[place..], "go for")
        || begins(&words[place..], "move to")
        || begins(&words[place..], "move the")
        || begins(&words[place..], "do the")
        || begins(&words[place..], "ship the")
        || begins(&words[place..], "schedule the");
    if !firm {
        return None;
    }
    Some((with("I decided to", &words[place..]), "decision"))
}

/// "I'd rather use tabs than spaces": tabs are preferred.
fn rather(words: &[Word]) -> Found {
    if !begins(words, "i would rather") && !begins(words, "we would rather") {
        return None;
    }
    let rest = &words[3..];
    let skip = match lower(rest, 0) {
        "use" | "have" | "take" => 1,
        "go" if lower(rest, 1) == "with" => 2,
        "not" => return None,
        _ => 0,
    };
    let than = rest.iter().position(|word| word.is("than"));
    let mut told =
        if skip == 0 && base(lower(rest, 0)) && than.is_none() { say("I prefer to") } else { say("I prefer") };
    told.extend(rest[skip..].iter().map(|word| if word.is("than") { word.instead("over") } else { word.clone() }));
    Some((told, "rather"))
}

/// "I'd love to visit Japan" is a goal; "I'd like to know" is none.
fn longed(words: &[Word]) -> Found {
    let longs =
        begins(words, "i would love to") || begins(words, "i would like to") || begins(words, "we would love to");
    let goal = matches!(
        lower(words, 4),
        "visit" | "learn" | "travel" | "become" | "move" | "live" | "own" | "build" | "run" | "start"
    );
    (longs && goal).then(|| (with("I want to", &words[4..]), "longed"))
}

/// "My wife and I live in Porto": I live in Porto with my wife.
fn together(words: &[Word]) -> Found {
    let i = words.iter().take(6).position(|word| word.is("i")).filter(|i| *i > 1)?;
    let own = words[0].any(&["my"]) || words[0].capital() && !within(lexicon::DETERMINERS, &words[0].lower);
    if !words[i - 1].is("and") || !own || !base(lower(words, i + 1)) && verb(lower(words, i + 1)).is_none() {
        return None;
    }
    let mut told = words[i..].to_vec();
    while told.last().is_some_and(|word| word.shape == Shape::Mark) {
        told.pop();
    }
    if matches!(lower(words, i + 1), "share" | "run" | "own" | "have") {
        let end = told
            .iter()
            .position(|word| word.shape == Shape::Mark || within(lexicon::SUBORDINATORS, &word.lower))
            .unwrap_or(told.len());
        let mut with_whom = say("with");
        with_whom.extend(words[..i - 1].iter().cloned());
        told.splice(end..end, with_whom);
    }
    if matches!(lower(words, i + 1), "live" | "work" | "moved" | "are" | "got") {
        let wed = told.iter().any(|word| word.any(&["married", "engaged"]));
        told.extend(say(if wed { "to" } else { "with" }));
        told.extend(
            words[..i - 1]
                .iter()
                .enumerate()
                .map(|(place, word)| if place == 0 && word.is("my") { word.instead("my") } else { word.clone() }),
        );
    }
    Some((told, "together"))
}

/// "The new address is …" is mine, "the three of us" are we, "the thing I'm on is Heron" is my work.
fn own_thing(words: &[Word]) -> Found {
    let is = words.iter().take(5).position(|word| word.is("is"));
    if let Some(is) = is.filter(|is| *is > 1) {
        let own = words[is - 1].any(&["address", "name", "email", "phone"]);
        let bare = words[0].is("the") && words[1..is - 1].iter().all(|word| word.any(&["new", "current", "home"]));
        if own && bare {
            let mut told = say("my");
            told.extend_from_slice(&words[1..]);
            return Some((told, if words[is - 1].is("name") { "name" } else { "own" }));
        }
    }
    let of_us =
        words.iter().take(4).position(|word| word.is("of")).filter(|of| *of > 0 && lower(words, of + 1) == "us");
    if let Some(of) = of_us {
        let many = words[..of]
            .iter()
            .all(|word| word.any(&["the", "both", "all"]) || within(lexicon::NUMBERS, &word.lower) || word.digits());
        return many.then(|| (with("we", &words[of + 2..]), "us"));
    }
    let work = begins(words, "the") && words.get(1)?.any(&["thing", "project", "service", "app", "product", "system"]);
    let called = words.iter().position(|word| word.any(&["called", "named"])).filter(|_| work)?;
    let on = words[..called].iter().any(|word| word.any(&["i", "we"]))
        && words[..called].iter().any(|word| word.any(&["on", "building"]));
    (on && words.get(called + 1)?.capital()).then(|| (with("I am working on", &words[called + 1..called + 2]), "work"))
}

/// "Wednesday evenings are my pottery class": it is then.
fn on_days(words: &[Word]) -> Found {
    let first = words
        .first()
        .filter(|word| within(lexicon::CALENDAR, &word.lower) && word.lower.trim_end_matches('s').ends_with("day"))?;
    let is = words
        .iter()
        .take(4)
        .position(|word| word.any(&["is", "are"]))
        .filter(|is| words.get(is + 1).is_some_and(|word| word.any(&["my", "our"])))?;
    let end = words[is..].iter().position(|word| word.shape == Shape::Mark).map_or(words.len(), |place| place + is);
    let mut told = words[is + 1..end].to_vec();
    told.extend(say("is on"));
    told.push(first.clone());
    told.extend_from_slice(&words[1..is]);
    Some((told, "date"))
}

/// "Walnuts make my throat swell": I cannot have them.
fn harmful(words: &[Word]) -> Found {
    const HARM: &[&str] = &[
        "swell",
        "itch",
        "ill",
        "sick",
        "hives",
        "rash",
        "migraine",
        "migraines",
        "sneeze",
        "vomit",
        "wheeze",
        "throat",
    ];
    let verb_at = words
        .iter()
        .take(4)
        .position(|word| word.any(&["make", "makes", "give", "gives"]))
        .filter(|place| *place > 0)?;
    let subject = &words[..verb_at];
    let harm = words[verb_at..].iter().any(|word| word.any(HARM)) && words.get(verb_at + 1)?.any(&["me", "my"]);
    let noun = subject.iter().all(|word| {
        word.shape == Shape::Word
            && !within(lexicon::DETERMINERS, &word.lower)
            && !word.any(&["it", "they", "he", "she", "you", "i", "we"])
    });
    if !harm || !noun {
        return None;
    }
    let end = words.iter().position(|word| word.shape == Shape::Mark).unwrap_or(words.len());
    let subject = lowered(subject);
    let mut told = say("I can not have");
    told.extend(subject.iter().cloned());
    told.extend(say("because"));
    told.extend(subject);
    told.extend_from_slice(&words[verb_at..end]);
    Some((told, "health"))
}
