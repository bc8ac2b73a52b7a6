//! Checks whether the embedding model can read a text.
//!
//! The model that comes with Loci was trained on English. It does not know words of other scripts, and splits words
//! of other languages into meaningless pieces. Only whether a text is English matters: most of its function words are
//! English, or it has none and only ASCII letters.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A text with more letters of other scripts than this is not read.
const OTHER_SCRIPTS: f64 = 0.3;

/// Small words of English that are none in its neighbours.
const ENGLISH: &str = "the of and to is are for with that this my what which who whose how when where does did do from by have \
    has had it its we our you your his her she he they their at be been would should can could not but if after before about \
    into than then there why i an on in or was were will them so as up out me him us any some no";

/// Small words of other languages in Latin letters that are none in English.
const OTHERS: &str = "der das und ist nicht ein eine einen dem den mit auf für von zu wie wer wo wann warum welche welcher sind \
    haben wir ich sie es im am bei nach aus el la los las del que y por para con una uno como quién cuál cuándo dónde qué está \
    son mi su se en lo le les des du et est pas pour dans sur qui quoi quand où quel quelle je nous vous il elle mon ma sa au \
    aux un une o os da do na no em com não são é uma quem qual quando onde meu minha seu il gli di che per non è sono mio chi \
    dove perché bir ve bu için ile ne nasıl kim hangi mi mı var olan değil het een van niet op te zijn ik wij wat welke og \
    är och som på det att med för jest nie w z na się co kto jak czy że";

static ENGLISH_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| ENGLISH.split_whitespace().collect());
static OTHER_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| OTHERS.split_whitespace().filter(|word| !ENGLISH_WORDS.contains(word)).collect());

/// Whether the model for other languages can read a text, by its script.
pub(crate) fn in_known_script(text: &str) -> bool {
    let known = |c: char| {
        matches!(c, '\0'..='\u{24f}' | '\u{400}'..='\u{52f}' | '\u{600}'..='\u{6ff}' | '\u{e00}'..='\u{e7f}'
            | '\u{1e00}'..='\u{1eff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ffef}')
    };
    let (mut letters, mut others) = (0_u32, 0_u32);
    for letter in text.chars().filter(|c| c.is_alphabetic()) {
        letters += 1;
        others += u32::from(!known(letter));
    }
    f64::from(others) <= OTHER_SCRIPTS * f64::from(letters)
}

/// Whether a model that has read English can read a text.
pub(crate) fn readable(text: &str) -> bool {
    let (mut letters, mut others, mut marked) = (0_u32, 0_u32, 0_u32);
    for letter in text.chars().filter(|c| c.is_alphabetic()) {
        letters += 1;
        others += u32::from(letter > '\u{24f}' && !('\u{1e00}'..'\u{1f00}').contains(&letter));
        marked += u32::from(!letter.is_ascii());
    }
    if f64::from(others) > OTHER_SCRIPTS * f64::from(letters) {
        return false;
    }
    let (mut english, mut foreign) = (0_u32, 0_u32);
    for word in text.split(|c: char| !c.is_alphabetic() && c != '\'').filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        english += u32::from(ENGLISH_WORDS.contains(word.as_str()));
        foreign += u32::from(OTHER_WORDS.contains(word.as_str()));
    }
    // A name or two with an accent make no other language; every twelfth letter does.
    if english == foreign { marked * 12 <= letters } else { english > foreign }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_read_and_others_are_not() {
        for text in [
            "The ferry leaves at nine from the east pier",
            "Deploy key rotated 2025-03-01",
            "José lives in Málaga with his cat",
            "wifi password",
            "ERR-7731",
            "",
            "What does Zoë grow on the balcony?",
        ] {
            assert!(readable(text), "{text}");
        }
        for text in [
            "Die Fähre legt um neun am Ostpier ab",
            "Wo wohnt der Hausmeister?",
            "Паром отходит в девять",
            "El transbordador sale a las nueve del muelle",
            "Où est rangée la clé du garage ?",
            "Onde fica a chave da garagem?",
            "Garajın anahtarı nerede duruyor ve kim biliyor?",
            "車の鍵は玄関にあります",
            "مفتاح المرآب عند المدخل",
        ] {
            assert!(!readable(text), "{text}");
        }
    }
}
