//! Did one thing lead to the other?
//!
//! Pure: two episodes that follow each other, and nothing but their words. A connective must say
//! that there is a cause, and the texts must hang together: by a word they share, or by a "that"
//! that points back. What is asked is not told, and doubt is no cause.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use loci_store::text::Analyser;

use super::clause::{Clause, Word, clauses, each};

/// How sure we are of a cause that words alone have shown.
pub const CONFIDENCE: f64 = 0.7;

/// A cause that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// Which led to which.
    pub direction: Direction,
    /// The words that say so.
    pub connective: &'static str,
}

/// Which of two episodes led to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The earlier one to the later.
    Forward,
    /// The later tells what the earlier one came from.
    Backward,
}

/// What stands behind a connective, and where it may stand itself.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// A result; begins a clause.
    Result,
    /// A result, and the connective points back by itself; begins a clause.
    Pointing,
    /// It names what came before as the reason; stands anywhere.
    Naming,
    /// A reason; stands anywhere.
    Reason,
    /// A reason; begins a clause.
    Opening,
}

/// What begins alike stands with the longer first.
#[rustfmt::skip]
const CONNECTIVES: &[(Role, &[&str])] = &[
    (Role::Naming, &[
        "because of that", "because of this", "due to that", "due to this", "caused by that", "caused by this",
        "as a result of that", "as a result of this", "из-за этого", "вследствие этого", "в результате этого",
    ]),
    (Role::Pointing, &[
        "that's why", "thats why", "that is why", "this is why", "for that reason", "for this reason", "which broke",
        "which caused", "which crashed", "which made", "which led to", "which stopped", "which slowed", "which delayed",
        "that broke", "that caused", "that led to", "this broke", "this caused", "this led to",
        "поэтому", "вот почему", "по этой причине", "что привело", "что сломало", "что вызвало", "это привело",
        "это сломало", "это вызвало",
    ]),
    (Role::Reason, &[
        "as a result of", "because of", "because", "since", "due to", "caused by", "потому что", "вследствие",
        "по причине", "из-за",
    ]),
    (Role::Result, &[
        "as a result", "as a consequence", "therefore", "consequently", "hence", "so", "в результате", "в итоге",
    ]),
    (Role::Opening, &["так как", "поскольку", "потому"]),
];

/// Words that may stand before a connective that begins a clause.
const JOINTS: &str = "and, but, и, а, но";
/// Words that may stand before it without telling anything.
const FILLERS: &str = "\
    yes, yeah, yep, no, ok, okay, oh, ah, well, right, sure, exactly, and, but, indeed, hi, hello, sorry, да, нет, ну, \
    вот, ага, угу, ладно, конечно, точно, и, а, но, привет";
/// Behind these stands a noun and no clause.
const NOUNS: &str = "as a result of, because of, due to, caused by, вследствие, по причине, из-за";
/// Where no comma tells, the noun and what belongs to it are taken to be so many words.
const NOUN: usize = 3;
/// Words that point back at what was said, and not at someone.
const THINGS: &str = "that, this, these, those, it, это, этого, этот, эта, эти, оно";
/// Words that point back at what was said, or who it was said of.
const POINTERS: &str = "\
    that, this, these, those, it, they, he, she, это, этого, этот, эта, эти, оно, он, она, они";
/// A reason is not meant when these stand before it.
const DENIALS: &str = "\
    not, isn't, wasn't, aren't, weren't, don't, didn't, doesn't, just, only, simply, if, не, только, лишь, если";
/// Words that two texts share by chance.
const CHANCE: &str = "\
    today, yesterday, tomorrow, tonight, morning, evening, night, day, days, week, weeks, month, year, time, times, \
    people, good, great, new, make, makes, made, need, needs, want, wants, wanted, think, thought, took, take, still, \
    сегодня, вчера, завтра, утром, вечером, день, дня, дней, неделя, неделю, неделе, месяц, год, время, очень, \
    хорошо, снова, пока, который, которая, которые, мы, нам, наш, наша, она, пришлось, стал, стала, стало";

/// What "so" must be followed by to tell a result: "so much", "so far", "so that" do not.
const SUBJECTS: &str = "\
    i, we, you, he, she, they, it, the, a, an, my, our, his, her, their, your, this, these, now, nobody, everyone, \
    i'm, we're, i've, we've, they're, it's, i'll, we'll";
/// And what follows when it tells none all the same.
const SO_WHAT: &str = "\
    i think, i guess, i hear, i heard, i hope, i believe, i wonder, i was wondering, they say, he says, she says, \
    it seems, it goes, you know, you see, the thing is, the question is, my question is, i can, \
    we can, you can, he can, she can, they can, it can, i could, you could, they could";

/// "Since" tells a time before these.
const TIMES: &str = "\
    then, when, last, yesterday, early, late, about, around, childhood, birth, forever, always, day, the, monday, \
    tuesday, wednesday, thursday, friday, saturday, sunday, january, february, march, april, may, june, july, august, \
    september, october, november, december, spring, summer, autumn, winter, morning, noon, midnight, lunch, christmas";
/// And a reason only where something is or can be.
const STATES: &str = "\
    is, isn't, are, aren't, was, wasn't, were, weren't, has, have, hasn't, haven't, can, can't, cannot, could, \
    couldn't, does, doesn't, do, don't, did, didn't, will, won't, it's, that's, he's, she's, they're, we're, i'm, \
    needs, must";
/// Unless it tells how long something has been going on.
const LASTING: &str = "\
    have, has, had, been, haven't, hasn't, hadn't, i've, we've, you've, they've, child, kid, young, little, born, ever";
/// "Due to" tells a plan before these.
const PLANS: &str = "\
    be, arrive, start, begin, end, leave, launch, ship, expire, return, finish, happen, go, come, meet, land, open, \
    close, release, me, you, us, him, her, them";
/// And "из-за" a place.
const PLACES: &str = "стола, угла, дома, двери, руля, границы, рубежа, спины, моря, океана, туч, облаков, компьютера";

/// Whether one of two episodes that follow each other led to the other.
pub fn cause(earlier: &str, later: &str) -> Option<Cause> {
    let told = |text: &str| clauses(text).into_iter().filter(|clause| !clause.asks).collect::<Vec<_>>();
    let analyser = Analyser::default();
    let before = told(earlier);
    let known = terms(&analyser, before.iter().flat_map(|clause| &clause.words));
    let reading = Reading { analyser, known, later: told(later) };
    reading.places().find_map(|place| reading.cause_at(place))
}

/// A place in the later text: a clause, and a word in it.
type Place = (usize, usize);

struct Reading {
    analyser: Analyser,
    /// What the earlier text speaks of.
    known: BTreeSet<String>,
    later: Vec<Clause>,
}

impl Reading {
    fn places(&self) -> impl Iterator<Item = Place> {
        self.later.iter().enumerate().flat_map(|(at, clause)| (0..clause.words.len()).map(move |word| (at, word)))
    }

    /// The cause that the connective at this place tells, if there is one.
    fn cause_at(&self, place: Place) -> Option<Cause> {
        let (at, word) = place;
        let clause = &self.later[at];
        let mut all = CONNECTIVES.iter().flat_map(|(role, phrases)| phrases.iter().map(move |phrase| (*role, *phrase)));
        let (role, connective, behind) =
            all.find_map(|(role, phrase)| Some((role, phrase, clause.says_at(word, phrase)?)))?;
        let begins = word == 0 || (word == 1 && clause.is_any(0, JOINTS));
        if matches!(role, Role::Result | Role::Pointing | Role::Opening) && !begins {
            return None;
        }
        if word > 0 && clause.is_any(word - 1, DENIALS) {
            return None;
        }
        let direction = match role {
            Role::Result if connective == "so" && !tells_result(clause, behind) => None,
            // "So it rains" points at nothing.
            Role::Result if connective == "so" => {
                self.result(place, behind, clause.is_any(behind, "this, these, those"))
            }
            Role::Result => self.result(place, behind, clause.is_any(behind, THINGS)),
            Role::Pointing | Role::Naming => self.result(place, behind, true),
            Role::Reason | Role::Opening => self.reason(place, behind, connective),
        };
        direction.map(|direction| Cause { direction, connective })
    }

    /// A result hangs on the earlier text if nothing else was said before it, or only that text again.
    fn result(&self, (at, word): Place, behind: usize, points: bool) -> Option<Direction> {
        let clause = &self.later[at];
        let said: Vec<&Word> = self.later[..at].iter().flat_map(|clause| &clause.words).collect();
        let opens = said.iter().all(|word| is_any(word, FILLERS));
        let (own, rest) = (&clause.words[..word], &clause.words[behind..]);
        let result = self.terms(own.iter().chain(rest).chain(self.rest_of_sentence(at)));
        let linked = if opens { points || self.shares(&result) } else { self.shares(&self.terms(said)) };
        (linked && !result.is_empty() && !self.known.is_empty()).then_some(Direction::Forward)
    }

    /// A later text that gives a reason either names the earlier as the reason, or explains it.
    fn reason(&self, place: Place, behind: usize, connective: &str) -> Option<Direction> {
        let (at, word) = place;
        let clause = &self.later[at];
        let before = self.before_in_sentence(place);
        let (reason, after) = self.behind(at, behind, connective, before.is_empty());
        let opens = before.iter().all(|word| is_any(word, JOINTS));
        let effect = if opens { &after } else { &before };
        if !gives_reason(clause, word, behind, connective, effect) {
            return None;
        }
        let (reason, mut effect) = (self.terms(reason), self.terms(effect.iter().copied()));
        if effect.is_empty() && opens {
            // "I went home. Because …" gives the reason of what was said just before.
            effect = self.terms(self.later[..at].iter().flat_map(|clause| &clause.words));
        }
        if !effect.is_empty() {
            return self.weigh(&reason, &effect, each(NOUNS).any(|noun| noun == connective));
        }
        let pointed = before.first().is_some_and(|word| is_any(word, POINTERS));
        let linked = pointed || opens && (clause.is_any(behind, POINTERS) || self.shares(&reason));
        (linked && !reason.is_empty() && !self.known.is_empty()).then_some(Direction::Backward)
    }

    /// The words of the reason, and those of the sentence behind it.
    fn behind(&self, at: usize, behind: usize, connective: &str, alone: bool) -> (Vec<&Word>, Vec<&Word>) {
        let own: Vec<&Word> = self.later[at].words[behind..].iter().collect();
        let next = self.later.get(at + 1).filter(|clause| !clause.opens);
        match next {
            // "из-за того, что …": the reason stands behind the comma.
            Some(next) if self.terms(own.iter().copied()).is_empty() => {
                (next.words.iter().collect(), self.rest_of_sentence(at + 1).collect())
            }
            None if alone && own.len() > NOUN && each(NOUNS).any(|noun| noun == connective) => {
                let (reason, effect) = own.split_at(NOUN);
                (reason.to_vec(), effect.to_vec())
            }
            _ => (own, self.rest_of_sentence(at).collect()),
        }
    }

    /// Which side says the earlier text again. One word in passing is not enough: it must be most of that side, and
    /// of a noun the half.
    fn weigh(&self, reason: &BTreeSet<String>, effect: &BTreeSet<String>, noun: bool) -> Option<Direction> {
        let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
            one.iter().filter(|term| self.known.contains(*term) && !other.contains(*term)).count()
        };
        let known = |terms: &BTreeSet<String>| 2 * terms.iter().filter(|term| self.known.contains(*term)).count();
        match only(reason, effect).cmp(&only(effect, reason)) {
            Ordering::Greater if known(reason) + usize::from(noun) > reason.len() => Some(Direction::Forward),
            Ordering::Less if known(effect) > effect.len() => Some(Direction::Backward),
            _ => None,
        }
    }

    /// The words of the sentence that stand before a place.
    fn before_in_sentence(&self, (at, word): Place) -> Vec<&Word> {
        let start = (0..=at).rev().find(|clause| self.later[*clause].opens).unwrap_or(0);
        self.later[start..at].iter().flat_map(|clause| &clause.words).chain(&self.later[at].words[..word]).collect()
    }

    /// The words of the sentence behind a clause.
    fn rest_of_sentence(&self, at: usize) -> impl Iterator<Item = &Word> {
        self.later[at + 1..].iter().take_while(|clause| !clause.opens).flat_map(|clause| &clause.words)
    }

    fn shares(&self, terms: &BTreeSet<String>) -> bool {
        terms.iter().any(|term| self.known.contains(term))
    }

    fn terms<'a>(&self, words: impl IntoIterator<Item = &'a Word>) -> BTreeSet<String> {
        terms(&self.analyser, words)
    }
}

fn is_any(word: &Word, words: &str) -> bool {
    each(words).any(|each| each == word.text)
}

/// What the words speak of, as stems.
fn terms<'a>(analyser: &Analyser, words: impl IntoIterator<Item = &'a Word>) -> BTreeSet<String> {
    let telling = words.into_iter().filter(|word| !is_any(word, CHANCE));
    let text: Vec<&str> = telling.map(|word| word.text.as_str()).collect();
    let small = |term: &String| term.len() < 3 && term.chars().all(|c| c.is_ascii_digit());
    analyser.terms(&text.join(" ")).into_iter().filter(|term| !small(term)).collect()
}

/// Whether a "so" tells a result, by what stands behind it.
fn tells_result(clause: &Clause, behind: usize) -> bool {
    let subject = clause.is_any(behind, SUBJECTS) || clause.words.get(behind).is_some_and(|word| word.capital);
    subject && !each(SO_WHAT).any(|phrase| clause.says_at(behind, phrase).is_some_and(|end| affirmed(clause, end)))
}

/// "So we can" is a purpose, but "so we can not" a result.
fn affirmed(clause: &Clause, end: usize) -> bool {
    !clause.is_any(end, "not, only, no")
}

/// Whether words that can give a reason give one here.
fn gives_reason(clause: &Clause, word: usize, behind: usize, connective: &str, effect: &[&Word]) -> bool {
    let next = |words: &str| clause.is_any(behind, words);
    match connective {
        "due to" => !next(PLANS),
        "из-за" => !next(PLACES),
        "since" => {
            let says = |words: &[&Word], any: &str| words.iter().any(|word| is_any(word, any));
            let rest: Vec<&Word> = clause.words[behind..].iter().collect();
            let timed = next(TIMES) && !(next("the") && says(&rest, STATES));
            let dated = clause.words.get(behind).is_none_or(|word| word.text.starts_with(|c: char| c.is_ascii_digit()));
            let ever = word > 0 && clause.is_any(word - 1, "ever, long, years, months, weeks");
            let lasting = says(effect, LASTING) || says(&rest, "child, kid, young, little, born, started, began");
            !timed && !dated && !ever && !lasting && says(&rest, STATES)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The earlier text, the later, and what is found.
    type Row<'a> = (&'a str, &'a str, Option<(Direction, &'a str)>);

    fn check(rows: &[Row<'_>]) {
        for (earlier, later, expect) in rows {
            let found = cause(earlier, later).map(|cause| (cause.direction, cause.connective));
            assert_eq!(found, *expect, "{earlier} | {later}");
        }
    }

    #[test]
    fn the_earlier_led_to_the_later() {
        use Direction::Forward;
        check(&[
            ("The disk of the build server filled up.", "So the build failed at noon.", Some((Forward, "so"))),
            ("Tom broke the parser.", "So Tom reverted it.", Some((Forward, "so"))),
            ("The cache is stale.", "The cache is stale, so we see old prices.", Some((Forward, "so"))),
            ("The tests are red.", "And so we can not ship the red build.", Some((Forward, "so"))),
            ("Rent in Lisbon doubled.", "Therefore Ana left Lisbon.", Some((Forward, "therefore"))),
            ("The lease ends in May.", "Therefore it must be signed again.", Some((Forward, "therefore"))),
            ("The train was cancelled.", "That's why I missed dinner.", Some((Forward, "that's why"))),
            ("We lost the backup key.", "Yes, that’s why nothing can be restored.", Some((Forward, "that's why"))),
            ("The vendor raised prices.", "This is why we moved to Postgres.", Some((Forward, "this is why"))),
            ("Ana changed the schema.", "As a result, the schema tests fail.", Some((Forward, "as a result"))),
            ("The dog got sick.", "Because of that we stayed at home.", Some((Forward, "because of that"))),
            ("The dog got sick.", "We stayed at home because of that.", Some((Forward, "because of that"))),
            ("Tom renamed a column.", "Which broke the nightly export.", Some((Forward, "which broke"))),
            ("Tom renamed a column.", "Tom renamed a column, which broke the export.", Some((Forward, "which broke"))),
            ("The disk was full.", "The deployment failed because the disk was full.", Some((Forward, "because"))),
            ("There was an outage.", "Because of the outage, orders were lost.", Some((Forward, "because of"))),
            ("There was an outage.", "Because of the outage orders were lost.", Some((Forward, "because of"))),
            ("There was an outage.", "Orders were lost due to the outage.", Some((Forward, "due to"))),
            ("We migrated the users.", "The delay was caused by the migration.", Some((Forward, "caused by"))),
            ("The server is down.", "Since the server is down, nobody works.", Some((Forward, "since"))),
            ("The tests were red.", "We skipped the release since the tests were red.", Some((Forward, "since"))),
            ("На сервере кончилось место.", "Поэтому сборка упала.", Some((Forward, "поэтому"))),
            ("Поезд отменили.", "Из-за этого я опоздал на ужин.", Some((Forward, "из-за этого"))),
            ("Поезд отменили.", "Я опоздал на ужин из-за этого.", Some((Forward, "из-за этого"))),
            ("Том удалил индекс.", "В результате запросы без индекса тормозят.", Some((Forward, "в результате"))),
            ("Диск переполнен.", "Сборка упала, потому что диск переполнен.", Some((Forward, "потому что"))),
            ("Сервер лежит.", "Так как сервер лежит, никто не работает.", Some((Forward, "так как"))),
            ("Была авария.", "Свет отключили из-за аварии.", Some((Forward, "из-за"))),
            ("Диск заполнился.", "Сборка упала из-за того, что диск заполнился.", Some((Forward, "из-за"))),
        ]);
    }

    #[test]
    fn the_later_explains_the_earlier() {
        use Direction::Backward;
        check(&[
            ("The build failed.", "The build failed because the disk was full.", Some((Backward, "because"))),
            ("The export crashed.", "Because it ran out of memory.", Some((Backward, "because"))),
            ("The build failed.", "It was because the disk was full.", Some((Backward, "because"))),
            ("The outage lasted two hours.", "The outage was caused by a migration.", Some((Backward, "caused by"))),
            ("Ana missed the flight.", "Ana missed it due to fog.", Some((Backward, "due to"))),
            ("We postponed the release.", "We postponed it, since Tom is ill.", Some((Backward, "since"))),
            ("Сборка упала.", "Сборка упала, потому что кончилось место.", Some((Backward, "потому что"))),
            ("Анна опоздала.", "Анна опоздала из-за тумана.", Some((Backward, "из-за"))),
        ]);
    }

    #[test]
    fn most_things_only_follow_each_other() {
        let rows = [
            // Filler and other uses of the words.
            ("The disk is full.", "So, how are you?"),
            ("The disk is full.", "So, the disk is a good one."),
            ("Ana likes tea.", "So much tea!"),
            ("Ana likes tea.", "So far tea is fine."),
            ("Ana bought tea.", "Ana bought tea, so that guests can drink."),
            ("Ana bought tea.", "Ana bought tea, so we can drink it."),
            ("Ana bought tea.", "So do I like tea."),
            ("The disk is full.", "So I think about the disk."),
            ("Ana moved to Lisbon.", "Since Monday Ana lives in Lisbon."),
            ("Ana moved to Lisbon.", "Ana has lived in Lisbon since 2019."),
            ("Ana moved to Lisbon.", "Since then Lisbon is home."),
            ("Ana moved to Lisbon.", "Since the move Lisbon feels small."),
            ("Ana moved to Lisbon.", "I have known Lisbon since I was young."),
            ("The train left.", "The next train is due to arrive."),
            ("Стол накрыт.", "Анна встала из-за стола."),
            ("Так сказал Том.", "Сделай так, как сказал Том."),
            // Nothing hangs together.
            ("Ana likes tea.", "So the bus was late."),
            ("Ana likes tea.", "So they went home."),
            ("Ana likes tea.", "So it was cold."),
            ("Ana likes tea.", "Therefore the bus was late."),
            ("Ana likes tea.", "The bus was late because of snow."),
            ("Ana likes tea.", "Because the bus was late."),
            ("It rained today.", "As a result the shop closed today."),
            ("Ana likes tea.", "Так как автобус опоздал, мы ждали."),
            // The cause stands in the later text itself.
            ("Ana likes tea.", "I was tired, so I slept."),
            ("The deploy failed.", "I was tired, so I skipped the deploy review."),
            ("I missed the party.", "I was ill, that's why I missed it."),
            ("I tried the new cafe.", "It's good, so I went to the cafe again."),
            ("Ana likes tea.", "It snowed. That's why the bus was late."),
            ("Анна любит чай.", "Я устал, поэтому лёг спать."),
            // Asked or denied.
            ("The build failed.", "Did the build fail because the disk was full?"),
            ("Why did the build fail?", "Because it ran out of memory."),
            ("The build failed.", "So the build failed?"),
            ("The build failed.", "The build failed, but not because the disk was full."),
            ("Сборка упала.", "Сборка упала не потому, что кончилось место."),
            // No connective at all.
            ("The disk was full.", "The disk was replaced."),
            ("The disk was full.", "And then the disk was replaced."),
            ("The disk was full.", ""),
            ("", "That's why the disk was full."),
            ("", ""),
        ];
        check(&rows.map(|(earlier, later)| (earlier, later, None)));
    }

    #[test]
    fn equal_signs_for_both_sides_are_doubt() {
        check(&[
            ("Tom tested the export.", "The export is slow because Tom left.", None),
            ("Ana broke her phone.", "She bought a new phone because the old one was broken.", None),
            ("Я купил чай.", "Очень вкусно, потому что чай свежий.", None),
        ]);
    }
}
