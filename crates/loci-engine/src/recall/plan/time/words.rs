//! Word lists of time expressions.
//!
//! English and Russian, with the months and days of German, French and Spanish, as tokens spell them: lower case, "е"
//! for "ё". A row has the forms of one word. The grammar decides whether a word means a time where it occurs.

use std::collections::HashSet;
use std::sync::LazyLock;

use jiff::civil::Weekday;

/// Months that are nothing else: these speak of time wherever they stand.
const MONTHS: [&str; 12] = [
    "january januar janvier enero январь января январю январем январе",
    "february februar février febrero февраль февраля февралю февралем феврале",
    "märz marzo март марта марту мартом марте",
    "avril abril апрель апреля апрелю апрелем апреле",
    "май мая маю маем мае",
    "juni juin junio июнь июня июню июнем июне",
    "july juli juillet julio июль июля июлю июлем июле",
    "août agosto август августа августу августом августе",
    "september septembre septiembre сентябрь сентября сентябрю сентябрем сентябре",
    "october oktober octobre octubre октябрь октября октябрю октябрем октябре",
    "november novembre noviembre ноябрь ноября ноябрю ноябрем ноябре",
    "december dezember décembre diciembre декабрь декабря декабрю декабрем декабре",
];

/// Months that are also verbs, names or other words: they need a date-like place.
const DOUBTFUL_MONTHS: [&str; 12] = [
    "jan янв",
    "feb фев февр",
    "march mars mar мар",
    "april apr апр",
    "may mai mayo",
    "june jun",
    "jul",
    "august aug авг",
    "sep sept сен сент",
    "oct окт",
    "nov ноя нояб",
    "dec дек",
];

const WEEKDAYS: [&str; 7] = [
    "monday montag lundi lunes понедельник понедельника понедельнику понедельником понедельнике",
    "tuesday dienstag mardi martes вторник вторника вторнику вторником вторнике",
    "wednesday mittwoch mercredi miércoles",
    "thursday donnerstag jeudi jueves четверг четверга четвергу четвергом четверге",
    "friday freitag vendredi viernes пятница пятницу пятницы пятнице пятницей",
    "saturday samstag samedi sábado суббота субботу субботы субботе субботой",
    "sunday sonntag dimanche domingo воскресенье воскресенья воскресенью воскресеньем",
];

/// "Sat" and "sun" are words, and "среда" is an environment.
const DOUBTFUL_WEEKDAYS: [&str; 7] =
    ["mon пн", "tue tues вт", "wed среда среду среды среде ср", "thu thur thurs чт", "fri пт", "sat сб", "sun вс"];

const SEASONS: [&str; 4] = [
    "winter зима зимой зиму зимы зиме",
    "spring весна весной весну весны весне",
    "summer лето летом лета лету лете",
    "autumn fall осень осенью осени",
];

const CARDINALS: [&str; 13] = [
    "zero ноль",
    "one один одна одно одну одного одной",
    "two два две двух двум двумя",
    "three три трех трем тремя",
    "four четыре четырех четырем",
    "five пять пяти",
    "six шесть шести",
    "seven семь семи",
    "eight восемь восьми",
    "nine девять девяти",
    "ten десять десяти",
    "eleven одиннадцать одиннадцати",
    "twelve двенадцать двенадцати",
];

const TENS: [&str; 5] =
    ["twenty двадцать двадцати", "thirty тридцать тридцати", "forty сорок", "fifty пятьдесят", "sixty шестьдесят"];

/// Days of the month: "the seventh", "седьмого мая".
const ORDINALS: [&str; 20] = [
    "first первого первое",
    "second второго второе",
    "third третьего третье",
    "fourth четвертого четвертое",
    "fifth пятого пятое",
    "sixth шестого шестое",
    "seventh седьмого седьмое",
    "eighth восьмого восьмое",
    "ninth девятого девятое",
    "tenth десятого десятое",
    "eleventh одиннадцатого одиннадцатое",
    "twelfth двенадцатого двенадцатое",
    "thirteenth тринадцатого тринадцатое",
    "fourteenth четырнадцатого четырнадцатое",
    "fifteenth пятнадцатого пятнадцатое",
    "sixteenth шестнадцатого шестнадцатое",
    "seventeenth семнадцатого семнадцатое",
    "eighteenth восемнадцатого восемнадцатое",
    "nineteenth девятнадцатого девятнадцатое",
    "twentieth двадцатого двадцатое",
];

/// Days that have a fixed date: the words, the month, the day, how many days.
pub(super) const HOLIDAYS: &[(&str, i8, i8, i8)] = &[
    ("christmas eve", 12, 24, 1),
    ("christmas day", 12, 25, 1),
    ("christmas", 12, 25, 1),
    ("xmas", 12, 25, 1),
    ("boxing day", 12, 26, 1),
    ("new year eve", 12, 31, 1),
    ("new years eve", 12, 31, 1),
    ("new year day", 1, 1, 1),
    ("new years day", 1, 1, 1),
    ("new year", 1, 1, 1),
    ("valentine day", 2, 14, 1),
    ("valentines day", 2, 14, 1),
    ("april fools day", 4, 1, 1),
    ("halloween", 10, 31, 1),
    ("новый год", 1, 1, 1),
    ("нового года", 1, 1, 1),
    ("новому году", 1, 1, 1),
    // In Russian the word alone is the Orthodox feast.
    ("рождество", 1, 7, 1),
    ("рождества", 1, 7, 1),
    ("рождеству", 1, 7, 1),
    ("хэллоуин", 10, 31, 1),
    ("хэллоуина", 10, 31, 1),
];

/// Words that tell a time by themselves, even if not which.
pub(crate) const TIMES: &str = "ago tonight recently lately noon midnight o'clock morning afternoon evening night \
    christmas xmas easter thanksgiving halloween назад недавно утром днем вечером ночью полдень полночь \
    рождество рождества рождеству пасха пасху пасхи";

/// Words that start a phrase and stand in no table.
const STARTERS: &str = "a an couple few several half пару пара пары несколько нескольких полгода полтора \
    since before until till after from between prior с со до после между от \
    early mid late beginning start middle end начале начало начала началу середине середина середины середину \
    конце конец конца концу q1 q2 q3 q4 today yesterday tomorrow heute gestern vorgestern übermorgen hoy ayer anteayer hier demain сегодня вчера завтра позавчера послезавтра \
    last previous this current next upcoming coming past recent thirtieth тридцатого тридцатое";

/// Every English word and every fixed Russian form that speaks of time: most words of a text do not,
/// and one look here spares them all others.
static KNOWN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let tables = [&MONTHS[..], &DOUBTFUL_MONTHS, &WEEKDAYS, &DOUBTFUL_WEEKDAYS, &SEASONS, &CARDINALS, &TENS, &ORDINALS];
    let rows = tables.into_iter().flatten().copied().chain([TIMES, STARTERS]);
    let units = UNITS.iter().flat_map(|(_, one, many)| [*one, *many]);
    let holidays = HOLIDAYS.iter().map(|(words, ..)| *words);
    rows.chain(units).chain(holidays).flat_map(|row| row.split(' ')).collect()
});

/// Whether a word may start a phrase of time.
pub(crate) fn known(word: &str) -> bool {
    KNOWN.contains(word) || (!word.is_ascii() && (which(word).is_some() || nth(word).is_some()))
}

/// A length of time that a calendar knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
}

const UNITS: [(Unit, &str, &str); 8] = [
    (Unit::Minute, "minute минута минуту", "minutes mins минуты минут"),
    (Unit::Hour, "hour час часа", "hours hrs часов часы"),
    (Unit::Day, "day день дня дню", "days дней дни днях сутки суток"),
    (Unit::Week, "week неделя неделю недели неделе неделей", "weeks недель неделях"),
    (Unit::Weekend, "weekend выходные выходных выходным", "weekends"),
    (Unit::Month, "month месяц месяца месяце месяцу", "months месяцев месяцы месяцах"),
    (Unit::Quarter, "quarter квартал квартала квартале кварталу", "quarters кварталов кварталы"),
    (Unit::Year, "year год года году годом", "years лет годы годах"),
];

/// Which of several equal spans an expression refers to, relative to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelativePosition {
    /// Not said: the one that memories are about.
    Recent,
    BeforeLast,
    Last,
    This,
    Next,
    /// The next that comes, even in this week.
    Coming,
    /// The stretch that ends now, of whatever length: "the past week", "за последние дни".
    Past,
}

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayPart {
    Morning,
    Afternoon,
    Evening,
    Night,
}

/// A third of a month or of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Third {
    Early,
    Middle,
    Late,
}

/// Whether the word is one of a row of forms.
pub(crate) fn among(row: &str, word: &str) -> bool {
    !word.is_empty() && row.split(' ').any(|form| form == word)
}

fn row(table: &[&str], word: &str) -> Option<i8> {
    let found = || table.iter().position(|forms| among(forms, word)).map(|place| place as i8);
    KNOWN.contains(word).then(found).flatten()
}

/// The month, 1 to 12, if it can be nothing else.
pub(crate) fn sure_month(word: &str) -> Option<i8> {
    row(&MONTHS, word).map(|place| place + 1)
}

/// The month, 1 to 12, if the word may be one.
pub(crate) fn month(word: &str) -> Option<i8> {
    sure_month(word).or_else(|| row(&DOUBTFUL_MONTHS, word).map(|place| place + 1))
}

/// The weekday, if it can be nothing else.
pub(crate) fn sure_weekday(word: &str) -> Option<Weekday> {
    row(&WEEKDAYS, word).and_then(|place| Weekday::from_monday_zero_offset(place).ok())
}

/// The weekday, if the word may be one.
pub(crate) fn weekday(word: &str) -> Option<Weekday> {
    let doubtful = || row(&DOUBTFUL_WEEKDAYS, word).and_then(|place| Weekday::from_monday_zero_offset(place).ok());
    sure_weekday(word).or_else(doubtful)
}

/// The first month of a season; winter starts in the December before its year, month 0.
pub(crate) fn season(word: &str) -> Option<i8> {
    row(&SEASONS, word).map(|place| place * 3)
}

/// A number up to twelve, or whole tens up to sixty.
pub(crate) fn cardinal(word: &str) -> Option<i32> {
    row(&CARDINALS, word).map(i32::from).or_else(|| row(&TENS, word).map(|place| (i32::from(place) + 2) * 10))
}

/// A day of the month up to the twentieth, or the thirtieth.
pub(super) fn ordinal(word: &str) -> Option<i8> {
    let thirtieth = || among("thirtieth тридцатого тридцатое", word).then_some(30);
    row(&ORDINALS, word).map(|place| place + 1).or_else(thirtieth)
}

/// The unit, and whether the word stands for several of it.
pub(crate) fn unit(word: &str) -> Option<(Unit, bool)> {
    UNITS.iter().find_map(|&(unit, one, many)| {
        if among(one, word) { Some((unit, false)) } else { among(many, word).then_some((unit, true)) }
    })
}

pub(super) fn part(word: &str) -> Option<DayPart> {
    Some(match word {
        "morning" | "утром" => DayPart::Morning,
        "afternoon" | "днем" => DayPart::Afternoon,
        "evening" | "вечером" => DayPart::Evening,
        "night" | "ночью" => DayPart::Night,
        _ => return None,
    })
}

/// The distance in days from today that a word expresses.
pub(crate) fn day(word: &str) -> Option<i32> {
    Some(match word {
        "today" | "heute" | "hoy" | "aujourd'hui" | "сегодня" => 0,
        "yesterday" | "gestern" | "ayer" | "hier" | "вчера" => -1,
        "tomorrow" | "demain" | "завтра" => 1,
        "позавчера" | "vorgestern" | "anteayer" => -2,
        "послезавтра" | "übermorgen" => 2,
        _ => return None,
    })
}

const ADJECTIVE_ENDINGS: &str = "ый ий ой ая яя ую юю ое ее ом ем ым им ого его ому ему ей ые ие ых их ыми ими";

/// The relative position that a word expresses.
pub(crate) fn which(word: &str) -> Option<RelativePosition> {
    const STEMS: &[(&str, RelativePosition)] = &[
        ("позапрошл", RelativePosition::BeforeLast),
        ("прошл", RelativePosition::Last),
        ("минувш", RelativePosition::Last),
        ("следующ", RelativePosition::Next),
        ("будущ", RelativePosition::Next),
        ("ближайш", RelativePosition::Coming),
        ("текущ", RelativePosition::This),
        ("последн", RelativePosition::Past),
    ];
    Some(match word {
        "last" | "previous" => RelativePosition::Last,
        "this" | "current" => RelativePosition::This,
        "next" => RelativePosition::Next,
        "upcoming" | "coming" => RelativePosition::Coming,
        "past" | "recent" => RelativePosition::Past,
        _ if among("этот эта это этого этой этому этом эту этим эти этих", word) => {
            RelativePosition::This
        }
        _ => return STEMS.iter().find(|(stem, _)| adjective(stem, word)).map(|(_, which)| *which),
    })
}

/// Whether a Russian adjective speaks of several.
pub(super) fn plural(word: &str) -> bool {
    matches!(word, "эти" | "этих") || ["ые", "ие", "ых", "их"].iter().any(|ending| word.ends_with(ending))
}

/// The ordinal within a month, such as the first week or the last Friday. -1 is the last.
pub(super) fn nth(word: &str) -> Option<i8> {
    const STEMS: &[(&str, i8)] = &[("перв", 1), ("втор", 2), ("четверт", 4), ("последн", -1)];
    Some(match word {
        "first" => 1,
        "second" => 2,
        "third" | "третий" | "третья" | "третью" | "третьей" | "третьем" => 3,
        "fourth" => 4,
        "last" => -1,
        _ => return STEMS.iter().find(|(stem, _)| adjective(stem, word)).map(|(_, nth)| *nth),
    })
}

fn adjective(stem: &str, word: &str) -> bool {
    word.strip_prefix(stem).is_some_and(|ending| among(ADJECTIVE_ENDINGS, ending))
}
