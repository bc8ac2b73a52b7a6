//! How is it said by someone who was not there?
//!
//! The speaker gets a name, verbs follow it, "my" becomes whose it is, relative dates become
//! dates. What a pronoun means must be clear; if it is not, the words from there on are left out,
//! and if that leaves too little, nothing is said at all.

use super::clause::{Clause, Mood, Who, base};
use super::focus::Focus;
use super::lexicon::{self, within};
use super::verbs::{Form, third, verb};
use super::when::Dated;
use super::word::{Shape, Word, capitalised, join};

/// Retells clauses of one speaker.
pub(crate) struct Teller<'a> {
    /// Who speaks: "Ana", "User".
    pub(crate) name: &'a str,
    pub(crate) focus: &'a Focus,
    pub(crate) dates: &'a [Dated],
    /// The same seen from before: what is booked for July lies ahead even if it was booked last week.
    pub(crate) later: &'a [Dated],
    /// "We" is the speaker's household, not a team.
    pub(crate) household: bool,
    /// A date without a year comes again each year and stays so.
    pub(crate) yearly: bool,
}

/// A clause as it was retold.
pub(crate) struct Told {
    pub(crate) content: String,
    pub(crate) subject: String,
    /// The dates that it still names.
    pub(crate) dates: Vec<Dated>,
}

impl Teller<'_> {
    /// "Ana's".
    pub(crate) fn owner(&self) -> String {
        format!("{}'s", self.name)
    }

    fn team(&self) -> String {
        if self.household { self.name.to_owned() } else { format!("{}'s team", self.name) }
    }

    /// The clause in the third person, if it can stand for itself.
    pub(crate) fn tell(&self, clause: &Clause) -> Option<Told> {
        let subject = self.subject(clause)?;
        let short = self.short(clause, &subject);
        let mut words = self.verb_phrase(clause);
        let (tail, dates) = self.tail(clause, &short)?;
        words.extend(tail);
        let mut content = join(&words);
        if !subject.is_empty() {
            content = format!("{subject} {content}");
        }
        // "v1" stays as it is written.
        let coded = content.split(' ').next().is_some_and(|first| first.contains(|c: char| c.is_ascii_digit()));
        let content = if coded { content.trim().to_owned() } else { capitalised(content.trim()) };
        Some(Told { content, subject, dates })
    }

    fn subject(&self, clause: &Clause) -> Option<String> {
        match clause.who {
            Who::I => Some(self.name.to_owned()),
            Who::We => Some(self.team()),
            Who::Nobody => Some(String::new()),
            Who::There => Some("There".to_owned()),
            Who::Pronoun => match clause.words[0].lower.as_str() {
                "it" => self.focus.thing().map(str::to_owned),
                pronoun => self.focus.person(pronoun).map(str::to_owned),
            },
            Who::Thing => {
                let words = clause.subject_words();
                let fuller =
                    (words.len() == 2 && words[0].is("the")).then(|| self.focus.fuller(&words[1].text)).flatten();
                fuller.map(str::to_owned).or_else(|| self.noun(words))
            }
            Who::You | Who::Pointed => None,
        }
    }

    /// A noun phrase with its owners named.
    pub(crate) fn noun(&self, words: &[Word]) -> Option<String> {
        let mut told = Vec::new();
        for (place, word) in words.iter().enumerate() {
            match word.lower.as_str() {
                "my" | "our" => told.push(word.instead(&self.owner())),
                "i" => told.push(word.instead(self.name)),
                "am" => told.push(word.instead("is")),
                "his" | "her" | "their" if place == 0 => {
                    let person = self.focus.person(&word.lower)?;
                    told.push(word.instead(&format!("{person}'s")));
                }
                "its" if place == 0 => told.push(word.instead(&format!("{}'s", self.focus.thing()?))),
                "your" | "you" | "this" | "that" | "these" | "those" | "his" | "her" | "their" | "its" | "he"
                | "she" | "it" | "they" | "me" | "us" | "we" => return None,
                _ => told.push(word.clone()),
            }
        }
        // "The new tool" keeps its article; a capital at the start of the sentence may be just that.
        Some(join(&told))
    }

    /// The name by which the rest may call the subject: "Marta" of "Ana's sister Marta".
    fn short(&self, clause: &Clause, subject: &str) -> String {
        let words = clause.subject_words();
        let named = words.len() > 2
            && words.last().is_some_and(Word::capital)
            && words.iter().any(|w| within(lexicon::RELATIONS, &w.lower));
        match words.last() {
            Some(last) if named => last.text.clone(),
            _ => subject.to_owned(),
        }
    }

    /// Adverbs, auxiliaries and the verb, agreeing with one person.
    fn verb_phrase(&self, clause: &Clause) -> Vec<Word> {
        let mut agree =
            matches!(clause.who, Who::I | Who::We) || (clause.who == Who::Pronoun && clause.words[0].is("they"));
        let mut words = Vec::new();
        if clause.ended
            && clause.mood == Mood::Plain
            && clause.lemma != "be"
            && clause.lower(clause.subject.end).starts_with("do")
            && clause.negated
        {
            // "Does not work there any more" is "no longer works there".
            let verb = &clause.words[clause.verb];
            let plural = clause.who == Who::Thing && clause.lower(clause.subject.end) == "do";
            return vec![
                verb.instead("no"),
                verb.instead("longer"),
                verb.instead(&if plural { verb.text.clone() } else { third(&verb.lower) }),
            ];
        }
        for place in clause.subject.end..=clause.verb {
            let word = &clause.words[place];
            let empty = within(lexicon::EMPTY, &word.lower) && verb(&word.lower).is_none();
            if empty && (place != clause.verb || clause.lemma == "be") {
                continue;
            }
            let verbal = word.is("would")
                || word.is("can")
                || verb(&word.lower).is_some()
                || within(lexicon::AUXILIARIES, &word.lower);
            let last = place == clause.verb;
            if agree && (verbal || last) && !word.any(&["not", "no", "longer"]) {
                agree = false;
                words.push(agreed(word));
            } else if word.is("not") && clause.ended && clause.lower(place + 1) != "longer" {
                words.push(word.instead("no"));
                words.push(word.instead("longer"));
            } else {
                words.push(word.clone());
            }
        }
        words
    }

    /// What follows the verb, and the dates in it.
    fn tail(&self, clause: &Clause, short: &str) -> Option<(Vec<Word>, Vec<Dated>)> {
        let start = clause.rest_at();
        let aside = clause.words[start..]
            .windows(2)
            .position(|two| two[0].is(",") && two[1].any(ASIDES))
            .map(|place| start + place);
        let aside =
            [aside, digression(&clause.words, start)].into_iter().flatten().filter(|aside| *aside > start).min();
        let mut end = trimmed(&clause.words, start, aside.unwrap_or(clause.words.len()));
        loop {
            match self.retold(clause, start, end, short) {
                Ok(told) => return Some(told),
                Err(place) => {
                    end = trimmed(&clause.words, start, boundary(&clause.words, start, place)?);
                    if end <= start {
                        return None;
                    }
                }
            }
        }
    }

    /// The words of a range retold, or the place where that is not possible.
    fn retold(&self, clause: &Clause, start: usize, end: usize, short: &str) -> Result<(Vec<Word>, Vec<Dated>), usize> {
        let words = &clause.words;
        let mut told: Vec<Word> = Vec::new();
        let mut dates = Vec::new();
        let mut agree = false;
        let mut place = start;
        while place < end {
            let word = &words[place];
            if let Some((dated, after)) = self.date_at(words, place, end) {
                self.write_date(&mut told, word, dated, words, place, after);
                dates.push(dated.clone());
                place = after;
                continue;
            }
            let lower = word.lower.as_str();
            let next = words.get(place + 1).filter(|_| place + 1 < end);
            let instead = match lower {
                "i" => {
                    agree = true;
                    Some(self.name.to_owned())
                }
                "we" => {
                    agree = true;
                    Some(self.team())
                }
                "me" => Some(self.name.to_owned()),
                "us" => Some(self.team()),
                // "I prefer my answers short."
                "my" if place == start
                    && clause.who == Who::I
                    && matches!(clause.lemma.as_str(), "prefer" | "like" | "love")
                    && next.is_some() =>
                {
                    place += 1;
                    continue;
                }
                "my" | "our" | "mine" | "ours" => Some(self.owner()),
                "his" | "their" | "its" => Some(format!("{}'s", self.meant(clause, lower, short).ok_or(place)?)),
                "her" if next.is_some_and(possessed) => {
                    Some(format!("{}'s", self.meant(clause, lower, short).ok_or(place)?))
                }
                "he" | "she" => Some(self.meant(clause, lower, short).ok_or(place)?),
                "him" | "her" => Some(self.object(clause, lower).ok_or(place)?),
                "it" => Some(
                    reason(&told)
                        .or_else(|| picked(clause, &told))
                        .or_else(|| object(&told))
                        .or_else(|| self.thing(clause))
                        .ok_or(place)?,
                ),
                "this" if next.is_some_and(|next| next.any(&["term", "season", "semester"])) => None,
                "they" if clause.who == Who::Thing => return Err(place),
                "they" | "them" | "you" | "your" | "yours" | "u" | "ur" | "myself" | "yourself" | "himself"
                | "herself" | "itself" | "ourselves" | "themselves" | "this" | "these" | "those" | "here" => {
                    return Err(place);
                }
                "that" if !relative(words, place) => return Err(place),
                // "I am a nurse there": where that is was said before.
                "there" if told.len() > 1 && next.is_none_or(|next| next.shape == Shape::Mark) => {
                    place += 1;
                    continue;
                }
                "there" if next.is_none_or(|next| !next.any(&["is", "are", "was", "were"])) => return Err(place),
                _ => None,
            };
            match instead {
                Some(text) => told.push(word.instead(&text)),
                None if agree && (verb(lower).is_some() || within(lexicon::AUXILIARIES, lower)) => {
                    agree = false;
                    told.push(agreed(word));
                }
                None => told.push(word.clone()),
            }
            place += 1;
        }
        if told.iter().filter(|word| word.is("(")).count() != told.iter().filter(|word| word.is(")")).count() {
            return Err(words[start..end]
                .iter()
                .position(|word| word.any(&["(", ")"]))
                .map_or(end, |found| start + found));
        }
        Ok((told, dates))
    }

    /// Whom a possessive or a subject in the rest means: the subject, if it is someone else.
    fn meant(&self, clause: &Clause, pronoun: &str, short: &str) -> Option<String> {
        match clause.who {
            Who::Thing | Who::Pronoun => Some(short.to_owned()),
            _ if pronoun == "its" => self.focus.thing().map(str::to_owned),
            _ if pronoun == "their" => None,
            _ => self.focus.person(pronoun).map(str::to_owned),
        }
    }

    fn object(&self, clause: &Clause, pronoun: &str) -> Option<String> {
        matches!(clause.who, Who::I | Who::We).then(|| self.focus.person(pronoun).map(str::to_owned))?
    }

    fn thing(&self, clause: &Clause) -> Option<String> {
        matches!(clause.who, Who::I | Who::We | Who::Nobody).then(|| self.focus.thing().map(str::to_owned))?
    }

    /// The date that begins at a word, and the place behind it.
    fn date_at(&self, words: &[Word], place: usize, end: usize) -> Option<(&Dated, usize)> {
        let inside = |word: &Word, dated: &Dated| {
            word.at.start < word.at.end && word.at.start >= dated.at.start && word.at.end <= dated.at.end
        };
        if place.checked_sub(1).is_some_and(|before| words[before].any(&["every", "each", "other"])) {
            return None;
        }
        let booked = place.checked_sub(1).is_some_and(|before| words[before].any(&["for", "by"]));
        let dates = if booked { self.later } else { self.dates };
        let dated = dates.iter().find(|dated| inside(&words[place], dated))?;
        let after = (place..end).take_while(|place| inside(&words[*place], dated)).last()? + 1;
        Some((dated, after))
    }

    fn write_date(&self, told: &mut Vec<Word>, word: &Word, dated: &Dated, words: &[Word], place: usize, after: usize) {
        if self.yearly && dated.yearly {
            told.extend_from_slice(&words[place..after]);
            return;
        }
        let before = told.last().map_or(String::new(), |before| before.lower.clone());
        if dated.text.is_empty() {
            return;
        }
        // "On this Friday", "over the weekend", "for the day after tomorrow".
        let article = before == "the" || before == "this";
        if article && !dated.preposition.is_empty() {
            told.pop();
        }
        let before = told.last().map_or(String::new(), |before| before.lower.clone());
        let ready = within(lexicon::PREPOSITIONS, &before)
            || matches!(before.as_str(), "is" | "was" | "be" | "of" | "(" | "deadline" | "due")
            || dated.preposition.is_empty();
        let mut text = dated.text.clone();
        if before == "over" || before == "at" && dated.preposition == "on the" {
            told.pop();
            text = format!("{} {text}", dated.preposition);
        } else if !ready {
            text = format!("{} {text}", dated.preposition);
        } else if dated.preposition == "on the" {
            text = format!("the {text}");
        }
        let mut written = word.instead(&text);
        written.shape = Shape::Code;
        told.push(written);
    }
}

/// What "it" means behind a "because": the one thing that was named before it.
fn reason(told: &[Word]) -> Option<String> {
    let joint = told.iter().rposition(|word| word.any(&["because", "since", "as", "so"]))?;
    let mut named = told[..joint].iter().filter(|word| word.capital() || within(lexicon::TOOLS, &word.lower));
    match (named.next(), named.next()) {
        (Some(one), None) if joint + 1 == told.len() => Some(one.text.clone()),
        _ => None,
    }
}

/// What "it" means behind the reason of a choice: what was chosen.
fn picked(clause: &Clause, told: &[Word]) -> Option<String> {
    let choice = matches!(clause.lemma.as_str(), "decide" | "choose" | "pick" | "settle" | "select" | "opt");
    let because = told.last().is_some_and(|word| word.any(&["because", "since"]));
    (choice && because).then(|| told.iter().find(|word| word.capital()).map(|word| word.text.clone()))?
}

/// What "it" means behind a reason, if the statement has one thing with an article and no name.
fn object(told: &[Word]) -> Option<String> {
    let joint = told.iter().rposition(|word| word.any(&["because", "since"]))?;
    let before = &told[..joint];
    let article = before.iter().position(|word| word.is("the"))?;
    let one = before.iter().filter(|word| word.is("the")).count() == 1 && !before.iter().any(Word::capital);
    let noun = before.get(article + 1).filter(|noun| noun.shape == Shape::Word)?;
    let ends = before
        .get(article + 2)
        .is_none_or(|next| next.shape == Shape::Mark || within(lexicon::PREPOSITIONS, &next.lower));
    (one && ends).then(|| format!("the {}", noun.text))
}

/// Where the rest goes over to something else: "… so at least that one is done", "…, and get me one".
fn digression(words: &[Word], start: usize) -> Option<usize> {
    let lower = |place: usize| words.get(place).map_or("", |word| word.lower.as_str());
    (start + 1..words.len()).find(|place| match lower(*place) {
        "so" => {
            !matches!(lower(place + 1), "that" | "far" | "much" | "many" | "long" | "called" | "")
                && !within(lexicon::AUXILIARIES, lower(place - 1))
                && !matches!(lower(place - 1), "or" | "and" | "not")
        }
        "and" => within(lexicon::ORDERS, lower(place + 1)) && matches!(lower(place + 2), "me" | "it" | "that" | "this"),
        "," if lower(place + 1) == "not" => lower(place + 2) == "even",
        "," => within(lexicon::ORDERS, lower(place + 1)) && matches!(lower(place + 2), "me" | "it" | "that" | "this"),
        _ => false,
    })
}

/// A verb of the first person in the third.
fn agreed(word: &Word) -> Word {
    match word.lower.as_str() {
        "am" | "are" => word.instead("is"),
        "were" => word.instead("was"),
        "have" => word.instead("has"),
        "do" => word.instead("does"),
        "will" | "would" | "can" | "could" | "may" | "might" | "must" | "should" | "shall" => word.clone(),
        lower => match verb(lower) {
            Some((_, Form::Base)) => word.instead(&third(lower)),
            // An unknown verb behind "usually".
            None => word.instead(&third(lower)),
            Some(_) => word.clone(),
        },
    }
}

/// Whether a word is something that someone can have: "her job", not "her yesterday".
fn possessed(word: &Word) -> bool {
    word.shape == Shape::Word
        && !within(lexicon::PREPOSITIONS, &word.lower)
        && !within(lexicon::ADVERBS, &word.lower)
        && !within(lexicon::SUBORDINATORS, &word.lower)
        && !within(lexicon::CALENDAR, &word.lower)
        && !word.is("and")
}

/// Whether "that" joins a clause and does not point at something.
fn relative(words: &[Word], place: usize) -> bool {
    let next = words.get(place + 1);
    let before = words.get(place.wrapping_sub(1));
    next.is_some_and(|next| {
        next.any(&["i", "we", "the", "my", "our", "is", "are", "has", "was", "all", "every"])
            || verb(&next.lower).is_some()
            || next.capital()
            || within(lexicon::AUXILIARIES, &next.lower)
    }) && before.is_some_and(Word::speaks)
}

/// Words behind a comma that begin something else.
const ASIDES: &[&str] = &[
    "so", "hence", "thus", "please", "right", "ok", "okay", "thanks", "thank", "you", "can", "could", "what", "how",
    "any", "do", "does", "is", "isn't", "huh", "just", "no", "loving", "hope", "let", "been", "but", "thank",
];

/// Words at the end that add nothing.
const ENDINGS: &[&str] = &[
    "too",
    "though",
    "btw",
    "lol",
    "haha",
    "please",
    "thanks",
    "thx",
    "tbh",
    "imo",
    "imho",
    "anyway",
    "right",
    "ok",
    "okay",
    "yeah",
    "actually",
    "fyi",
    "now",
    "already",
    "anymore",
    "btw",
    "honestly",
    "however",
    "tho",
    "then",
    "and",
    "but",
    "or",
    "so",
    "with",
    "for",
    "to",
    "of",
    "the",
    "a",
    "because",
    "really",
    "currently",
    "nowadays",
    "instead",
    "also",
    "lately",
    "recently",
    "originally",
    "again",
];
const LONG_ENDINGS: &[&str] = &[
    "by the way",
    "as well",
    "you know",
    "i think",
    "i guess",
    "i believe",
    "at the moment",
    "right now",
    "these days",
    "for now",
    "any more",
    "any longer",
    "of course",
    "my bad",
    "my mistake",
    "before i forget",
    "in case it matters",
    "thank god",
    "did i mention",
    "did i say",
    "i suppose",
    "mind you",
    "as i said",
    "as i believe i mentioned",
    "as i mentioned",
    "if you ask me",
    "just so you know",
    "for the record",
    "as you know",
    "to be honest",
    "thank you",
    "in case you need it",
    "if you need it",
    "if that helps",
    "if it matters",
    "for your information",
    "at present",
];

/// The end of a range without marks and filler.
fn trimmed(words: &[Word], start: usize, mut end: usize) -> usize {
    loop {
        let long = LONG_ENDINGS.iter().find(|ending| {
            let length = ending.split(' ').count();
            end >= start + length && ending.split(' ').zip(&words[end - length..end]).all(|(part, word)| word.is(part))
        });
        if let Some(ending) = long {
            end -= ending.split(' ').count();
            continue;
        }
        let Some(last) = end.checked_sub(1).filter(|last| *last >= start).map(|last| &words[last]) else { return end };
        let mark = last.shape == Shape::Mark && !last.any(&[")", "%", "+"]);
        if !mark && !ENDINGS.contains(&last.lower.as_str()) {
            return end;
        }
        end -= 1;
    }
}

/// The last place before another where a clause can be cut.
fn boundary(words: &[Word], start: usize, place: usize) -> Option<usize> {
    let failed = place;
    let cut = (start..=place.min(words.len().checked_sub(1)?)).rev().find(|place| {
        let word = &words[*place];
        word.any(&[",", ";", ":", "(", "—", "–", "-", "and", "or"])
            || within(lexicon::SUBORDINATORS, &word.lower)
            || word.any(&["for", "with", "than"]) && *place > start + 1
            || word.any(&["of", "in", "by", "from"]) && *place + 1 == failed && *place > start + 1
    })?;
    // What holds only under a condition does not hold without it.
    let conditional = words[cut].any(&["if", "unless", "when", "whenever", "until", "than"]);
    (cut > start && !conditional && !(words[cut].is("that") && base(&words[cut - 1].lower))).then_some(cut)
}
