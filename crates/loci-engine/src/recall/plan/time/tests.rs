//! Tests of time expressions.
//!
//! A row is a sentence with its phrases in brackets, and their spans at noon on Wednesday, 15 May 2024, in Berlin. An
//! end of `..` is open.

use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use loci_types::Grain;

use super::{OPEN_FUTURE, OPEN_PAST, TimePhrase, time_phrases};

const ENGLISH: &[(&str, &str)] = &[
    // Days.
    ("What did I eat [today]?", "2024-05-15..2024-05-16 day"),
    ("Who called me [yesterday]?", "2024-05-14..2024-05-15 day"),
    ("Notes of [YESTERDAY]'s stand-up", "2024-05-14..2024-05-15 day"),
    ("Is there a meeting [tomorrow]?", "2024-05-16..2024-05-17 day"),
    ("We talked about it the [day before yesterday].", "2024-05-13..2024-05-14 day"),
    ("The demo is the [day after tomorrow].", "2024-05-17..2024-05-18 day"),
    ("What is on [tonight]?", "2024-05-15T18:00..2024-05-16T06:00 day"),
    ("What did I decide [this morning]?", "2024-05-15..2024-05-15T12:00 day"),
    ("He came [yesterday evening].", "2024-05-14T17:00..2024-05-15 day"),
    ("Something broke [last night].", "2024-05-14T18:00..2024-05-15T06:00 day"),
    // Whole units beside now.
    ("What happened [last week]?", "2024-05-06..2024-05-13 week"),
    ("What is planned for [this week]?", "2024-05-13..2024-05-20 week"),
    ("Where do we go [next week]?", "2024-05-20..2024-05-27 week"),
    ("How much did I spend [last month]?", "2024-04-01..2024-05-01 month"),
    ("Summarise [this month].", "2024-05-01..2024-06-01 month"),
    ("The audit is [next month].", "2024-06-01..2024-07-01 month"),
    ("Where did we travel [last year]?", "2023-01-01..2024-01-01 year"),
    ("What have I read [this year]?", "2024-01-01..2025-01-01 year"),
    ("We will move [next year].", "2025-01-01..2026-01-01 year"),
    ("What did we do [last weekend]?", "2024-05-11..2024-05-13 day"),
    ("Any plans for [this weekend]?", "2024-05-18..2024-05-20 day"),
    ("[Next weekend] we hike.", "2024-05-25..2024-05-27 day"),
    ("Did I run over the [weekend]?", "2024-05-11..2024-05-13 day"),
    ("Revenue [last quarter] was flat.", "2024-01-01..2024-04-01 month"),
    ("Goals for [this quarter]", "2024-04-01..2024-07-01 month"),
    ("We met the [week before last].", "2024-04-29..2024-05-06 week"),
    ("It broke [last week], then it healed.", "2024-05-06..2024-05-13 week"),
    // Stretches that end now.
    ("What did I learn in the [last two weeks]?", "2024-05-01..2024-05-15T12:00 week"),
    ("Errors in the [past 3 days]", "2024-05-12..2024-05-15T12:00 day"),
    ("Over the [past month] I slept badly.", "2024-04-15..2024-05-15T12:00 month"),
    ("In the [last year] I moved twice.", "2023-05-15..2024-05-15T12:00 year"),
    ("In the [last 6 months] we shipped twice.", "2023-11-15..2024-05-15T12:00 month"),
    ("Over the [last couple of weeks] it rained.", "2024-05-01..2024-05-15T12:00 week"),
    ("How did I feel the [past few days]?", "2024-05-10..2024-05-15T12:00 day"),
    ("Logs of the [last 24 hours]", "2024-05-14T12:00..2024-05-15T12:00 minute"),
    ("Over the [past two years] I moved often.", "2022-05-15..2024-05-15T12:00 year"),
    ("In the [next 3 days] I travel.", "2024-05-15T12:00..2024-05-19 day"),
    ("What have I been up to [recently]?", "2024-05-01..2024-05-15T12:00 week"),
    ("Have I been sick [lately]?", "2024-05-01..2024-05-15T12:00 week"),
    // Ago.
    ("I saw her [3 days ago].", "2024-05-12..2024-05-13 day"),
    ("I started [two weeks ago].", "2024-04-29..2024-05-06 week"),
    ("That was [a week ago].", "2024-05-06..2024-05-13 week"),
    ("We deployed [a couple of days ago].", "2024-05-13..2024-05-14 day"),
    ("I adopted him [3 months ago].", "2024-02-01..2024-03-01 month"),
    ("She left [two years ago].", "2022-01-01..2023-01-01 year"),
    ("He wrote [a few days ago].", "2024-05-10..2024-05-14 week"),
    ("I rebooted it [2 hours ago].", "2024-05-15T10:00..2024-05-15T11:00 minute"),
    ("It was [a year and a half ago].", "2022-11-01..2022-12-01 month"),
    ("She left [2 years and 3 months ago].", "2022-02-01..2022-03-01 month"),
    ("I called [a week or two ago].", "2024-04-29..2024-05-13 week"),
    ("The lease ends [two weeks from now].", "2024-05-27..2024-06-03 week"),
    ("I bought it [two weeks before Christmas].", "2023-12-11..2023-12-18 week"),
    ("We left the [day after Christmas].", "2023-12-26..2023-12-27 day"),
    // Weekdays.
    ("What did I say on [Monday]?", "2024-05-13..2024-05-14 day"),
    ("What did I say on [Wednesday]?", "2024-05-08..2024-05-09 day"),
    ("Who came on [friday]?", "2024-05-10..2024-05-11 day"),
    ("We shipped [last Friday].", "2024-05-10..2024-05-11 day"),
    ("I meet her [this Tuesday].", "2024-05-14..2024-05-15 day"),
    ("The review is [next Friday].", "2024-05-24..2024-05-25 day"),
    ("We ran on [Sat] and slept.", "2024-05-11..2024-05-12 day"),
    ("On [Monday last week] I was ill.", "2024-05-06..2024-05-07 day"),
    ("[Last week on Thursday] I flew.", "2024-05-09..2024-05-10 day"),
    ("On the [Sunday before 25 May 2023] we met.", "2023-05-21..2023-05-22 day"),
    ("On the [Wednesday two months ago] it rained.", "2024-03-01..2024-04-01 month"),
    ("We meet on [Thursday, 16 May].", "2024-05-16..2024-05-17 day"),
    ("On [Sunday, May 7, 2023] we wed.", "2023-05-07..2023-05-08 day"),
    // Months and their days.
    ("What happened in [May 2023]?", "2023-05-01..2023-06-01 month"),
    ("What happened in [May]?", "2024-05-01..2024-06-01 month"),
    ("what did i do in [may]", "2024-05-01..2024-06-01 month"),
    ("What did we do in [June]?", "2023-06-01..2023-07-01 month"),
    ("[September] was hard.", "2023-09-01..2023-10-01 month"),
    ("On [May 7] I ran.", "2024-05-07..2024-05-08 day"),
    ("I ran on [7 May].", "2024-05-07..2024-05-08 day"),
    ("Berlin, [7. May 2023]", "2023-05-07..2023-05-08 day"),
    ("I ran on the [7th of May, 2023].", "2023-05-07..2023-05-08 day"),
    ("Caroline went on [7 May 2023] to it.", "2023-05-07..2023-05-08 day"),
    ("It was [May 7th, 2023] in Rome.", "2023-05-07..2023-05-08 day"),
    ("on the [second of march] it snowed", "2024-03-02..2024-03-03 day"),
    ("On the [twenty-first of June 2022]", "2022-06-21..2022-06-22 day"),
    ("Due [Jan. 5, 2024] at noon", "2024-01-05..2024-01-06 day"),
    ("We met at [Christmas]. 2022 was hard.", "2023-12-25..2023-12-26 day"),
    ("We met in [Sept 2022].", "2022-09-01..2022-10-01 month"),
    ("In [early May] it was cold.", "2024-05-01..2024-05-11 week"),
    ("Around [mid-May 2023] we met.", "2023-05-11..2023-05-21 week"),
    ("By [late March] we had moved.", "2024-03-21..2024-04-01 week"),
    ("At the [end of February 2024] it froze.", "2024-02-21..2024-03-01 week"),
    ("Where was I [last May]?", "2023-05-01..2023-06-01 month"),
    ("We married [this May]!", "2024-05-01..2024-06-01 month"),
    ("I start [next March].", "2025-03-01..2025-04-01 month"),
    ("In [May last year] I was in Rome.", "2023-05-01..2023-06-01 month"),
    ("[Last year in May] I was in Rome.", "2023-05-01..2023-06-01 month"),
    ("In [March] and [April] I wrote.", "2024-03-01..2024-04-01 month; 2024-04-01..2024-05-01 month"),
    ("In the [first week of May] I was ill.", "2024-05-01..2024-05-08 week"),
    ("The [last Friday of June 2023]", "2023-06-30..2023-07-01 day"),
    ("During the [week of May 7] we met.", "2024-05-06..2024-05-13 week"),
    ("We met on [February 29].", "2024-02-29..2024-03-01 day"),
    // Seasons, quarters, years, holidays.
    ("Where did we go in [summer 2022]?", "2022-06-01..2022-09-01 month"),
    ("The [fall of 2022] was wet.", "2022-09-01..2022-12-01 month"),
    ("In [winter 2022] we skied.", "2021-12-01..2022-03-01 month"),
    ("In [winter 2022/23] we skied.", "2022-12-01..2023-03-01 month"),
    ("[Spring 2023] was short.", "2023-03-01..2023-06-01 month"),
    ("What did we do [last summer]?", "2023-06-01..2023-09-01 month"),
    ("We went there in the [autumn].", "2023-09-01..2023-12-01 month"),
    ("I joined in [2022].", "2022-01-01..2023-01-01 year"),
    ("In [early 2023] I quit.", "2023-01-01..2023-05-01 month"),
    ("Music of the [1990s]", "1990-01-01..2000-01-01 year"),
    ("Revenue in [Q1 2024]", "2024-01-01..2024-04-01 month"),
    ("In the [first quarter of 2023] we grew.", "2023-01-01..2023-04-01 month"),
    ("What did I get at [Christmas]?", "2023-12-25..2023-12-26 day"),
    ("Where was I on [New Year's Eve]?", "2023-12-31..2024-01-01 day"),
    ("For [Halloween 2022] I was a cat.", "2022-10-31..2022-11-01 day"),
    ("[Last Christmas] I gave you my heart.", "2023-12-25..2023-12-26 day"),
    // Digits.
    ("The incident of [2023-05-07].", "2023-05-07..2023-05-08 day"),
    ("Invoice for [2023-05], please", "2023-05-01..2023-06-01 month"),
    ("Logged at [2023-05-07T10:30].", "2023-05-07T10:30..2023-05-07T10:31 minute"),
    ("Logged at [2023-05-07T10:30:15Z] here", "2023-05-07T12:30..2023-05-07T12:31 minute"),
    ("Logged at [2023-05-07T10:30+05:00] there", "2023-05-07T07:30..2023-05-07T07:31 minute"),
    ("Logged at [2023-05-07 10:30] here", "2023-05-07T10:30..2023-05-07T10:31 minute"),
    ("Signed on [07.05.2023].", "2023-05-07..2023-05-08 day"),
    ("Signed on [05/07/2023].", "2023-05-07..2023-05-08 day"),
    ("Signed on [25/12/2023].", "2023-12-25..2023-12-26 day"),
    ("I lived there ([2019-2021]).", "2019-01-01..2022-01-01 year"),
    // Ranges.
    ("What happened [between March and June]?", "2024-03-01..2024-07-01 month"),
    ("What happened [between March and June 2023]?", "2023-03-01..2023-07-01 month"),
    ("[Between November and February 2023] it was dark.", "2022-11-01..2023-03-01 month"),
    ("I was away [from March to June].", "2024-03-01..2024-07-01 month"),
    ("I was away [from 3 to 9 May].", "2024-05-03..2024-05-10 day"),
    ("I was away [from the 3rd to the 9th of May 2023].", "2023-05-03..2023-05-10 day"),
    ("The fair is [May 3-9, 2023] in Rome.", "2023-05-03..2023-05-10 day"),
    ("The fair was [3 – 9 May].", "2024-05-03..2024-05-10 day"),
    ("[March to June 2023] was calm.", "2023-03-01..2023-07-01 month"),
    ("I studied [from 2015 to 2019].", "2015-01-01..2020-01-01 year"),
    ("What changed [since January]?", "2024-01-01..2024-05-15T12:00 month"),
    ("What changed [since may]?", "2024-05-01..2024-05-15T12:00 month"),
    ("What changed [since 2022]?", "2022-01-01..2024-05-15T12:00 year"),
    ("What changed [since yesterday]?", "2024-05-14..2024-05-15T12:00 day"),
    ("What did I know [before May]?", "....2024-05-01 month"),
    ("I lived there [until 7 May 2023].", "....2023-05-07 day"),
    ("I lived there [until today].", "....2024-05-15T12:00 day"),
    ("How many days before [Christmas] was it?", "2023-12-25..2023-12-26 day"),
    ("What happened [after 7 May 2023]?", "2023-05-08..2024-05-15T12:00 day"),
    ("What comes [after next week]?", "2024-05-27.... week"),
    ("[From May 2023 on] I worked alone.", "2023-05-01..2024-05-15T12:00 month"),
    ("Photos from [May]", "2024-05-01..2024-06-01 month"),
    ("Was it [yesterday] or on [Monday]?", "2024-05-14..2024-05-15 day; 2024-05-13..2024-05-14 day"),
    ("In [2021] and [2022] I ran.", "2021-01-01..2022-01-01 year; 2022-01-01..2023-01-01 year"),
];

const RUSSIAN: &[(&str, &str)] = &[
    ("Что я ел [сегодня]?", "2024-05-15..2024-05-16 day"),
    ("Кто звонил [вчера]?", "2024-05-14..2024-05-15 day"),
    ("[Позавчера] был дождь", "2024-05-13..2024-05-14 day"),
    ("Встреча [завтра] в девять", "2024-05-16..2024-05-17 day"),
    ("Он пришёл [вчера вечером].", "2024-05-14T17:00..2024-05-15 day"),
    ("Что было на [прошлой неделе]?", "2024-05-06..2024-05-13 week"),
    ("Планы на [этой неделе]", "2024-05-13..2024-05-20 week"),
    ("Уеду на [следующей неделе].", "2024-05-20..2024-05-27 week"),
    ("Сколько я потратил в [прошлом месяце]?", "2024-04-01..2024-05-01 month"),
    ("Итоги в [этом месяце]", "2024-05-01..2024-06-01 month"),
    ("Ревизия в [следующем месяце]", "2024-06-01..2024-07-01 month"),
    ("Куда мы ездили в [прошлом году]?", "2023-01-01..2024-01-01 year"),
    ("Что я читал в [этом году]?", "2024-01-01..2025-01-01 year"),
    ("Переедем в [следующем году].", "2025-01-01..2026-01-01 year"),
    ("Это было в [позапрошлом году].", "2022-01-01..2023-01-01 year"),
    ("Мы виделись [неделю назад].", "2024-05-06..2024-05-13 week"),
    ("Я начал [месяц назад].", "2024-04-01..2024-05-01 month"),
    ("Она ушла [год назад].", "2023-01-01..2024-01-01 year"),
    ("Я видел её [3 дня назад].", "2024-05-12..2024-05-13 day"),
    ("Сломалось [две недели назад].", "2024-04-29..2024-05-06 week"),
    ("Сломалось [недели две назад].", "2024-04-29..2024-05-06 week"),
    ("Писал [несколько дней назад].", "2024-05-10..2024-05-14 week"),
    ("Уволился [полгода назад].", "2023-11-01..2023-12-01 month"),
    ("Что я узнал за [последние две недели]?", "2024-05-01..2024-05-15T12:00 week"),
    ("За [последний месяц] я устал.", "2024-04-15..2024-05-15T12:00 month"),
    ("За [последние сутки] два сбоя", "2024-05-14..2024-05-15T12:00 day"),
    ("Что было в [мае]?", "2024-05-01..2024-06-01 month"),
    ("Что было в [июне]?", "2023-06-01..2023-07-01 month"),
    ("Что было в [мае 2023]?", "2023-05-01..2023-06-01 month"),
    ("Что было в [мае 2023 года]?", "2023-05-01..2023-06-01 month"),
    ("В [мае прошлого года] я был в Риме.", "2023-05-01..2023-06-01 month"),
    ("Встретились [7 мая].", "2024-05-07..2024-05-08 day"),
    ("Встретились [7 мая 2023 года].", "2023-05-07..2023-05-08 day"),
    ("Встретились [7-го мая 2023 г]. в Риме", "2023-05-07..2023-05-08 day"),
    ("Встретились [седьмого мая].", "2024-05-07..2024-05-08 day"),
    ("В [начале мая] было холодно.", "2024-05-01..2024-05-11 week"),
    ("В [конце прошлого года] мы выросли.", "2023-09-01..2024-01-01 month"),
    ("К [марту] всё будет", "2024-03-01..2024-04-01 month"),
    ("[Январь] был снежным", "2024-01-01..2024-02-01 month"),
    ("Что изменилось [с января]?", "2024-01-01..2024-05-15T12:00 month"),
    ("Что было [до мая]?", "....2024-05-01 month"),
    ("Что было [после 7 мая]?", "2024-05-08..2024-05-15T12:00 day"),
    ("Что было [между мартом и июнем]?", "2024-03-01..2024-07-01 month"),
    ("Я болел [с марта по июнь].", "2024-03-01..2024-07-01 month"),
    ("Я болел [с 3 по 9 мая 2023 года].", "2023-05-03..2023-05-10 day"),
    ("Что я сказал в [понедельник]?", "2024-05-13..2024-05-14 day"),
    ("Был дождь в [среду].", "2024-05-08..2024-05-09 day"),
    ("Выкатили в [прошлую пятницу].", "2024-05-10..2024-05-11 day"),
    ("Обзор в [следующую пятницу].", "2024-05-24..2024-05-25 day"),
    ("Обзор в [ближайшую пятницу].", "2024-05-17..2024-05-18 day"),
    ("В [понедельник на прошлой неделе] я болел.", "2024-05-06..2024-05-07 day"),
    ("Что мы делали [летом 2022]?", "2022-06-01..2022-09-01 month"),
    ("Что мы делали [прошлым летом]?", "2023-06-01..2023-09-01 month"),
    ("Что мы делали [летом]?", "2023-06-01..2023-09-01 month"),
    ("Я пришёл в [2022 году].", "2022-01-01..2023-01-01 year"),
    ("Работаю там [с 2022 года].", "2022-01-01..2024-05-15T12:00 year"),
    ("Мы [недавно] говорили", "2024-05-01..2024-05-15T12:00 week"),
    ("В [последнее время] я устаю.", "2024-05-01..2024-05-15T12:00 week"),
    ("Что мне подарили на [Новый год]?", "2024-01-01..2024-01-02 day"),
    ("Что было в [первом квартале 2023 года]?", "2023-01-01..2023-04-01 month"),
    ("Чем занимались в [выходные]?", "2024-05-11..2024-05-13 day"),
    ("В [последнюю пятницу мая 2023]", "2023-05-26..2023-05-27 day"),
    ("Подписано [07.05.2023].", "2023-05-07..2023-05-08 day"),
    ("За [две недели до Нового года] купил.", "2023-12-18..2023-12-25 week"),
    // Letters in two parts, as some systems write them.
    ("Был в отпуске, [маи\u{306} 2023]", "2023-05-01..2023-06-01 month"),
];

const NONE: &[&str] = &[
    "",
    "You may go now.",
    "May I ask something?",
    "It may have broken.",
    "This may be wrong.",
    "May have been the cache.",
    "They march through the city.",
    "We march 7 miles.",
    "Windows 7 may crash.",
    "Setting it to 1 may avoid this.",
    "The second attempt failed.",
    "Give me a second.",
    "Prices fall and people fall asleep.",
    "The cat sat on the mat in the sun.",
    "What did June say to April?",
    "He will mar the paint.",
    "The last one was the best.",
    "At last!",
    "It is a last-minute change.",
    "Upgrade to version 1.2.3 or 10.15.7.",
    "Ticket PROJ-2023 and issue #2022",
    "It costs $2022 or 1,999 euros.",
    "Call +49 170 2023 05 or 555-2021.",
    "Cut it to 3/4, open 24/7.",
    "Ping 192.168.20.24 on port 2022.",
    "It handled a batch of 2000 requests in 2048 bytes.",
    "We swim every Monday and each May.",
    "He works on Mondays.",
    "Black Friday deals",
    "Use the Spring framework in Spring Boot.",
    "See src/2023/05/07/today.rs and may_2023.log.",
    "On the last day of the course we sang.",
    "In the last week of the project we slept little.",
    "Two weeks before my birthday I was ill.",
    "It takes two weeks.",
    "How many weeks ago did I meet Emma?",
    "The next day he left.",
    "A 3-day trip with 5 people",
    "February 30 is no day, nor is 2023-02-30 or 13.13.2023.",
    "The server MAY answer; it MUST NOT wait.",
    "Разверни в тестовой среде.",
    "Добавь переменную в среду разработки.",
    "В прошлый раз было лучше.",
    "На следующий день он ушёл.",
    "С пятницей! С Новым годом!",
    "Это займёт две недели и 2000 рублей.",
    "Версия 2.0.23, билет 12-2023",
    "Сколько недель назад я купил кота?",
    "Мы плаваем каждый понедельник.",
];

fn now() -> Zoned {
    // Berlin by its rule, so that no time zone database is needed.
    let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    date(2024, 5, 15).at(12, 0, 0, 0).to_zoned(berlin).unwrap()
}

fn show(phrase: &TimePhrase, now: &Zoned) -> String {
    let end = |at: Timestamp| {
        if at == OPEN_PAST || at == OPEN_FUTURE {
            return "..".to_owned();
        }
        let at = at.to_zoned(now.time_zone().clone());
        let midnight = at.hour() == 0 && at.minute() == 0;
        at.strftime(if midnight { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M" }).to_string()
    };
    let grain = match phrase.span.grain {
        Grain::Minute => "minute",
        Grain::Day => "day",
        Grain::Week => "week",
        Grain::Month => "month",
        Grain::Year => "year",
    };
    format!("{}..{} {grain}", end(phrase.span.from), end(phrase.span.until))
}

/// Every row whose phrases or spans differ from what was found, so that one run shows them all.
fn differences(rows: &[(&str, &str)]) -> Vec<String> {
    let now = now();
    let differs = |(marked, expect): &(&str, &str)| {
        let text = marked.replace(['[', ']'], "");
        let phrases = time_phrases(&text, &now);
        let mut found = text.clone();
        for phrase in phrases.iter().rev() {
            found.replace_range(phrase.at.clone(), &format!("[{}]", &text[phrase.at.clone()]));
        }
        let spans: Vec<String> = phrases.iter().map(|phrase| show(phrase, &now)).collect();
        let spans = spans.join("; ");
        (found != *marked || spans != *expect).then(|| format!("{marked}\n  {expect}\n  {found}\n  {spans}"))
    };
    rows.iter().filter_map(differs).collect()
}

fn check(rows: &[(&str, &str)]) {
    let differences = differences(rows);
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

// Coverage: S1.15.
#[test]
fn english_phrases_become_spans() {
    assert!(ENGLISH.len() >= 90);
    check(ENGLISH);
}

// Coverage: S1.15.
#[test]
fn russian_phrases_become_spans() {
    assert!(RUSSIAN.len() >= 40);
    check(RUSSIAN);
}

// Coverage: S1.15.
#[test]
fn other_words_name_no_time() {
    assert!(NONE.len() >= 30);
    let rows: Vec<(&str, &str)> = NONE.iter().map(|text| (*text, "")).collect();
    check(&rows);
}

#[test]
fn a_phrase_hangs_on_the_time_zone() {
    let at: Timestamp = "2024-05-15T23:30:00Z".parse().unwrap();
    for (offset, expect) in [(0, "2024-05-14..2024-05-15 day"), (2, "2024-05-15..2024-05-16 day")] {
        let now = at.to_zoned(TimeZone::fixed(jiff::tz::offset(offset)));
        let phrases = time_phrases("yesterday", &now);
        assert_eq!(show(&phrases[0], &now), expect, "{offset}");
    }
}

/// Random words, digits and letters of many bytes: whatever stands in a text, phrases stay in order.
#[test]
fn any_text_is_read_without_harm() {
    const PIECES: &[&str] = &[
        "may",
        "May",
        "march",
        "7",
        "31",
        "2023",
        "0",
        "99999999",
        "9999",
        "7th",
        "7-го",
        "2019-2021",
        "1990s",
        "of",
        "the",
        "in",
        "on",
        "from",
        "to",
        "between",
        "and",
        "since",
        "until",
        "after",
        "before",
        "last",
        "next",
        "this",
        "past",
        "first",
        "week",
        "weekend",
        "days",
        "years",
        "hours",
        "month",
        "ago",
        "a",
        "couple",
        "few",
        "half",
        "early",
        "mid-",
        "late",
        "end",
        "winter",
        "fall",
        "Q1",
        "quarter",
        "christmas",
        "new",
        "year",
        "eve",
        "2023-05-07",
        "2023-05-07T10:30",
        "Z",
        "+14:00",
        "10:30",
        "07.05.2023",
        "13/13/2023",
        "0000-00",
        "'s",
        "’",
        "Sat",
        "monday",
        "night",
        "yesterday",
        "now",
        "в",
        "с",
        "по",
        "до",
        "после",
        "между",
        "и",
        "мая",
        "маи\u{306}",
        "прошлой",
        "неделе",
        "недели",
        "две",
        "назад",
        "полгода",
        "года",
        "последние",
        "среду",
        "летом",
        "новый",
        "год",
        "начале",
        "ё",
        "İ",
        "日本",
        "🕰️",
        "\u{301}",
        "\u{200b}",
        "-",
        "–",
        "—",
        ",",
        ".",
        "/",
        ":",
        "_",
        "(",
        "\"",
        "$",
        "\n",
        "\u{a0}",
    ];
    let now = now();
    let mut seed: u64 = 0x5eed_2024;
    println!("seed {seed:#x}");
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for round in 0..20_000 {
        let mut text = String::new();
        for _ in 0..next(14) {
            text.push_str(PIECES[next(PIECES.len())]);
            text.push_str(if next(4) == 0 { "" } else { " " });
        }
        let mut end = 0;
        for phrase in time_phrases(&text, &now) {
            let place = format!("round {round}: {text:?} {phrase:?}");
            assert!(text.get(phrase.at.clone()).is_some_and(|said| !said.is_empty()), "{place}");
            assert!(end <= phrase.at.start && phrase.span.from < phrase.span.until, "{place}");
            end = phrase.at.end;
        }
    }
}
