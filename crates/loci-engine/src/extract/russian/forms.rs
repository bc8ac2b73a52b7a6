//! Which form does a Russian word take when someone else tells it?

mod people;
mod verbs;

use super::super::word::Word;
pub(super) use people::{is_home_thing, is_kin, is_relation, is_role};
pub(super) use verbs::{
    infinitive, is_coming, is_home, is_past, is_personal, is_third, past_of, plural_past, third_of, third_of_we,
};

/// A case of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Genitive,
    Dative,
    Instrumental,
}

/// A name in a case, as far as its ending tells.
pub(super) fn declined(name: &str, case: Case) -> String {
    if name == "Пользователь" {
        return match case {
            Case::Genitive => "пользователя".to_owned(),
            Case::Dative => "пользователю".to_owned(),
            Case::Instrumental => "пользователем".to_owned(),
        };
    }
    let Some(last) = name.chars().next_back().filter(|last| ('а'..='я').contains(last)) else {
        return name.to_owned();
    };
    let stem = &name[..name.len() - last.len_utf8()];
    let hushed = stem.ends_with(['г', 'к', 'х', 'ж', 'ч', 'ш', 'щ']);
    match (last, case) {
        ('а', Case::Genitive) if hushed => format!("{stem}и"),
        ('а', Case::Genitive) => format!("{stem}ы"),
        ('а', Case::Dative) => format!("{stem}е"),
        ('а', Case::Instrumental) => format!("{stem}ой"),
        ('я', Case::Instrumental) => format!("{stem}ей"),
        ('й' | 'ь', Case::Instrumental) => format!("{stem}ем"),
        ('я', Case::Genitive) => format!("{stem}и"),
        ('я', Case::Dative) if stem.ends_with('и') => format!("{stem}и"),
        ('я', Case::Dative) => format!("{stem}е"),
        ('й' | 'ь', Case::Genitive) => format!("{stem}я"),
        ('й' | 'ь', Case::Dative) => format!("{stem}ю"),
        ('о' | 'е' | 'у' | 'ы' | 'и' | 'э' | 'ю', _) => name.to_owned(),
        (_, Case::Genitive) => format!("{name}а"),
        (_, Case::Dative) => format!("{name}у"),
        (_, Case::Instrumental) => format!("{name}ом"),
    }
}

/// "Мой" in the mouth of another, where the one it belongs to is the subject.
pub(super) fn own(lower: &str) -> Option<&'static str> {
    Some(match lower {
        "мой" | "наш" => "свой",
        "моя" | "наша" => "своя",
        "мое" | "наше" => "своё",
        "мои" | "наши" => "свои",
        "моего" | "нашего" => "своего",
        "моей" | "нашей" => "своей",
        "моему" | "нашему" => "своему",
        "моим" | "нашим" => "своим",
        "моих" | "наших" => "своих",
        "мою" | "нашу" => "свою",
        "моем" | "нашем" => "своём",
        "моими" | "нашими" => "своими",
        _ => return None,
    })
}

const PRONOUNS: &[&str] = &[
    "я",
    "меня",
    "мне",
    "мной",
    "мы",
    "нас",
    "нам",
    "нами",
    "ты",
    "тебя",
    "тебе",
    "тобой",
    "вы",
    "вас",
    "вам",
    "он",
    "его",
    "ему",
    "им",
    "ним",
    "него",
    "нему",
    "она",
    "ее",
    "ей",
    "ней",
    "оно",
    "они",
    "их",
    "них",
    "ими",
    "ними",
    "это",
    "этого",
    "этому",
    "этом",
    "этот",
    "эта",
    "эти",
    "этой",
    "эту",
    "твой",
    "твоя",
    "ваш",
    "ваша",
    "здесь",
    "тут",
    "там",
    "туда",
];

/// Whether a word stands for something that is not named.
pub(super) fn is_pronoun(lower: &str) -> bool {
    PRONOUNS.contains(&lower)
}

/// Whether a word looks like an adjective of the first case.
pub(super) fn is_adjective(lower: &str) -> bool {
    ["ый", "ий", "ой", "ая", "яя", "ое", "ее", "ые", "ие"].iter().any(|end| lower.ends_with(end)) && !is_pronoun(lower)
}

/// Whether a word says that something is the speaker's.
pub(super) fn is_mine(lower: &str) -> bool {
    own(lower).is_some()
}

/// The case in which a word names the speaker: "к нам", "у меня".
pub(super) fn speaker_case(lower: &str) -> Option<Case> {
    Some(match lower {
        "меня" | "нас" => Case::Genitive,
        "мне" | "нам" => Case::Dative,
        "мной" | "мною" | "нами" => Case::Instrumental,
        _ => return None,
    })
}

/// Numbers in words, in the cases that people use them in.
const NUMERALS: &[(&str, u8)] = &[
    ("один одна одного одной", 1),
    ("два две двое двух", 2),
    ("три трое трех", 3),
    ("четыре четверо четырех", 4),
    ("пять пятеро пяти", 5),
    ("шесть шести", 6),
    ("семь семи", 7),
    ("восемь восьми", 8),
    ("девять девяти", 9),
    ("десять десяти", 10),
    ("одиннадцать одиннадцати", 11),
    ("двенадцать двенадцати", 12),
    ("тринадцать тринадцати", 13),
    ("четырнадцать четырнадцати", 14),
    ("пятнадцать пятнадцати", 15),
    ("шестнадцать шестнадцати", 16),
    ("семнадцать семнадцати", 17),
    ("восемнадцать восемнадцати", 18),
    ("девятнадцать девятнадцати", 19),
    ("двадцать двадцати", 20),
    ("тридцать тридцати", 30),
    ("сорок сорока", 40),
    ("пятьдесят пятидесяти", 50),
    ("шестьдесят шестидесяти", 60),
    ("семьдесят семидесяти", 70),
    ("восемьдесят восьмидесяти", 80),
    ("девяносто девяноста", 90),
];

/// The number that a word names.
pub(super) fn numeral(lower: &str) -> Option<u8> {
    NUMERALS.iter().find(|(forms, _)| forms.split(' ').any(|form| form == lower)).map(|(_, number)| *number)
}

/// The number that words name from their start on: "шестьдесят три" is 63.
pub(super) fn number(words: &[Word]) -> Option<String> {
    let first = numeral(&words.first()?.lower)?;
    let second = words.get(1).and_then(|word| numeral(&word.lower)).filter(|second| first >= 20 && *second < 10);
    Some((first + second.unwrap_or(0)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_the_form_of_the_third_person() {
        for (name, genitive, dative) in [
            ("Пользователь", "пользователя", "пользователю"),
            ("Анна", "Анны", "Анне"),
            ("Мария", "Марии", "Марии"),
            ("Иван", "Ивана", "Ивану"),
            ("Ольга", "Ольги", "Ольге"),
            ("Андрей", "Андрея", "Андрею"),
            ("Ana", "Ana", "Ana"),
        ] {
            assert_eq!(declined(name, Case::Genitive), genitive);
            assert_eq!(declined(name, Case::Dative), dative);
        }
        assert_eq!(third_of("живу"), Some(("живёт", "self")));
        assert_eq!(third_of("бормочу"), None);
        assert_eq!(plural_past("решили").unwrap().0, "решила");
        assert_eq!(plural_past("договорились").unwrap().0, "договорилась");
        assert_eq!(plural_past("перешли").unwrap().0, "перешла");
    }
}
