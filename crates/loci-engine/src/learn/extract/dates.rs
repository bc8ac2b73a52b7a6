//! Resolves the dates that a sentence names, relative to the day on which it was said.
//!
//! The words are left as they are. With a past tense, a day without a year is the latest one before the turn; with a
//! plan, the next one after it. Where neither is visible, and for vague times ("a few years ago"), no date is given:
//! a missing date is better than a wrong one.

use jiff::{Span, Timestamp, Zoned};
use loci_types::{Grain, TimeSpan};

use crate::learn::language::form;
use crate::learn::language::word::Word;
use crate::recall::plan::time::words::{among, month, season, weekday};
use crate::recall::plan::time::{TimePhrase, time_phrases};

/// The days that a sentence names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Dates {
    /// When what it tells happened, or will.
    pub(crate) event: Option<Timestamp>,
    /// Since when it holds.
    pub(crate) since: Option<Timestamp>,
    /// The days that the words do not give in full: `2026-05-30`, `≈ 2023-01-21`, `2025-11`.
    pub(crate) resolved: Vec<String>,
}

/// What the verbs of a sentence say about when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Past,
    Ahead,
    Unknown,
}

/// Words that open a stretch with one end.
const SINCE: &str = "since seit desde depuis с со";
const UNTIL: &str = "until till before bis hasta jusque до";
/// Words by which a time is only guessed at.
const VAGUE: &str = "few several couple some recently lately recent многие несколько пару недавно";
/// Verbs by which someone was at an event.
const WENT: &str = "had was were went attended missed ran played hatte hatten war waren tuve fue fui fuimos eu avait был была было были ходил ходила";
/// Words that refer to any such day.
const ANY: &str = "a an some any each ein eine einem einer un una une";
/// Words that refer to a future day: plans are often in the present tense.
const AHEAD: &str = "will by starts starting start begins beginning opens opening closes expires ends renews launches arrives leaves come comes getting \
    wird werden beginnt startet endet öffnet empieza comienza termina abre será commence finit ouvre sera будет начинается откроется";
/// Words that say which way to count.
const TURNED: &str = "last past ago next this before yesterday today tomorrow tonight назад вчера сегодня завтра gestern heute morgen ayer hoy hier demain";

/// The days of a sentence that was said then.
pub(crate) fn dates(text: &str, words: &[Word], said: &Zoned) -> Dates {
    let mut dates = Dates::default();
    for phrase in time_phrases(text, said) {
        let named = text[phrase.at.clone()].to_lowercase();
        let first = named.split_whitespace().next().unwrap_or_default().to_owned();
        if named.split_whitespace().any(|word| among(VAGUE, word)) {
            continue;
        }
        let before: Vec<&Word> = words.iter().filter(|word| word.at.end <= phrase.at.start).collect();
        // "Moved from 5 May to 12 May" does not mean the week between them.
        if among("from von de с", &first) && before.iter().rev().take(4).any(|word| word.is(form::SETS)) {
            continue;
        }
        // "It feels like just yesterday", "on a Friday" and "every second Sunday" name no day.
        let any = before.last().is_some_and(|word| among(ANY, &word.text))
            || before.iter().rev().take(2).any(|word| word.is(form::LASTING))
            || named
                .split_whitespace()
                .any(|word| among(ANY, word) || among("every jeden cada chaque каждый каждую", word));
        if any || before.iter().rev().take(3).any(|word| word.text == "like") {
            continue;
        }
        let since = among(SINCE, &first) || before.iter().rev().take(2).any(|word| word.is(form::SINCE));
        let tense = if since { Tense::Past } else { tense(words, &before) };
        let Some(span) = settled(&phrase, &named, tense, said) else { continue };
        if since {
            dates.since = dates.since.or(Some(span.from));
        } else if !among(UNTIL, &first) && dates.event.is_none() && tense != Tense::Unknown {
            dates.event = Some(span.from);
        }
        // "Till October" says when it ends, and nothing of when it begins.
        if !has_year(&named) && !among(UNTIL, &first) {
            let text = written(span, since, &named, said);
            if !dates.resolved.contains(&text) {
                dates.resolved.push(text);
            }
        }
    }
    dates
}

/// The tense around a phrase: of the nearest verb before it in its clause, else of any in its sentence.
fn tense(words: &[Word], before: &[&Word]) -> Tense {
    let clause = before.iter().rposition(|word| word.mark(",;:.!")).map_or(0, |mark| mark + 1);
    let near = before[clause..].iter().rev().take(8).find_map(|word| verb(word));
    // "Getting married", "will be moved": the participle says nothing.
    let ahead = before[clause..].iter().rev().take(4).any(|word| verb(word) == Some(Tense::Ahead));
    let near = near.map(|tense| if ahead { Tense::Ahead } else { tense });
    // "Moved to", "postponed to": what was arranged lies ahead, whenever that was done.
    let moved = before.last().is_some_and(|word| word.is(form::TO))
        && before[clause..].iter().rev().take(6).any(|word| word.is(form::SETS | form::CHANGE));
    if moved {
        return Tense::Ahead;
    }
    // "The appointment is on the 12th" lies ahead; "the second flight of stairs" does not.
    let event = before.iter().rev().take(4).any(|word| word.is(form::EVENT));
    let said: Vec<Tense> = words.iter().filter_map(verb).collect();
    // "I bought tickets for the concert on 15 April" says when it was bought as little as it says which year.
    let went = before.iter().any(|word| among(WENT, &word.text));
    match near {
        Some(Tense::Past) if event && !went => Tense::Unknown,
        Some(tense) => tense,
        None if said.contains(&Tense::Past) => Tense::Past,
        None if event || said.contains(&Tense::Ahead) => Tense::Ahead,
        None => Tense::Unknown,
    }
}

/// What a verb says about when.
fn verb(word: &Word) -> Option<Tense> {
    match () {
        () if among(AHEAD, &word.text) || word.is(form::PLANS) => Some(Tense::Ahead),
        () if word.is(form::DID | form::PAST) => Some(Tense::Past),
        () => None,
    }
}

/// The span that a phrase refers to. `None` if it is ambiguous.
fn settled(phrase: &TimePhrase, named: &str, tense: Tense, said: &Zoned) -> Option<TimeSpan> {
    let words = || named.split(|c: char| !c.is_alphanumeric());
    let turned =
        words().any(|word| among(TURNED, word) || ["прошл", "следующ", "эт"].iter().any(|stem| word.starts_with(stem)));
    // "This weekend" of which someone tells on a Wednesday is the one before.
    if tense == Tense::Past && phrase.span.from > said.timestamp() && words().next() == Some("this") {
        return None;
    }
    let yearly = words().any(|word| month(word).is_some() || season(word).is_some());
    let weekly = words().any(|word| weekday(word).is_some());
    // A Wednesday named on a Wednesday is ambiguous, and so are words that only some languages have.
    let today = phrase.span.from <= said.timestamp() && said.timestamp() < phrase.span.until;
    if weekly && !turned && !yearly && (today || !words().filter(|word| !word.is_empty()).all(is_known_word)) {
        return None;
    }
    if has_year(named) || turned || phrase.span.until > said.timestamp() {
        return Some(phrase.span);
    }
    match tense {
        Tense::Past => Some(phrase.span),
        Tense::Ahead if yearly => moved(phrase.span, Span::new().years(1), said),
        Tense::Ahead if weekly => moved(phrase.span, Span::new().weeks(1), said),
        // "By Christmas".
        Tense::Ahead if phrase.span.grain == Grain::Day => moved(phrase.span, Span::new().years(1), said),
        Tense::Ahead => Some(phrase.span),
        Tense::Unknown => (!yearly && !weekly).then_some(phrase.span),
    }
}

/// Whether the words around a weekday are known in this language: only those of English and Russian are.
fn is_known_word(word: &str) -> bool {
    const OTHERS: &str = "montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes \
        miércoles jueves viernes sábado domingo";
    !among(OTHERS, word)
}

fn moved(span: TimeSpan, step: Span, said: &Zoned) -> Option<TimeSpan> {
    let move_one = |at: Timestamp| Some(at.to_zoned(said.time_zone().clone()).checked_add(step).ok()?.timestamp());
    Some(TimeSpan { from: move_one(span.from)?, until: move_one(span.until)?, grain: span.grain })
}

/// How a stretch is written in the bracket behind the words.
fn written(span: TimeSpan, since: bool, named: &str, said: &Zoned) -> String {
    let zone = said.time_zone();
    let from = span.from.to_zoned(zone.clone());
    let whole_days = (span.until.as_second() - span.from.as_second()) / 86_400;
    let counted = named.contains("ago") || named.contains("назад");
    match span.grain {
        Grain::Minute | Grain::Day if whole_days <= 1 => from.strftime("%Y-%m-%d").to_string(),
        // "Two weeks ago" is near a day, not a calendar week: the same weekday then.
        Grain::Week if counted => {
            let weeks = (said.timestamp().as_second() - span.from.as_second()) / (7 * 86_400);
            let day = said.checked_sub(Span::new().weeks(weeks)).unwrap_or_else(|_| from.clone());
            format!("≈ {}", day.strftime("%Y-%m-%d"))
        }
        Grain::Month if whole_days <= 31 => format!("{}{}", if counted { "≈ " } else { "" }, from.strftime("%Y-%m")),
        Grain::Year => format!("{}{}", if counted { "≈ " } else { "" }, from.strftime("%Y")),
        _ if since => from.strftime("%Y-%m-%d").to_string(),
        Grain::Month => format!("≈ {}", from.strftime("%Y-%m")),
        // The middle of a week, a weekend or a longer stretch.
        _ => {
            let middle = Timestamp::from_second(i64::midpoint(span.from.as_second(), span.until.as_second()))
                .unwrap_or(span.from);
            format!("≈ {}", middle.to_zoned(zone.clone()).strftime("%Y-%m-%d"))
        }
    }
}

fn has_year(named: &str) -> bool {
    named.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    use super::*;
    use crate::learn::language::language_of;
    use crate::learn::language::word::words;

    #[test]
    fn dates_are_resolved_and_doubtful_ones_are_not() {
        // A Monday.
        let said = date(2026, 6, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        for (text, expect) in [
            ("We met on Friday", vec!["2026-05-29"]),
            ("I moved last month", vec!["2026-05"]),
            ("I bought it 3 days ago", vec!["2026-05-29"]),
            ("Two weeks ago I read Avalanche in one sitting", vec!["≈ 2026-05-18"]),
            ("I moved two years ago", vec!["≈ 2024"]),
            ("She passed away a few years ago", vec![]),
            ("I had to miss the book club on December 5", vec!["2025-12-05"]),
            ("I signed the contract on July 10", vec!["2025-07-10"]),
            ("The appointment is on 12 June", vec!["2026-06-12"]),
            ("The appointment is on 12 May", vec!["2027-05-12"]),
            ("I'm going to see him tomorrow", vec!["2026-06-02"]),
            ("My uncle's birthday is 8 May", vec![]),
            ("I finished it in 2022", vec![]),
            ("I'm joining the night crew, starting July 13, Ed got me in", vec!["2026-07-13"]),
            ("we found Nora she starts the 15 June and works from home", vec!["2026-06-15"]),
            ("Hugo's getting married on 12 September", vec!["2026-09-12"]),
            ("They lent us two sheds till October", vec![]),
            ("It was a leak found on a Friday afternoon", vec![]),
            ("She visits us every second Sunday", vec![]),
            ("It will be done by Christmas", vec!["2026-12-25"]),
            ("My exam was postponed to 10 July", vec!["2026-07-10"]),
            ("The deadline was moved from 5 July to 12 July", vec![]),
            ("I bought tickets for the concert on 15 July", vec![]),
            ("I had a dentist appointment on 12 February", vec!["2026-02-12"]),
            ("My contract ended on 28 February and the new one begins on 1 July", vec!["2026-02-28", "2026-07-01"]),
            ("It feels like just yesterday that I sang it", vec![]),
            ("We tried curling this weekend", vec![]),
            ("Я переехал вчера", vec!["2026-05-31"]),
            ("Wir treffen uns am 13. Juni zur Prüfung", vec!["2026-06-13"]),
        ] {
            let found = dates(text, &words(text, language_of(text)), &said);
            assert_eq!(found.resolved, expect, "{text}");
        }
    }

    #[test]
    fn event_and_validity_are_two_things() {
        let said = date(2026, 6, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        let day = |text: &str| Some(format!("{text}T00:00:00Z").parse::<Timestamp>().unwrap());
        for (text, event, since) in [
            ("We met on Friday", day("2026-05-29"), None),
            ("I work at Acme since January", None, day("2026-01-01")),
            ("The appointment is on 12 June", day("2026-06-12"), None),
            ("I like tea", None, None),
        ] {
            let found = dates(text, &words(text, language_of(text)), &said);
            assert_eq!((found.event, found.since), (event, since), "{text}");
        }
    }
}
