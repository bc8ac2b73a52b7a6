//! Flags of a question beside its intent, for ranking.
//!
//! Several may be set at once; a wrong flag only changes ranks.

use super::folded::Folded;

/// What a question asks for beside its intent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuestionFlags {
    /// A time: when, what date, how long, a deadline.
    pub time: bool,
    /// A number: how many, how much, how often.
    pub count: bool,
    /// The whole in short.
    pub summary: bool,
    /// The order of events.
    pub order: bool,
    /// Statements or actions of the assistant itself.
    pub assistant: bool,
    /// The newest memories.
    pub newest: bool,
    /// The most important memories.
    pub important: bool,
}

const TIME: &str = "\
    when, what date*, what day*, what month*, what year*, what time, what week, which date, which day*, which month*, \
    which year*, which week*, how long, how soon, how recently, how many minutes, how many hours, how many days, \
    how many weeks, how many weekends, how many months, how many years, at what point, deadline*, due date*, date of, \
    the date, когда, какого числа, в каком году, в каком месяце, в какой день, в какой момент, в какое время, \
    с каких пор, до какого, как давно, как долго, во сколько, сколько времени, сколько минут, сколько часов, \
    сколько дней, сколько недель, сколько месяцев, сколько лет, дата, дату, срок, сроки, дедлайн*";

const COUNT: &str = "\
    how many, how much, how often, how frequently, number of, total, in total, count of, сколько, как часто, \
    количеств*, общее число, общая сумма, в сумме, в общей сложности";

const SUMMARY: &str = "\
    summar*, overview*, recap*, sum up, in short, in brief, gist, key points, main points, tl dr, tldr, кратко, \
    краткий, краткое, краткую, вкратце, обзор*, итог*, резюм*, подытож*, подведи, суммиру*";

const ORDER: &str = "\
    what order, which order, order of, order did, in order from, sequence, walk me through, chronolog*, timeline, \
    step by step, came first, happened first, earliest to latest, first to last, в каком порядке, по порядку, порядок, \
    хронолог*, последовательност*, шаг за шагом, что было раньше, что случилось раньше, от начала до конца";

const ASSISTANT: &str = "\
    did you, have you, were you, had you, do you, would you, you've, your, you recommend*, you suggest*, you advis*, \
    you propos*, you explain*, you said, you told, you mention*, you gave, you wrote, you list*, you describ*, \
    you provid*, you promis*, твой, твоя, твое, твои, твоем, твоего, твоей, твоих, твою, ваш, ваша, ваше, ваши, \
    вашего, вашей, вашу, ваших";

const NEWEST: &str = "\
    what's new, what is new, whats new, news, latest, newest, most recent, recent, recently, lately, last thing*, \
    what happened, что нового, новости, последн*, недавн*, новейш*, в последнее время, что случилось";

const IMPORTANT: &str = "\
    important, most important, key, main, critical, essential, must know, matters most, priorit*, важн*, главн*, \
    ключев*, критичн*, существенн*";

const YOU: &str = "ты, вы, тобой, вами";

/// Actions of the assistant in Russian; "ты" or "вы" must occur as well.
const SAID: &str = "\
    советовал*, посоветовал*, предлагал*, предложил*, рекомендовал*, порекомендовал*, говорил*, сказал*, объяснял*, \
    объяснил*, упоминал*, упомянул*, писал*, написал*, обещал*, пообещал*, советуешь, советуете, предлагаешь, \
    предлагаете";

/// Detects further properties of a question beside its intent.
pub fn asks(text: &str) -> QuestionFlags {
    let folded = Folded::new(text);
    QuestionFlags {
        time: folded.says(TIME),
        count: folded.says(COUNT),
        summary: folded.says(SUMMARY),
        order: folded.says(ORDER),
        assistant: folded.says(ASSISTANT) || (folded.says(YOU) && folded.says(SAID)),
        newest: folded.says(NEWEST),
        important: folded.says(IMPORTANT),
    }
}

#[cfg(test)]
mod tests {
    use super::asks;

    #[test]
    fn questions_show_what_they_ask_for() {
        for (text, expect) in [
            ("When did I move?", "time"),
            ("What year was the flood?", "time"),
            ("How long did the build take?", "time"),
            ("What is the deadline of the grant?", "time"),
            ("On which day was the demo?", "time"),
            ("How many days did I spend in Rome?", "time count"),
            ("How many cats do I have?", "count"),
            ("How much did the bike cost?", "count"),
            ("How often do I run?", "count"),
            ("What is the total of my invoices?", "count"),
            ("What was the number of failed jobs?", "count"),
            ("Summarise our talks about the garden.", "summary"),
            ("Give me an overview of the project.", "summary"),
            ("A quick recap, please", "summary"),
            ("In what order did I visit the cities?", "order"),
            ("Walk me through the migration.", "order"),
            ("List the releases chronologically.", "order"),
            ("Which came first, the flat or the car?", "order"),
            ("Did you find a hotel?", "assistant"),
            ("What did you recommend for the back pain?", "assistant"),
            ("What was your advice on sleep?", "assistant"),
            ("Which library would you take?", "assistant"),
            ("The plan you suggested for Friday", "assistant"),
            ("What's new with the project?", "newest"),
            ("The latest on the flat", "newest"),
            ("What is the most important thing about Ana?", "important"),
            ("Что нового по проекту?", "newest"),
            ("Что самое важное про Анну?", "important"),
            ("Can you help?", ""),
            ("I like trains.", ""),
            ("Whenever I run, I sleep well", ""),
            ("Когда я переехал?", "time"),
            ("Какого числа был потоп?", "time"),
            ("Как долго шла сборка?", "time"),
            ("Какой срок у отчёта?", "time"),
            ("Сколько дней я был в Риме?", "time count"),
            ("Сколько у меня котов?", "count"),
            ("Как часто я бегаю?", "count"),
            ("Кратко изложи наши разговоры о саде", "summary"),
            ("Подведи итоги недели", "summary"),
            ("Сделай обзор проекта", "summary"),
            ("В каком порядке я посетил города?", "order"),
            ("Восстанови хронологию сбоя", "order"),
            ("Что ты мне советовал от боли в спине?", "assistant"),
            ("Какие гостиницы вы предлагали?", "assistant"),
            ("Каков был твой совет?", "assistant"),
            ("Что мне говорил врач?", ""),
        ] {
            let asks = asks(text);
            let flags = [
                (asks.time, "time"),
                (asks.count, "count"),
                (asks.summary, "summary"),
                (asks.order, "order"),
                (asks.assistant, "assistant"),
                (asks.newest, "newest"),
                (asks.important, "important"),
            ];
            let found: Vec<&str> = flags.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
            assert_eq!(found.join(" "), expect, "{text}");
        }
    }
}
