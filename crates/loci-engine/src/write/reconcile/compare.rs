//! Compares two texts.
//!
//! Every comparison is strict: a doubt counts as a difference. A text repeats another if it has no word, number or
//! name that the other lacks, the same negations and conditions, and the same roles for the same words.

use std::collections::HashSet;

use super::analysis::{AnalysedText, ItemKind, SentenceForm, TextItem};
use crate::learn::extract::Claim;
use crate::learn::extract::claim::ValueType;
use crate::learn::extract::select::is_day;
use crate::learn::language::form;
use crate::recall::plan::time::words::among;

/// Whether every sentence of `new` adds nothing to some sentence of `known`.
pub(super) fn says_nothing_new(new: &AnalysedText, known: &AnalysedText) -> bool {
    let tabled = new.tabled && known.tabled;
    let within = |(sentence, sense): (&Vec<TextItem>, &SentenceForm)| {
        let mut others = known.sentences.iter().zip(&known.senses);
        let same = |other: &[TextItem]| if tabled { contains(other, sentence) } else { equal(other, sentence) };
        others.any(|(other, other_sense)| sense.is_within(other_sense) && same(other))
    };
    !new.sentences.is_empty() && new.sentences.iter().zip(&new.senses).all(within)
}

/// Whether two sentences without a parsed claim have the same words in the same order.
fn equal(known: &[TextItem], new: &[TextItem]) -> bool {
    known.len() == new.len() && known.iter().zip(new).all(|(a, b)| a.key == b.key)
}

/// Whether a known sentence says all that a new one says.
fn contains(known: &[TextItem], new: &[TextItem]) -> bool {
    let tells = |item: &&TextItem| matches!(item.sort, ItemKind::Content | ItemKind::Value);
    // "Joelle is my sister and she teaches": who "she" is has been said.
    let named = new.iter().position(|item| item.capital && item.form == 0);
    let refers = |place: usize| new[place].form & form::PRONOUN != 0 && named.is_some_and(|named| named < place);
    let asked: Vec<&TextItem> =
        (0..new.len()).filter(|place| !refers(*place)).map(|place| &new[place]).filter(tells).collect();
    let said: Vec<&TextItem> = known.iter().filter(tells).collect();
    let tells_same = |item: &&TextItem| find(&said, item).is_some_and(|known| known.past == item.past);
    if asked.is_empty() || !asked.iter().all(tells_same) {
        return false;
    }
    let of = |items: &[TextItem], sort: ItemKind| -> HashSet<String> {
        items.iter().filter(|item| item.sort == sort).map(|item| item.key.clone()).collect()
    };
    let denies = |items: &[TextItem]| items.iter().any(|item| item.sort == ItemKind::Negation);
    of(known, ItemKind::Limit) == of(new, ItemKind::Limit)
        && denies(known) == denies(new)
        && same_parts(&said, &asked)
        && same_order(&said, &asked)
        && !qualified(&said, &asked)
}

/// The item that says the same: equal, or the same word with another ending.
pub(super) fn find<'a>(items: &[&'a TextItem], wanted: &TextItem) -> Option<&'a TextItem> {
    items.iter().copied().find(|item| alike(item, wanted))
}

fn alike(a: &TextItem, b: &TextItem) -> bool {
    let prefix = |short: &str, long: &str| {
        short.chars().count() >= 5 && long.starts_with(short) && long.len() - short.len() <= 2
    };
    a.key == b.key
        || a.sort == ItemKind::Value && b.key.len() == 5 && a.key.len() == 10 && a.key.ends_with(&b.key)
        || a.sort == ItemKind::Content
            && b.sort == ItemKind::Content
            && (prefix(&a.key, &b.key) || prefix(&b.key, &a.key))
}

/// Whether nobody plays a part that the other text gives to someone else: "tabs over spaces", "Mina's manager".
fn same_parts(known: &[&TextItem], new: &[&TextItem]) -> bool {
    new.iter().filter_map(|item| item.role.as_ref().map(|role| (item, role))).all(|(item, role)| {
        let mut bearers = known.iter().filter(|other| other.role.as_ref() == Some(role)).peekable();
        bearers.peek().is_none() || bearers.any(|other| alike(other, item))
    })
}

/// Whether the words that no preposition marks come in the same order: who bit whom. A single value may stand anywhere.
fn same_order(known: &[&TextItem], new: &[&TextItem]) -> bool {
    let values = |items: &[&TextItem]| items.iter().filter(|item| item.sort == ItemKind::Value).count();
    let ordered = |item: &&TextItem| item.sort == ItemKind::Content || values(known).max(values(new)) > 1;
    let known: Vec<&TextItem> = known.iter().copied().filter(ordered).collect();
    let new: Vec<&TextItem> = new.iter().copied().filter(ordered).collect();
    let plain = |items: &[&TextItem], other: &[&TextItem]| -> Vec<String> {
        let shared =
            |item: &&&TextItem| item.role.is_none() && find(other, item).is_some_and(|other| other.role.is_none());
        items
            .iter()
            .filter(shared)
            .map(|item| find(&known, item).map_or_else(|| item.key.clone(), |item| item.key.clone()))
            .collect()
    };
    let (before, after) = (plain(&known, &new), plain(&new, &known));
    let mut rest = before.iter();
    after.iter().all(|word| rest.any(|other| other == word))
}

/// Whether a word that only the known text has stands right before a shared one and narrows it: "admin port" is not "port".
fn qualified(known: &[&TextItem], new: &[&TextItem]) -> bool {
    (0..known.len()).any(|place| {
        let (item, next) = (known[place], known.get(place + 1));
        let shared = |item: &TextItem| find(new, item).is_some();
        // "Tomas Silva" and "Tomas", "Mrs. Adela Fonseca" and "Mrs. Fonseca".
        let named = |other: Option<&&TextItem>| other.is_some_and(|other| other.capital && shared(other));
        let full_name =
            item.capital && place > 0 && (known[place - 1].touches_next && named(known.get(place - 1)) || named(next));
        !shared(item) && item.touches_next && next.is_some_and(|next| shared(next)) && !full_name
    })
}

/// How two single statements agree that differ in one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueDifference {
    /// The value stands behind the subject and the predicate that they share: it is another value of the same.
    Behind,
    /// It may be what the statements are about.
    Elsewhere,
}

/// Whether two single statements agree but for one value, and where that stands.
pub(super) fn one_value_apart(new: &AnalysedText, known: &AnalysedText) -> Option<ValueDifference> {
    let (a, b) = (new.sentences.first()?, known.sentences.first()?);
    if !(new.is_single() && known.is_single() && new.tabled && known.tabled) {
        return None;
    }
    const OTHER: u64 = form::MANY | form::EVENT | form::DID | form::PAST | form::CONDITION | form::UNREAL;
    let (a, b) = (plain(a), plain(b));
    let front = a.iter().zip(&b).take_while(|(a, b)| same(a, b)).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(a, b)| same(a, b)).count();
    let (mine, theirs) = (&a[front..a.len() - back], &b[front..b.len() - back]);
    let weekday = |item: &TextItem| among("mon tue wed thu fri sat sun", &item.key);
    let value = |items: &[&TextItem]| items.len() == 1 && (items[0].sort == ItemKind::Value || weekday(items[0]));
    let content_count = |items: &[&TextItem]| items.iter().filter(|item| item.sort == ItemKind::Content).count();
    let settled = |items: &[&TextItem]| items.iter().all(|item| item.form & OTHER == 0 && item.sort != ItemKind::Limit);
    // "Note 7" is not another value of "note 6": something must be stated of the subject.
    let says = |item: &&TextItem| item.is_next || item.form & (form::LIFE | form::LIKES | form::PLANS) != 0;
    let measured = |items: &[&TextItem]| items.iter().all(|item| !is_label(&item.key) || item.touches_next);
    let says = |items: &[&TextItem]| measured(mine) || items.iter().any(says);
    let apart = value(mine) && value(theirs) && settled(&a) && settled(&b) && says(&a);
    match content_count(&a[..front]) {
        _ if !apart => None,
        2.. if says(&a[..front]) && mine[0].sort == ItemKind::Value => Some(ValueDifference::Behind),
        _ => (content_count(&a) >= 3).then_some(ValueDifference::Elsewhere),
    }
}

/// Whether `new` says that something has changed, and repeats all of `known` but for one value or name, in the place of which
/// it has another: "the trial is on 4 May", "we moved the trial to 9 June".
pub(super) fn changed_in_one_value(new: &AnalysedText, known: &AnalysedText) -> bool {
    let (Some(a), Some(b)) = (new.sentences.first(), known.sentences.first()) else { return false };
    if !(new.changes && new.is_single() && known.is_single() && new.tabled && known.tabled && !known.is_negated()) {
        return false;
    }
    const OTHER: u64 = form::MANY | form::DID | form::PAST | form::CONDITION | form::UNREAL | form::LASTING;
    let (a, b) = (plain(a), plain(b));
    let settled = |items: &[&TextItem], other: u64| items.iter().all(|item| item.form & other == 0);
    let shared_content = b.iter().filter(|item| item.sort == ItemKind::Content && find(&a, item).is_some()).count();
    let (Some(mine), Some(theirs)) = (stands_alone(&a, &b), stands_alone(&b, &a)) else { return false };
    // Nothing else that is known may be lost.
    let lost = b.iter().enumerate().any(|(place, item)| {
        !theirs.contains(&place)
            && item.form & form::MINE == 0
            && item.sort != ItemKind::Limit
            && find(&a, item).is_none()
    });
    let alike_at = |mine: Option<&&TextItem>, theirs: Option<&&TextItem>| {
        mine.zip(theirs).is_some_and(|(mine, theirs)| alike(mine, theirs))
    };
    let role = a[mine.start].role.is_some() && a[mine.start].role == b[theirs.start].role;
    let before = mine.start > 0 && theirs.start > 0 && alike_at(a.get(mine.start - 1), b.get(theirs.start - 1));
    let placed = role || before || alike_at(a.get(mine.end), b.get(theirs.end));
    a[mine.start].sort == b[theirs.start].sort
        && placed
        && !lost
        && shared_content >= 2
        && settled(&b, OTHER)
        && settled(&a, OTHER & !form::DID & !form::PAST)
}

/// The one value or name that only these items have. `None` if there is none, or more than one.
fn stands_alone(items: &[&TextItem], other: &[&TextItem]) -> Option<std::ops::Range<usize>> {
    let named = |item: &TextItem| item.sort == ItemKind::Value || item.capital && item.form == 0;
    let own: Vec<usize> =
        (0..items.len()).filter(|place| named(items[*place]) && find(other, items[*place]).is_none()).collect();
    let (first, last) = (*own.first()?, *own.last()?);
    (last + 1 - first == own.len() && own.len() <= 3).then_some(first..last + 1)
}

/// Whether a value may be just a name: a bare number or a code, and not a date, a time or a quantity.
fn is_label(key: &str) -> bool {
    let digits = key.trim_end_matches(char::is_alphabetic);
    let unit = &key[digits.len()..];
    let dated = key.contains(':') || key.len() == 5 && key.as_bytes()[2] == b'-' || key.len() == 10;
    !dated && !among("mm mg ml s eur usd gbp rub mon tue wed thu fri sat sun", unit)
}

/// The items without what only says that something was wrong or is new.
fn plain(items: &[TextItem]) -> Vec<&TextItem> {
    items.iter().filter(|item| item.form & (form::CORRECTION | form::OPENER) == 0).collect()
}

fn same(a: &TextItem, b: &TextItem) -> bool {
    a.sort == b.sort && a.role == b.role && alike(a, b)
}

/// Whether `known` says anything beside this claim that `new` does not say: that would be lost with it.
pub(super) fn says_more_than(known: &AnalysedText, claim: &Claim, new: &AnalysedText) -> bool {
    let claimed: HashSet<&str> = claim.value.split(' ').chain(claim.subject.split(' ')).collect();
    let repeated: Vec<&TextItem> = new.items().collect();
    let since = |item: &TextItem| item.role.as_deref().is_some_and(|role| among("since seit desde depuis с со", role));
    let address = |item: &TextItem| claim.attribute == "address" && item.capital;
    let missing = |item: &&TextItem| {
        item.form & (form::LIFE | form::SETS | form::MINE | form::FIRST | form::HAS) == 0
            && !since(item)
            && !address(item)
            && !claimed.contains(item.key.as_str())
            && find(&repeated, item).is_none()
    };
    let count = |sort: ItemKind| known.items().filter(|item| item.sort == sort).filter(missing).count();
    // A number with its unit is one value, and no word of the claim.
    count(ItemKind::Content) > 0
        || count(ItemKind::Value) > usize::from(matches!(claim.sort, ValueType::Number | ValueType::Day))
}

/// Words by which a number is not exact.
const ABOUT: &str = "about around approxim rough ca etwa ungefähr circa environ примерн окол";

/// A word that ends what stands behind a negation: anymore, any longer.
fn is_over(item: &TextItem) -> bool {
    item.form & form::CHANGE != 0 && among("anymor longer mehr más больш", &item.key)
}

/// Whether `new` says outright that what `known` says has ended, or is something else: "no longer smokes", "is not a ketch
/// but a sloop".
pub(super) fn ends(new: &AnalysedText, known: &AnalysedText) -> bool {
    let (Some(a), Some(b)) = (new.sentences.first(), known.sentences.first()) else { return false };
    let limited = |item: &TextItem| item.sort == ItemKind::Limit && !among(ABOUT, &item.key);
    if !known.is_single() || known.is_negated() || b.iter().any(limited) {
        return false;
    }
    let Some(at) = a.iter().position(|item| item.sort == ItemKind::Negation || item.form & form::ENDS != 0) else {
        return false;
    };
    let said: Vec<&TextItem> = b.iter().collect();
    let subject = &a[..at];
    let same_subject =
        !subject.is_empty() && subject.len() <= b.len() && subject.iter().zip(b).all(|(a, b)| alike(a, b));
    let rest = &a[at..];
    let instead = rest.iter().position(|item| item.form & form::INSTEAD != 0 && item.form & form::NEGATION == 0);
    let ended: Vec<&TextItem> = rest[..instead.unwrap_or(rest.len())]
        .iter()
        .filter(|item| matches!(item.sort, ItemKind::Content | ItemKind::Value) && item.form & form::ENDS == 0)
        .filter(|item| !is_over(item))
        .collect();
    // "Is not vegetarian anymore".
    let over = rest[0].sort == ItemKind::Negation && rest.iter().any(is_over);
    let outright = over || instead.is_some() || rest.iter().any(|item| item.form & form::ENDS != 0);
    // What the known text names beside that would be lost.
    let lost = b[subject.len().min(b.len())..]
        .iter()
        .any(|item| item.capital && item.form == 0 && a.iter().all(|other| !alike(other, item)));
    outright && same_subject && !lost && !ended.is_empty() && ended.iter().all(|item| find(&said, item).is_some())
}

/// Whether both speak of the same: they share an owner, or name nobody, and this share of the longer one's words. Where
/// they share one word beside who speaks, that word is most of the statement.
pub(super) fn share_a_subject(new: &AnalysedText, known: &AnalysedText, share: f64) -> bool {
    let (a, b) = (new.content(), known.content());
    let (names, others) = (new.names(), known.names());
    let owners = names.is_empty() && others.is_empty()
        || names.iter().any(|name| others.contains(name) || b.contains(name))
        || others.iter().any(|name| a.contains(name));
    let shared = a.iter().filter(|word| b.contains(*word)).count();
    let speaks = new.speaker().is_some_and(|speaker| known.speaker() == Some(speaker));
    let share = if speaks && shared == 2 { share.max(0.51) } else { share };
    owners && shared >= 2 && shared as f64 >= share * a.len().max(b.len()) as f64
}

/// Whether `new` takes up what `known` speaks of to say something else of it: it names it and says that it was wrong or has
/// changed, says that it has ended, or gives another value for the same word.
pub(super) fn takes_up(new: &AnalysedText, known: &AnalysedText) -> bool {
    (new.changes || new.sets)
        && (names_again(new, known) || ends_something_of(new, known) || gives_another_value(new, known))
}

fn names_again(new: &AnalysedText, known: &AnalysedText) -> bool {
    let (a, b) = (new.content(), known.content());
    let names = known.names().into_iter().filter(|name| a.contains(name)).count();
    let measured = valued(known).iter().any(|one| a.contains(one.word));
    let shared = a.iter().filter(|word| b.contains(*word) && new.speaker() != Some(word)).count();
    let says = |forms: u64, but: u64| new.items().any(|item| item.form & forms != 0 && item.form & but == 0);
    let settles = new.corrects() || says(form::ENDS, form::DID);
    let changes = says(form::CHANGE, form::NOW | form::DID) || says(form::SETS, form::ROLE);
    // Among many words some are always shared.
    let least = if settles { 1 } else { 3 - usize::from(changes) } + a.len().max(b.len()) / 20;
    names > 0 && (new.changes || changes) && shared >= least || measured && changes
}

/// Beginnings of the words by which one thing is chosen before others of its sort.
const PREFERS: [&str; 6] = ["prefer", "prefier", "préfèr", "préfér", "bevorzug", "предпочита"];

/// Whether both say what the same one prefers, and name another thing: "prefers Python", "prefers TypeScript". Both may
/// hold, each for its purpose.
pub(super) fn prefers_another(new: &AnalysedText, known: &AnalysedText) -> bool {
    let (Some(a), Some(b)) = (new.sentences.first(), known.sentences.first()) else { return false };
    if !new.is_single() || !known.is_single() || new.is_negated() || known.is_negated() {
        return false;
    }
    let (a, b) = (plain(a), plain(b));
    let front = a.iter().zip(&b).take_while(|(a, b)| same(a, b)).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(a, b)| same(a, b)).count();
    let things = [&a[front..a.len() - back], &b[front..b.len() - back]];
    let prefers = |item: &&TextItem| PREFERS.iter().any(|start| item.key.starts_with(start));
    let names = |items: &[&TextItem]| {
        (1..=2).contains(&items.len()) && items.iter().all(|item| item.sort == ItemKind::Content && item.role.is_none())
    };
    a[..front].iter().any(prefers) && things.into_iter().all(names)
}

/// "I quit fasting", "not oar 4 any more".
fn ends_something_of(new: &AnalysedText, known: &AnalysedText) -> bool {
    let said: Vec<&TextItem> = known.items().collect();
    new.sentences.iter().any(|sentence| {
        let denied = sentence.iter().position(|item| item.sort == ItemKind::Negation);
        let at = match denied {
            Some(denied) => sentence.iter().any(|item| item.form & form::CHANGE != 0).then_some(denied),
            None => sentence.iter().position(|item| item.form & form::ENDS != 0),
        };
        let ended = at.and_then(|at| sentence[at + 1..].iter().find(|item| item.sort != ItemKind::Limit));
        ended.is_some_and(|ended| {
            (ended.sort == ItemKind::Content || denied.is_some() && ended.sort == ItemKind::Value)
                && ended.form & (form::FIRST | form::MINE | form::CHANGE | form::ENDS) == 0
                && find(&said, ended).is_some()
        })
    })
}

/// "Medovar 5 mg" and "the medovar goes up to 7.5".
fn gives_another_value(new: &AnalysedText, known: &AnalysedText) -> bool {
    let (a, b) = (valued(new), valued(known));
    let values = |all: &[WordWithValue<'_>], word: &str| -> HashSet<String> {
        all.iter().filter(|one| one.word == word).map(|one| one.value.to_owned()).collect()
    };
    a.iter().any(|one| {
        let (mine, theirs) = (values(&a, one.word), values(&b, one.word));
        !theirs.is_empty() && mine.is_disjoint(&theirs)
    })
}

/// A word that no table knows, with a value.
struct WordWithValue<'a> {
    word: &'a str,
    value: &'a str,
}

/// Words with the values that follow them or that count them; "we are 12" has the speaker for a word.
fn valued(reading: &AnalysedText) -> Vec<WordWithValue<'_>> {
    let mut found = Vec::new();
    for sentence in &reading.sentences {
        for (place, item) in sentence.iter().enumerate().filter(|(_, item)| item.sort == ItemKind::Value) {
            let nearest = place.saturating_sub(3)..place + 1 + usize::from(item.touches_next);
            let words = nearest.map(|other| &sentence[other]).filter(|other| {
                other.sort == ItemKind::Content && other.form & !form::SINGLE == 0 && is_specific(&other.key)
            });
            let speaker = sentence[..place].iter().rev().find(|other| other.sort != ItemKind::Limit);
            let speaker = speaker.filter(|other| other.is_next && other.form & form::FIRST != 0);
            found.extend(words.chain(speaker).map(|other| WordWithValue { word: &other.key, value: &item.key }));
        }
    }
    found
}

/// Whether a word names what is counted or measured, and not a time or money.
fn is_specific(word: &str) -> bool {
    const SPANS: &str = "minut hour day night week month year stund tag nacht woch monat jahr día hora noch seman mes año jour heur nuit \
        semain mois an час день дня ден ноч недел месяц год лет usd eur gbp rub";
    word.chars().count() > 2 && word.chars().all(char::is_alphabetic) && !is_day(word) && !among(SPANS, word)
}
