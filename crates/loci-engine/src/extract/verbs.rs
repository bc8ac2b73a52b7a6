//! Which word is a verb, and in which form?
//!
//! A closed list: what is not in it is no verb. Forms are made from the list once; irregular ones
//! are written out.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A form of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// "work"
    Base,
    /// "works"
    Third,
    /// "worked"; also the participle.
    Past,
    /// "working"
    Ing,
}

/// Verbs whose forms follow the rules.
const REGULAR: &str = "
accept add adopt agree aim allow answer apply appreciate approve archive arrange arrive ask assign attend automate
avoid bake bike back belong block book bump call cancel care change charge check choose chair clean climb close coach
code collect commit commute complain complete configure connect consider consist contain contract contribute convert
cook cost cover crash create cycle dance deal debug decide decline define delete deliver depend deploy deprecate
describe design detest develop die disable discuss dislike divorce document donate download draft drop earn edit
email employ enable encrypt end enjoy enroll escalate exercise expect expire explain export extend fail favour favor
file finance finish fish fix follow form freelance fund garden generate graduate grind guess handle happen hate help
hike hire host hunt identify ignore implement import improve include increase inherit install integrate intend
interview invest invite involve iron jog join juggle kayak kill knit label land last launch learn lease lift like
limit link list listen load loathe lock log look love lower maintain major manage mark marry matter mean measure meet
meditate mentor merge message migrate miss mock monitor mount move name need negotiate note notice notify occur
offer open operate opt order organise organize overlook own pack paint park pass patch pay perform phase phone pick
pilot plan plant play point post practise practice pray prefer prepare present prevent print process produce
promote propose provide provision publish pull purchase push queue quote rain raise rank reach realise realize
rebase reboot receive recommend record reduce refactor refer refuse register reject relax release relocate rely
remain remember remind remove rename renew renovate rent repair replace reply report request require research
reset reside resign resolve respond restart restore retire retry return revert review ride roll rotate run
sail sample save scale scan schedule score scrap scratch ship shop show sign ski skip smoke snore solve sort specialise
specialize speed sponsor stand start stay step stick stop store stream study submit subscribe suffer suggest supply
support surf survive suspect switch sync talk target taste teach test text thank track trade train transfer travel treat
trigger trust try turn type unplug update upgrade upload use usher vacation validate value visit volunteer vote wait
walk want warn wash waste watch water weigh welcome wipe wonder work worry wrap consume crave adore approve
tag drain squash compile lint drain restart fetch tap press click flush seed
share enter pretend condemn laugh hope standardise standardize ditch publish boil
serve settle specify supervise total transition translate upskill vaccinate wire
";

/// Base, past and participle of the others.
const IRREGULAR: &str = "
be was been, have had had, do did done, go went gone, get got gotten, say said said, make made made, take took taken,
come came come, see saw seen, know knew known, give gave given, find found found, think thought thought,
tell told told, become became become, leave left left, feel felt felt, put put put, bring brought brought,
begin began begun, keep kept kept, hold held held, write wrote written, stand stood stood, hear heard heard,
let let let, mean meant meant, set set set, meet met met, run ran run, pay paid paid, sit sat sat,
speak spoke spoken, lie lay lain, lead led led, read read read, grow grew grown, lose lost lost, fall fell fallen,
send sent sent, build built built, understand understood understood, draw drew drawn, break broke broken,
spend spent spent, cut cut cut, rise rose risen, drive drove driven, buy bought bought, wear wore worn,
choose chose chosen, eat ate eaten, drink drank drunk, sleep slept slept, swim swam swum, sing sang sung,
teach taught taught, catch caught caught, win won won, sell sold sold, fly flew flown, ride rode ridden,
forget forgot forgotten, quit quit quit, wake woke woken, throw threw thrown, hide hid hidden, hit hit hit,
hurt hurt hurt, cost cost cost, shut shut shut, split split split, fight fought fought, feed fed fed,
lend lent lent, bear bore born, bet bet bet, sink sank sunk, shrink shrank shrunk, stick stuck stuck,
rebuild rebuilt rebuilt, rewrite rewrote rewritten, withdraw withdrew withdrawn, show showed shown,
live lived lived, overtake overtook overtaken, undergo underwent undergone, spin spun spun, swear swore sworn
";

static FORMS: LazyLock<HashMap<String, (&'static str, Form)>> = LazyLock::new(|| {
    let mut forms = HashMap::new();
    for base in REGULAR.split_whitespace() {
        add(&mut forms, base, &past(base), &past(base));
    }
    for row in IRREGULAR.split(',') {
        if let [base, past, participle] = row.split_whitespace().collect::<Vec<_>>()[..] {
            add(&mut forms, base, past, participle);
        }
    }
    for (word, form) in [("am", Form::Base), ("are", Form::Base), ("is", Form::Third), ("were", Form::Past)] {
        forms.insert(word.to_owned(), ("be", form));
    }
    forms
});

fn add(forms: &mut HashMap<String, (&'static str, Form)>, base: &'static str, past: &str, participle: &str) {
    for (word, form) in [
        (participle.to_owned(), Form::Past),
        (past.to_owned(), Form::Past),
        (ing(base), Form::Ing),
        (third(base), Form::Third),
    ] {
        forms.insert(word, (base, form));
    }
    // "Quit" and "put" are their own past.
    let form = if past == base { Form::Past } else { Form::Base };
    forms.insert(base.to_owned(), (base, form));
}

/// The base form and the form of a word in lower case, if it can be a verb.
pub(crate) fn verb(lower: &str) -> Option<(&'static str, Form)> {
    FORMS.get(lower).copied()
}

/// "work" → "works".
pub(crate) fn third(base: &str) -> String {
    match base {
        "be" | "am" | "are" => "is".to_owned(),
        "have" => "has".to_owned(),
        "were" => "was".to_owned(),
        _ if base.ends_with(['s', 'x', 'z', 'o']) || base.ends_with("ch") || base.ends_with("sh") => {
            format!("{base}es")
        }
        _ if consonant_y(base) => format!("{}ies", &base[..base.len() - 1]),
        _ => format!("{base}s"),
    }
}

fn past(base: &str) -> String {
    match base {
        _ if base.ends_with('e') => format!("{base}d"),
        _ if consonant_y(base) => format!("{}ied", &base[..base.len() - 1]),
        _ if doubles(base) => format!("{base}{}ed", &base[base.len() - 1..]),
        _ => format!("{base}ed"),
    }
}

/// "work" → "working".
pub(crate) fn ing(base: &str) -> String {
    match base {
        "be" => "being".to_owned(),
        "die" | "lie" => format!("{}ying", &base[..base.len() - 2]),
        _ if base.ends_with('e') && !base.ends_with("ee") && !base.ends_with("oe") => {
            format!("{}ing", &base[..base.len() - 1])
        }
        _ if doubles(base) => format!("{base}{}ing", &base[base.len() - 1..]),
        _ => format!("{base}ing"),
    }
}

fn consonant_y(base: &str) -> bool {
    base.ends_with('y')
        && !base.ends_with("ay")
        && !base.ends_with("ey")
        && !base.ends_with("oy")
        && !base.ends_with("uy")
}

/// Whether the last consonant is written twice: "ship", "plan", "commit".
fn doubles(base: &str) -> bool {
    const LONGER: &[&str] =
        &["commit", "submit", "prefer", "refer", "transfer", "begin", "forget", "opt", "cancel", "reset"];
    let letters = base.as_bytes();
    let vowel = |letter: u8| b"aeiou".contains(&letter);
    let [before, middle, last] = letters[letters.len().saturating_sub(3)..] else { return false };
    let closed = !vowel(before) && vowel(middle) && !vowel(last) && !b"wxy".contains(&last);
    closed
        && (letters.len() <= 4 && letters.iter().filter(|letter| vowel(**letter)).count() == 1
            || LONGER.contains(&base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_known() {
        for (word, expect) in [
            ("works", Some(("work", Form::Third))),
            ("studies", Some(("study", Form::Third))),
            ("moved", Some(("move", Form::Past))),
            ("shipped", Some(("ship", Form::Past))),
            ("planning", Some(("plan", Form::Ing))),
            ("chose", Some(("choose", Form::Past))),
            ("quit", Some(("quit", Form::Past))),
            ("am", Some(("be", Form::Base))),
            ("has", Some(("have", Form::Third))),
            ("porto", None),
        ] {
            assert_eq!(verb(word), expect, "{word}");
        }
        for (base, expect) in
            [("have", "has"), ("do", "does"), ("try", "tries"), ("play", "plays"), ("teach", "teaches")]
        {
            assert_eq!(third(base), expect);
        }
    }
}
