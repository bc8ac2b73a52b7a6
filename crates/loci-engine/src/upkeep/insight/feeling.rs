//! Which feeling shows in a clause?
//!
//! Some words tell what the speaker thinks of a thing ("annoying") and count wherever they stand.
//! Others tell how someone feels ("angry") and count only if that is the speaker: the same words
//! are said of others. What is denied or only supposed does not show.

use crate::upkeep::clause::{Clause, each};

/// A feeling and the words it shows in.
pub(super) struct Feeling {
    pub(super) name: &'static str,
    /// What a thing is to the speaker.
    found: &'static str,
    /// How someone is.
    felt: &'static str,
}

pub(super) const FEELINGS: &[Feeling] = &[
    Feeling {
        name: "frustration",
        found: "\
            frustrating, annoying, irritating, infuriating, maddening, ugh, argh, wtf, \
            drives me crazy, driving me crazy, drives me mad, driving me mad, drives me nuts, driving me nuts, \
            gets on my nerves, i hate, can't stand, cannot stand, бесит, бесят, достало, надоело, надоели, задолбал*, \
            раздражает, раздражают, злит, ненавижу, сил нет терпеть",
        felt: "\
            frustrated, annoyed, irritated, angry, furious, pissed off, mad at, fed up, sick of, tired of, злюсь, \
            бешусь, злой, зла",
    },
    Feeling {
        name: "worry",
        found: "\
            worrying, worries me, scares me, keeps me awake, keeps me up at night, freaking out, беспокоит, тревожит, \
            пугает, не дает мне спать",
        felt: "\
            worried, worry, anxious, nervous, scared, afraid of, afraid that, afraid we, afraid it, panicking, \
            concerned about, concerned that, беспокоюсь, волнуюсь, переживаю, боюсь, тревожно, страшно, нервничаю",
    },
    Feeling {
        name: "joy",
        found: "\
            love it, love this, made my day, makes me happy, makes me so happy, can't wait, yay, hooray, woohoo, \
            ура, в восторге, обожаю, как здорово, как же здорово",
        felt: "happy, delighted, thrilled, overjoyed, excited, so glad, really glad, рад, рада, счастлив, счастлива",
    },
    Feeling {
        name: "trust",
        found: "\
            i trust, trust you, trust your, rely on you, relying on you, count on you, counting on you, \
            have faith in, your call, доверяю, полагаюсь на, рассчитываю на тебя, рассчитываю на вас, верю тебе, \
            верю вам",
        felt: "confident in you",
    },
    Feeling {
        name: "gratitude",
        found: "\
            thank you so much, thank you very much, thanks so much, thanks a lot, thanks a million, so kind of you, \
            really appreciate, truly appreciate, so appreciate, lifesaver, owe you, огромное спасибо, \
            большое спасибо, спасибо большое, спасибо огромное, выручил, выручила, очень ценю",
        felt: "grateful, thankful, благодарен, благодарна, признателен, признательна",
    },
    Feeling {
        name: "fatigue",
        found: "\
            exhausting, no energy, worn me out, can't sleep, couldn't sleep, barely slept, didn't sleep, нет сил, \
            не спал, не спала, не выспал*, не высыпаюсь",
        felt: "\
            exhausted, tired, worn out, burned out, burnt out, drained, sleepy, knackered, устал, устала, вымотан*, \
            вымотал*, измотан*, выгорел, выгорела, выгораю",
    },
];

/// Within three words before the feeling they deny it.
const DENIALS: &str = "\
    not, no, never, don't, dont, doesn't, didn't, isn't, wasn't, aren't, ain't, can't, cannot, couldn't, won't, \
    hardly, without, less, nothing, stop, не, нет, ни, никогда, ничуть, без, перестал, перестала, хватит";
/// Anywhere before it they only suppose it.
const SUPPOSED: &str = "if, unless, would, i'd, we'd, wouldn't, might, if you're, если, бы, чтобы";
/// Who speaks.
const SPEAKER: &str = "i, i'm, im, i've, i'll, me, we, we're, we've, us, я, мне, меня, мной, мы, нам, нас";
/// Words that stand before a feeling without someone else to have it.
const EMPTY: &str = "\
    am, is, are, was, were, be, been, have, has, had, feel, feels, felt, feeling, get, gets, got, getting, become, \
    became, so, very, really, quite, too, just, still, again, always, totally, completely, a, bit, little, kind, of, \
    pretty, rather, honestly, truly, and, but, now, also, super, more, extremely, already, today, well, only, all, \
    была, был, чувствую, себя, очень, так, уже, снова, опять, просто, совсем, и, а, но, как, же, все, еще, сегодня, \
    немного, реально, жутко";
/// Behind some words the feeling is another, or none.
const BEHIND: &[(&str, &str)] = &[
    ("tired", "of"),
    ("happy", "to, new, birthday, path, for, hour"),
    ("i trust", "that"),
    ("sick of", "course"),
    ("your call", "was, is, to, with"),
    ("i hate", "to"),
];

impl Feeling {
    /// Whether the speaker shows it here.
    pub(super) fn shows_in(&self, clause: &Clause) -> bool {
        let found = each(self.found).any(|phrase| said(clause, phrase, false));
        found || each(self.felt).any(|phrase| said(clause, phrase, true))
    }
}

/// Whether a phrase is said and meant; one that tells how someone is, of the speaker.
fn said(clause: &Clause, phrase: &str, of_self: bool) -> bool {
    (0..clause.words.len()).any(|place| {
        let Some(behind) = clause.says_at(place, phrase) else { return false };
        let other = BEHIND.iter().any(|(each, words)| *each == phrase && clause.is_any(behind, words));
        !other && !denied(clause, place) && (!of_self || speaks_of_self(clause, place))
    })
}

fn denied(clause: &Clause, place: usize) -> bool {
    (place.saturating_sub(3)..place).any(|word| clause.is_any(word, DENIALS))
        || (0..place).any(|word| clause.is_any(word, SUPPOSED))
}

/// The speaker is the last who is named before the feeling, or nobody is.
fn speaks_of_self(clause: &Clause, place: usize) -> bool {
    let nearest = (0..place).rev().find(|word| !clause.is_any(*word, EMPTY));
    nearest.is_none_or(|word| clause.is_any(word, SPEAKER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upkeep::clause::clauses;

    #[test]
    fn a_feeling_is_the_speakers_own() {
        for (text, expect) in [
            ("This is so frustrating", Some("frustration")),
            ("I'm really frustrated with the build", Some("frustration")),
            ("Tired of these flaky tests", Some("frustration")),
            ("Меня бесит этот деплой", Some("frustration")),
            ("Так надоело чинить тесты", Some("frustration")),
            ("I am a bit worried about the exam", Some("worry")),
            ("Очень переживаю за экзамен", Some("worry")),
            ("So happy with the new flat!", Some("joy")),
            ("I can't wait for Friday", Some("joy")),
            ("Я так рада", Some("joy")),
            ("I trust your judgement", Some("trust")),
            ("Thank you so much for this", Some("gratitude")),
            ("Очень благодарна за помощь", Some("gratitude")),
            ("I'm exhausted", Some("fatigue")),
            ("Сегодня совсем нет сил", Some("fatigue")),
            ("I'm not frustrated at all", None),
            ("I was never worried", None),
            ("Don't worry", None),
            ("No worries", None),
            ("Не переживаю", None),
            ("Tom is angry", None),
            ("The client was really frustrated", None),
            ("My boss is angry", None),
            ("Tom told me he is worried", None),
            ("It makes me angry", Some("frustration")),
            ("Are you tired?", None),
            ("The disk is exhausted", None),
            ("Happy to help", None),
            ("Happy birthday", None),
            ("I'd be happy with that", None),
            ("If I get tired", None),
            ("We can't trust you", None),
            ("The trust store is empty", None),
            ("Thanks", None),
            ("Он устал", None),
            ("He retired in May", None),
            ("", None),
        ] {
            let shown = FEELINGS.iter().find(|feeling| clauses(text).iter().any(|clause| feeling.shows_in(clause)));
            assert_eq!(shown.map(|feeling| feeling.name), expect, "{text}");
        }
    }
}
