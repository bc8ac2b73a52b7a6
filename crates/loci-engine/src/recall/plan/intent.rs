//! Classifies the intent of a question.
//!
//! Pure: words in English and Russian decide first, and vectors that the caller passes decide where they are better.
//! A question without signs is `General`; there are no errors.

mod asks;
mod exemplars;
pub(super) mod folded;
mod tells;

use loci_models::dot;

pub use asks::{QuestionFlags, asks};
pub use exemplars::EXEMPLARS;
pub use tells::{tells_number, tells_time};

use folded::Folded;

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Intent {
    /// A cause or a purpose.
    Why,
    /// A time.
    When,
    /// A person.
    Who,
    /// A thing, a place, a fact.
    What,
    /// None of these in particular.
    General,
}

impl Intent {
    /// Every intent.
    pub const ALL: [Intent; 5] = [Intent::Why, Intent::When, Intent::Who, Intent::What, Intent::General];

    /// Its name in settings and explanations.
    pub fn name(self) -> &'static str {
        match self {
            Intent::Why => "why",
            Intent::When => "when",
            Intent::Who => "who",
            Intent::What => "what",
            Intent::General => "general",
        }
    }
}

/// Words that ask. Where two start at the same place ("what date", "what"), the first row wins.
const QUESTIONS: &[(Intent, &str)] = &[
    (
        Intent::Why,
        "\
         why, how come, what for, what caused, what led, what made, what drove, what triggered, what prompted, \
        what explains, what's behind, what is behind, what was behind, for what reason, почему, зачем, \
         отчего, из за чего, по какой причине, с какой целью, ради чего, что привело, что заставило, что вызвало, \
         чем вызван*",
    ),
    (
        Intent::When,
        "\
         when, what date, what day, what month, what year, what time, what week, which date, which day, which month, \
         which year, which week, how long, how soon, how recently, how many days, how many weeks, how many months, \
         how many years, how many hours, at what point, since when, когда, какого числа, в каком году, в каком месяце, \
         в какой день, в какой момент, с каких пор, с какого, до какого, как давно, как долго, как скоро, во сколько, \
         сколько времени, сколько дней, сколько недель, сколько месяцев, сколько лет, сколько часов",
    ),
    (
        Intent::Who,
        "\
         who, who's, whom, whose, which person, which people, which colleague*, which friend*, which team, what person, \
        which of us, which of you, which of them, which of my colleagues, which of my friends, which of our colleagues, \
         кто, кого, кому, кем, ком, чей, чья, чье, чьи, чью, чьего, чьей",
    ),
    (
        Intent::What,
        "\
         what, what's, which, where, where's, how many, how much, how often, что, чего, чему, чем, какой, какая, \
         какое, какие, какого, какую, каком, какими, каких, каким, где, куда, откуда, сколько",
    ),
];

/// Nouns that ask in place of "what": "what is the reason", "what was the deadline".
const NOUNS: &[(Intent, &str)] = &[
    (Intent::Why, "reason*, root cause, cause of, motivat*, rationale, purpose of, причин*, мотив*, цель"),
    (Intent::When, "deadline*, due date, date of, the date, дедлайн*, срок, сроки, дата, дату"),
];

/// The intent of a question by its words.
pub fn keyword_intent(text: &str) -> Intent {
    let folded = Folded::new(text);
    let folded = without_setting(&folded).unwrap_or(folded);
    let asked = first_question(&folded, false).or_else(|| first_question(&folded, true));
    let noun = NOUNS.iter().find(|(_, nouns)| folded.says(nouns)).map(|(intent, _)| *intent);
    match (asked, noun) {
        (Some(Intent::What) | None, Some(noun)) => noun,
        (Some(asked), _) => asked,
        (None, None) => Intent::General,
    }
}

/// The question behind "When I was in Rome, what did I eat?".
fn without_setting(folded: &Folded) -> Option<Folded> {
    const ASKS_ITSELF: &str = "\
    when is, when are, when was, when were, when did, when do, when does, when will, when has, when have, when had, \
    when can, when should, when would";
    if !folded.starts("when, когда") || folded.starts(ASKS_ITSELF) {
        return None;
    }
    let rest = folded.after_comma()?;
    QUESTIONS.iter().any(|(_, words)| rest.starts(words)).then_some(rest)
}

/// The intent of the first word that asks. Behind a comma such a word more often joins a clause
/// ("the man, who …", "знаю, что …"), so it counts only if nothing else asks.
fn first_question(folded: &Folded, behind_comma: bool) -> Option<Intent> {
    let places = QUESTIONS.iter().filter_map(|(intent, words)| {
        let place = folded.find(words, behind_comma)?;
        Some((place, *intent))
    });
    // `min_by_key` keeps the first of equals, which is the order of the rows.
    places.min_by_key(|(place, _)| *place).map(|(_, intent)| intent)
}

/// The intent whose exemplars are nearest by cosine; `General` if none reaches `threshold`.
pub fn nearest_intent(question: &[f32], exemplars: &[(Intent, Vec<f32>)], threshold: f32) -> Intent {
    let mut best = (threshold, Intent::General);
    let square = dot(question, question);
    for (intent, exemplar) in exemplars {
        if let Some(likeness) = cosine(question, square, exemplar)
            && (likeness > best.0 || (likeness >= best.0 && best.1 == Intent::General))
        {
            best = (likeness, *intent);
        }
    }
    best.1
}

/// The cosine of two vectors, or `None` if they have different lengths, are zero or contain NaN. `square` is the product
/// of the first with itself.
fn cosine(one: &[f32], square: f32, other: &[f32]) -> Option<f32> {
    if one.len() != other.len() {
        return None;
    }
    let length = (square * dot(other, other)).sqrt();
    let likeness = dot(one, other) / length;
    likeness.is_finite().then_some(likeness)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S1.9.
    #[test]
    fn words_show_the_intent() {
        let rows: &[(&str, Intent)] = &[
            ("Why did we drop Redis?", Intent::Why),
            ("How come the build is red?", Intent::Why),
            ("What caused the outage?", Intent::Why),
            ("What led to the rewrite of the parser?", Intent::Why),
            ("What was the reason for the delay?", Intent::Why),
            ("Tell me the root cause of the leak.", Intent::Why),
            ("Do you remember why Anna moved?", Intent::Why),
            ("What is the purpose of the second queue?", Intent::Why),
            ("When did Anna move to Riga?", Intent::When),
            ("When did Anna leave, and who was with her?", Intent::When),
            ("What date was the launch?", Intent::When),
            ("Which month did we switch banks?", Intent::When),
            ("How long did the migration take?", Intent::When),
            ("How many weeks ago did I see the dentist?", Intent::When),
            ("Can you tell me when the lease ends?", Intent::When),
            ("What is the deadline for the report?", Intent::When),
            ("Since when do we use Rust?", Intent::When),
            ("Who reviewed the last change?", Intent::Who),
            ("Whose idea was the cache?", Intent::Who),
            ("With whom did I have lunch?", Intent::Who),
            ("Which colleague broke the build?", Intent::Who),
            ("Which of my colleagues speaks Japanese?", Intent::Who),
            ("What's behind the drop in sales?", Intent::Why),
            ("Who's my dentist?", Intent::Who),
            ("What did I eat when I was in Rome?", Intent::What),
            ("When I was in Rome, what did I eat?", Intent::What),
            ("When we lost the disk, who was on call?", Intent::Who),
            ("Which editor do I prefer?", Intent::What),
            ("Where does my sister live?", Intent::What),
            ("How many cats do I have?", Intent::What),
            ("What's the name of the cluster?", Intent::What),
            ("Tell me about my sister.", Intent::General),
            ("Did I ever mention a dog?", Intent::General),
            ("", Intent::General),
            ("Whyever not, whenever, whatever", Intent::General),
            ("Почему мы отказались от Redis?", Intent::Why),
            ("Зачем нам вторая очередь?", Intent::Why),
            ("Из-за чего упал сервер?", Intent::Why),
            ("Какая была причина задержки?", Intent::Why),
            ("Помнишь, почему Анна переехала?", Intent::Why),
            ("Ты говорил, что Анна уехала. Почему?", Intent::Why),
            ("Когда Анна переехала в Ригу?", Intent::When),
            ("Какого числа был запуск?", Intent::When),
            ("В каком году я сменил работу?", Intent::When),
            ("Как долго шла миграция?", Intent::When),
            ("Сколько недель назад я был у врача?", Intent::When),
            ("Скажи, когда кончается аренда", Intent::When),
            ("Какой срок у отчёта?", Intent::When),
            ("Кто проверял последнее изменение?", Intent::Who),
            ("С кем я обедал?", Intent::Who),
            ("О ком мы говорили?", Intent::Who),
            ("Чья это была идея?", Intent::Who),
            ("Когда я был в Риме, что я ел?", Intent::What),
            ("Что я ел, когда был в Риме?", Intent::What),
            ("Какой редактор я предпочитаю?", Intent::What),
            ("Где живёт моя сестра?", Intent::What),
            ("Сколько у меня котов?", Intent::What),
            ("Расскажи о моей сестре.", Intent::General),
        ];
        assert!(rows.len() >= 40);
        for (text, expect) in rows {
            assert_eq!(keyword_intent(text), *expect, "{text}");
        }
    }

    // Coverage: S1.9.
    #[test]
    fn the_nearest_exemplar_shows_the_intent() {
        let exemplars = [
            (Intent::Why, vec![1.0, 0.0]),
            (Intent::When, vec![0.0, 3.0]),
            (Intent::Who, vec![0.0, 0.0]),
            (Intent::What, vec![1.0]),
        ];
        for (question, threshold, expect) in [
            ([1.0, 0.1], 0.45, Intent::Why),
            ([0.1, 1.0], 0.45, Intent::When),
            ([2.0, 0.0], 1.0, Intent::Why),
            ([-1.0, -1.0], 0.45, Intent::General),
            ([0.7, 0.7], 0.9, Intent::General),
            ([0.0, 0.0], 0.45, Intent::General),
            ([f32::NAN, 1.0], 0.45, Intent::General),
        ] {
            assert_eq!(nearest_intent(&question, &exemplars, threshold), expect, "{question:?}");
        }
        assert_eq!(nearest_intent(&[1.0, 0.0], &[], 0.45), Intent::General);
    }

    #[test]
    fn exemplars_ask_for_what_they_stand_for() {
        for (intent, sentences) in EXEMPLARS {
            assert!(sentences.len() >= 20, "{}", intent.name());
            for sentence in *sentences {
                assert_eq!(keyword_intent(sentence), *intent, "{sentence}");
            }
        }
        let intents: Vec<Intent> = EXEMPLARS.iter().map(|(intent, _)| *intent).collect();
        assert_eq!(intents, Intent::ALL[..4]);
    }

    #[test]
    fn names_are_distinct() {
        for (place, intent) in Intent::ALL.iter().enumerate() {
            let first = Intent::ALL.iter().position(|other| other.name() == intent.name());
            assert_eq!(first, Some(place), "{}", intent.name());
        }
    }
}
