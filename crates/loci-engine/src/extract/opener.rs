//! What stands before the statement and is no part of it?
//!
//! "Oh btw", "hey Claude,", "so yeah": filler is taken off until a statement begins. Some openers
//! say something about what follows: that it shall be remembered, that it corrects, that it is a
//! guess.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::word::{Shape, Word};

/// What the opening words say about the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    /// "Remember that …"
    pub(crate) asked: bool,
    /// "No, actually …"
    pub(crate) corrects: bool,
    /// Only "no": it may answer a question.
    pub(crate) denies: bool,
    /// "I think …"
    pub(crate) hedged: bool,
    /// "From now on …"
    pub(crate) standing: bool,
    /// "Remember to …"
    pub(crate) duty: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    Asked,
    Corrects,
    Denies,
    Hedged,
    Standing,
    Duty,
}

/// Openers, longer ones first where one begins another. A `,` must be there; a `*` stands for any
/// marks.
const OPENERS: &[(Says, &str)] = &[
    (
        Says::Duty,
        "please remember to|remember to|do not forget to|do not let me forget to|make sure i remember to|note to self : to|\
         i must not forget to|i can not forget to|todo : to",
    ),
    (
        Says::Asked,
        "please remember that|please remember this :|please remember :|remember that|remember this :|remember :|remember ,|\
         can you remember that|could you remember that|please note that|please note :|note that|note to self :|note :|\
         keep in mind that|keep in mind :|keep in mind ,|bear in mind that|do not forget that|do not forget :|\
         do not forget ,|make a note of this :|make a note that|make a note :|make a note of this :|take a note :|take note :|\
         for future reference ,|for future reference :|for future reference|save this :|store this :|memo :|\
         for the record ,|for the record|just so you know ,|just so you know|you should know that|\
         i want you to know that|i want you to remember that|i want you to remember ,|important :|please save that|\
         save that|please remember|remember",
    ),
    (
        Says::Corrects,
        "no , wait|no wait|wait , no|wait no|wait ,|no , sorry|no no|no , actually|no actually|actually no|actually ,|actually|\
         correction :|correction ,|i told you wrong ,|i told you wrong|forgive me :|i misread ,|typo :|typo ,|edit :|correction -|oops ,|oops|whoops ,|scratch that|strike that|my bad|my mistake|\
         sorry , i meant to say|sorry i meant to say|i meant to say that|i meant to say|sorry , i meant|sorry i meant|i meant|\
         i was wrong|i misspoke|i made a mistake|that is wrong|that is not right|that is incorrect|that is not correct|\
         that is not true|you are wrong|you got that wrong|that was wrong|wrong ,|not quite ,|or rather ,|or rather|rather ,|\
         small correction :|small correction ,|no i mean|i mean ,|to correct myself|let me correct myself|\
         let me correct that|i need to correct myself|to correct myself ,|to be precise ,|correction",
    ),
    (Says::Denies, "no ,|no -|no :|nope ,|nope|nah ,|nah|no ."),
    (
        Says::Hedged,
        "i think that|i think|i guess that|i guess|i believe that|i believe|i suppose|i feel like|i reckon|afaik|if i remember correctly ,|\
         as far as i know ,",
    ),
    (
        Says::Standing,
        "from now on ,|from now on|going forward ,|going forward|in future ,|in the future ,|by default ,|by default|as a rule ,|\
         in general ,|as a general rule ,|house rule :|rule :|team rule :|new rule :",
    ),
    (
        Says::Nothing,
        "hang on ,|hang on|hold on ,|hold on|ugh ,|ugh|kindly note that|while i think of it ,|before that ,|before that|after that ,|after that|by the way ,|by the way|oh btw|btw ,|btw|fyi ,|fyi :|fyi|for your information ,|heads up :|heads up ,|heads up|quick note :|\
         quick update :|quick update ,|status update :|update :|update ,|one more thing :|one more thing ,|another thing :|\
         also ,|also|oh and|oh ,|oh|ah ,|ah|well ,|well|so yeah ,|so yeah|so ,|so|ok so|okay so|ok ,|ok|okay ,|okay|alright ,|\
         alright|yeah ,|yeah|yes ,|yes|yep ,|yep|yup ,|sure ,|right ,|right so|hmm ,|hmm|um ,|um|uh ,|uh|hey there ,|hey ,|hey|\
         hi there ,|hi ,|hi|hello ,|hello|good morning ,|good evening ,|anyway ,|anyways ,|anyway|anyways|basically ,|honestly ,|\
         honestly|frankly ,|tbh ,|tbh|to be honest ,|to be honest|as i said ,|as i mentioned ,|like i said ,|as you know ,|you know ,|\
         you know what ,|fun fact :|fun fact ,|turns out that|turns out ,|turns out|it turns out that|it turns out|\
         i should mention that|i should mention ,|i forgot to mention that|i forgot to mention :|i forgot to mention ,|\
         i forgot to mention|i forgot to say that|i forgot to say|i should add that|did i mention that|did i mention|i just realized that|\
         i just realised that|i just remembered that|i just remembered :|i just remembered ,|i just remembered|let me tell you|\
         the thing is ,|the truth is ,|unfortunately ,|unfortunately|luckily ,|sadly ,|fortunately ,|good news :|good news ,|\
         good news -|bad news :|bad news ,|big news :|big news ,|news :|great ,|great :|nice ,|cool ,|perfect ,|awesome ,|thanks ,|thank you ,|thx ,|got it ,|makes sense ,|\
         sounds good ,|and ,|and|but ,|but|plus ,|plus|ps :|ps ,|ps|p.s.|look ,|listen ,|see ,|now ,|lol ,|lol|haha ,|haha|please note|\
         sorry ,|sorry|for context ,|for context :|context :|some context :|background :|little context :|in case you need it ,|\
         in case it matters ,|in case it helps ,|i have to say ,|i have to say|i must say|i gotta say|speaking of which ,|\
         about me :|quick one :|small update :|small update ,|life update :|as of today ,|as of today|as of now ,|as of now|just fyi|\
         i confirm that|yes indeed ,|exactly ,|correct ,|indeed ,|ok great ,|first of all ,|first off ,|firstly ,|secondly ,|finally ,|\
         today i learned that|i told you that|i told you|i already told you that|i already told you|i already said that|i already said|like i told you ,|we also|i also wanted to say that|i wanted to tell you that|i wanted to let you know that|\
         let me add that|what is more ,|in fact ,|as a matter of fact ,|in short ,|long story short ,|again ,|true ,|interesting ,",
    ),
];

/// The openers by the word that they begin with: every sentence is held against them, and few begin so.
static BY_FIRST: LazyLock<HashMap<&str, Vec<(Says, &str)>>> = LazyLock::new(|| {
    let mut by_first: HashMap<&str, Vec<(Says, &str)>> = HashMap::new();
    for (says, list) in OPENERS {
        for phrase in list.split('|') {
            let first = phrase.split(' ').next().unwrap_or_default();
            by_first.entry(first).or_default().push((*says, phrase));
        }
    }
    by_first
});

/// Takes the openers off and says what they say.
pub(crate) fn strip(words: &mut Vec<Word>) -> Opening {
    let mut opening = Opening { standing: take_end(words), ..Opening::default() };
    while let Some(place) = words
        .windows(3)
        .position(|three| three[0].any(&["am", "is", "are"]) && three[1].any(&["kind", "sort"]) && three[2].is("of"))
    {
        words.drain(place + 1..place + 3);
    }
    words.retain(|word| !word.any(&["btw", "lol", "tbh", "fyi", "imo", "imho", "haha", "hahaha", "pls", "plz"]));
    for _ in 0..8 {
        let marks = words.iter().take_while(|word| word.shape == Shape::Mark && !word.is("(")).count();
        words.drain(..marks);
        let Some((says, length)) = longest(words) else { break };
        // "We also use" keeps its subject.
        if words[0].is("we") && length == 2 {
            words.remove(1);
            break;
        }
        note(&mut opening, says);
        let hailed = words[0].any(&["hey", "hi", "hello"]);
        words.drain(..length);
        if hailed {
            hail(words);
        }
    }
    opening
}

/// Takes a "from now on" off the end.
fn take_end(words: &mut Vec<Word>) -> bool {
    const ENDS: &[&str] = &["from now on", "going forward", "in future", "in the future", "by default"];
    let end = words.iter().rposition(Word::speaks).map_or(0, |last| last + 1);
    let found = ENDS.iter().find(|phrase| {
        let length = phrase.split(' ').count();
        end > length + 1 && phrase.split(' ').zip(&words[end - length..end]).all(|(part, word)| word.is(part))
    });
    if let Some(phrase) = found {
        words.truncate(end - phrase.split(' ').count());
        while words.last().is_some_and(|word| word.is(",")) {
            words.pop();
        }
    }
    found.is_some()
}

fn note(opening: &mut Opening, says: Says) {
    match says {
        Says::Nothing => {}
        Says::Asked => opening.asked = true,
        Says::Corrects => opening.corrects = true,
        Says::Denies => (opening.corrects, opening.denies) = (true, true),
        Says::Hedged => opening.hedged = true,
        Says::Standing => opening.standing = true,
        Says::Duty => opening.duty = true,
    }
}

/// The longest opener that the words begin with, and how many words it has.
fn longest(words: &[Word]) -> Option<(Says, usize)> {
    let mut best: Option<(Says, usize)> = None;
    for (says, phrase) in BY_FIRST.get(words.first()?.lower.as_str()).into_iter().flatten() {
        let length = phrase.split(' ').count();
        let matches =
            || phrase.split(' ').enumerate().all(|(place, part)| words.get(place).is_some_and(|word| word.is(part)));
        if best.is_none_or(|(_, most)| length > most) && matches() {
            best = Some((*says, length));
        }
    }
    // An opener is nothing without what it opens, unless it corrects.
    best.filter(|(_, length)| *length <= words.len())
}

/// Takes off the name of the one who is greeted: "hey Claude,".
fn hail(words: &mut Vec<Word>) {
    let named = words.first().is_some_and(|word| word.shape == Shape::Word);
    let there = usize::from(words.first().is_some_and(|word| word.any(&["there", "all", "everyone", "again"])));
    if named && words.get(1).is_some_and(|word| word.any(&[",", "!", "-", "—"])) {
        words.drain(..2);
    } else if there == 1 {
        words.drain(..1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::word::{join, words};
    use super::*;

    #[test]
    fn filler_is_taken_off() {
        for (text, rest, says) in [
            ("oh btw, I live in Porto", "I live in Porto", ""),
            ("Hey Claude, so yeah I moved", "I moved", ""),
            ("Please remember that I'm vegan", "I am vegan", "asked"),
            ("No, actually it is 4000", "it is 4000", "corrects"),
            ("Remember to call Bob", "call Bob", "duty"),
            ("I think I prefer tea", "I prefer tea", "hedged"),
            ("From now on, answer in Portuguese", "answer in Portuguese", "standing"),
            ("well, fyi: the port is 80", "the port is 80", ""),
            ("We also use Redis", "We use Redis", ""),
            ("I live in Porto", "I live in Porto", ""),
        ] {
            let mut words = words(text);
            let opening = strip(&mut words);
            assert_eq!(join(&words), rest);
            let mut said = Vec::new();
            for (flag, name) in [
                (opening.asked, "asked"),
                (opening.corrects, "corrects"),
                (opening.duty, "duty"),
                (opening.hedged, "hedged"),
                (opening.standing, "standing"),
            ] {
                said.extend(flag.then_some(name));
            }
            assert_eq!(said.join(" "), says, "{text}");
        }
    }
}
