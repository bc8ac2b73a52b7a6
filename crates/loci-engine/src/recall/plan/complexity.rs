//! Estimates how complex a question is, which determines its token budget.
//!
//! Pure. A question for one thing is simple; one for several things, a comparison, a whole or a course of events is
//! complex. Complex questions cost more, so in doubt a question is simple.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::intent::folded::{Folded, each};
use super::intent::{QuestionFlags, asks};
use super::time::time_phrases;

/// The number of memories that a question needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Complexity {
    /// One fact is enough.
    Simple,
    /// Several memories belong together.
    Complex,
}

impl Complexity {
    /// Maximum number of steps in the graph.
    pub fn depth(self) -> usize {
        match self {
            Complexity::Simple => 2,
            Complexity::Complex => 4,
        }
    }

    /// Number of memories to return.
    pub fn limit(self) -> usize {
        match self {
            Complexity::Simple => 5,
            Complexity::Complex => 20,
        }
    }

    /// Token budget of the context.
    pub fn budget(self) -> usize {
        match self {
            Complexity::Simple => 1000,
            Complexity::Complex => 3000,
        }
    }
}

/// More content words than this, and a question has parts.
const MANY_WORDS: usize = 15;
/// More than this, and an "and" joins parts instead of two names.
const SOME_WORDS: usize = 8;

/// Words that ask for several things together.
const SEVERAL: &str = "\
    versus, vs, compar*, differ*, both, all, every, everything, everyone, each of, list of, list all, list the, \
    history, timeline, relationship between, relation between, connection between, pros and cons, trade off*, \
    as well as, evolve*, over time, change over, сравни*, по сравнению, разниц*, отлича*, оба, обе, обоих, обеих, все, \
    всех, всем, каждый, каждого, каждую, каждой, перечисл*, список, списком, история, историю, связь между, связаны, \
    плюсы и минусы, а также, со временем";

/// Phrases in which such words ask for nothing.
const IDIOMS: &str = "at all, after all, all right, first of all, every time, все еще, все равно, все таки";

/// Questions about a development: "how did … change".
const COURSE: &str = "how did, how has, how have, how does, как";
const CHANGE: &str = "change, changed, evolve*, develop*, progress*, grow, grown, менял*, изменил*, развивал*";

/// An "and" before these starts another question.
const ANOTHER: &str = "\
    and why, and what, and when, and who, and how, and where, and which, and did, and does, and is, and was, or did, \
    or does, or is, or was, and then, and also, и почему, и что, и когда, и кто, и как, и где, и какой, и какая, \
    и какие, и сколько, и зачем, и чем, или что, или кто";

const STOP: &str = "\
    the, and, for, was, were, are, did, does, has, have, had, that, this, with, from, what, when, who, why, how, \
    which, where, you, your, our, their, his, her, about, она, они, мой, моя, мне, нас, наш, был, была, было, были, \
    что, как, это, кто, где, для, при, или, когда, почему";

/// Classifies a question by its words.
pub fn complexity(text: &str) -> Complexity {
    // Whichever times it names, their number is the same on any day.
    let times = time_phrases(text, &Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)).len();
    complexity_of(text, &asks(text), times)
}

/// The same, of a question of which it is known what else it asks for and how many times it names.
pub(super) fn complexity_of(text: &str, asked: &QuestionFlags, times: usize) -> Complexity {
    let folded = Folded::new(text);
    let content =
        folded.words().filter(|word| word.chars().count() > 2 && !each(STOP).any(|stop| stop == *word)).count();
    let joints = folded.words().filter(|word| matches!(*word, "and" | "or" | "и" | "или")).count();
    let several = folded.says(SEVERAL) && !folded.says(IDIOMS) || folded.starts("list");
    let course = folded.says(COURSE) && folded.says(CHANGE);
    let questions = text.matches('?').count();
    let complex = several
        || course
        || asked.summary
        || asked.order
        || questions > 1
        || joints > 1
        || (joints > 0 && content > SOME_WORDS)
        || content > MANY_WORDS
        || folded.says(ANOTHER)
        || times > 1;
    if complex { Complexity::Complex } else { Complexity::Simple }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S1.16.
    #[test]
    fn parts_make_a_question_complex() {
        use Complexity::{Complex, Simple};
        let rows = [
            ("What is my dog's name?", Simple),
            ("When did Anna move to Riga?", Simple),
            ("Which port does the server listen on?", Simple),
            ("Who likes bread and butter?", Simple),
            ("Why did we drop Redis last year?", Simple),
            ("What is on my shopping list?", Simple),
            ("Does it work at all?", Simple),
            ("", Simple),
            ("What did I do in May, and why?", Complex),
            ("What does Anna like and what does Tom like?", Complex),
            ("Who came? When did they leave?", Complex),
            ("Compare SQLite with Postgres.", Complex),
            ("Tabs versus spaces", Complex),
            ("Did both servers fail?", Complex),
            ("Name all my allergies", Complex),
            ("List my projects", Complex),
            ("Summarise our talks about the garden.", Complex),
            ("Give me an overview of the project.", Complex),
            ("The history of the parser", Complex),
            ("How did the schema change?", Complex),
            ("What is the relationship between Anna and Tom?", Complex),
            ("What happened in March and in June?", Complex),
            ("In what order did I visit the cities?", Complex),
            ("Was it yesterday or on Monday?", Complex),
            (
                "Which of the small tools that Anna once wrote during long winter evenings still runs on that old \
                 machine under my broken kitchen table today?",
                Complex,
            ),
            ("Как зовут мою собаку?", Simple),
            ("Когда Анна переехала в Ригу?", Simple),
            ("Он всё ещё живёт в Риге?", Simple),
            ("Кто любит хлеб и масло?", Simple),
            ("Что любит Анна и что любит Том?", Complex),
            ("Сравни SQLite и Postgres", Complex),
            ("Перечисли мои проекты", Complex),
            ("Назови всех моих врачей", Complex),
            ("Подведи итоги недели", Complex),
            ("Как менялась схема?", Complex),
            ("Какая связь между Анной и Томом?", Complex),
            ("Что было в марте и в июне?", Complex),
        ];
        assert!(rows.len() >= 25);
        for (text, expect) in rows {
            assert_eq!(complexity(text), expect, "{text}");
        }
    }

    // Coverage: S1.16.
    #[test]
    fn complex_questions_may_read_more() {
        let sizes = |complexity: Complexity| (complexity.depth(), complexity.limit(), complexity.budget());
        assert_eq!(sizes(Complexity::Simple), (2, 5, 1000));
        assert_eq!(sizes(Complexity::Complex), (4, 20, 3000));
    }
}
