//! What can be learned from a Russian sentence?
//!
//! The same as from an English one, with fewer patterns. The speaker becomes "Пользователь" or the
//! name in its case; verbs of the first person come from a table, and one that is not in it is not
//! retold.

mod clause;
mod forms;

use jiff::Zoned;

use super::Speaker;
use super::correct::{fragment, patch};
use super::judge::Verdict;
use super::lexicon::one_of;
use super::prose::Sentence;
use super::read::Draft;
use super::when::dates;
use super::word::{Shape, Word, words};
use clause::Clause;
use forms::{third_of, third_of_we};

/// Whether a sentence is written in Cyrillic for the most part.
pub(crate) fn is_russian(text: &str) -> bool {
    let (mut cyrillic, mut latin) = (0_usize, 0_usize);
    for c in text.chars() {
        cyrillic += usize::from(('\u{400}'..='\u{4ff}').contains(&c));
        latin += usize::from(c.is_ascii_alphabetic());
    }
    cyrillic > 0 && cyrillic * 3 >= latin
}

/// Words that open a sentence and are no part of it.
const FILLER: &str = "кстати|ну|вот|слушай|привет|да|ага|так|короче|вообще|и|а|но|еще|также|ой|в общем|между прочим|\
    к слову|честно говоря|если что|кажется|по-моему|думаю|я думаю|теперь|здравствуйте|добрый день|ок|окей|хорошо|\
    понятно|спасибо";

const CORRECTS: &str = "нет|не так|на самом деле|вообще-то|поправка|я ошибся|я ошиблась|ошибся|ошиблась|то есть|\
    точнее|вернее|извини|прости|стоп|погоди|я имел в виду|я имела в виду|забудь";

const ASKED: &str = "запомни что|запомни|имей в виду что|имей в виду|учти что|учти|не забудь что|заметь что|\
    на будущее|пожалуйста запомни что|пожалуйста запомни";

const UNREAL: &str = "если бы допустим представь предположим вдруг возможно наверное может хотел хотела хотелось \
    кажется";

/// What a Russian sentence states; nothing for the assistant, who states nothing about others.
pub(super) fn read(sentence: &Sentence<'_>, speaker: Option<Speaker<'_>>, now: &Zoned, said: &[String]) -> Vec<Draft> {
    let name = match speaker {
        Some(Speaker::User(None)) => "Пользователь",
        Some(Speaker::User(Some(name)) | Speaker::Named(name)) => name,
        _ => return Vec::new(),
    };
    let mut words = words(sentence.text);
    let (asked, corrects) = strip(&mut words);
    if words.is_empty() || sentence.asks || words.iter().any(|word| one_of(UNREAL, &word.lower)) {
        return Vec::new();
    }
    if (corrects || words[0].is("не") || words.iter().any(|word| word.is("а")))
        && let Some(content) = fragment(&words, corrects).and_then(|fragment| patch(&fragment, said))
    {
        let verdict = Verdict::new("correction", "correction", 0.85);
        return vec![Draft { content, verdict, corrects: true, dates: Vec::new(), past: false }];
    }
    let ahead = dates(sentence.text, now, true);
    let behind = if ahead.is_empty() { Vec::new() } else { dates(sentence.text, now, false) };
    let mut drafts = Vec::new();
    let mut before: Option<Vec<Word>> = None;
    for part in parts(words) {
        let part = match &before {
            Some(subject) if lacks_subject(&part) => [subject.clone(), part].concat(),
            _ => part,
        };
        before = part.first().filter(|word| word.any("я мы")).map(|word| vec![word.clone()]).or(before);
        let reader = Clause { words: &part, name, ahead: &ahead, behind: &behind };
        let Some(mut draft) = reader.read() else { continue };
        if asked {
            draft.verdict.confidence = (draft.verdict.confidence + 0.1).min(0.98);
            draft.verdict.importance = draft.verdict.importance.max(0.85);
        }
        if corrects && draft.verdict.kind != "task" {
            draft.verdict = Verdict::new("correction", "correction", 0.9);
            draft.corrects = true;
        }
        drafts.push(draft);
    }
    drafts
}

/// Takes the openers off; whether they ask to remember, whether they correct.
fn strip(words: &mut Vec<Word>) -> (bool, bool) {
    let (mut asked, mut corrects) = (false, false);
    for _ in 0..6 {
        let marks = words.iter().take_while(|word| word.shape == Shape::Mark).count();
        words.drain(..marks);
        let plain: Vec<&str> =
            words.iter().filter(|word| word.shape != Shape::Mark).take(4).map(|word| word.lower.as_str()).collect();
        let length = |list: &str| {
            list.split('|')
                .map(|phrase| phrase.split(' ').collect::<Vec<_>>())
                .filter(|parts| plain.starts_with(parts))
                .map(|parts| parts.len())
                .max()
        };
        let (length, ask, correct) = match (length(ASKED), length(CORRECTS), length(FILLER)) {
            (Some(length), ..) => (length, true, false),
            (_, Some(length), _) => (length, false, true),
            (.., Some(length)) => (length, false, false),
            _ => break,
        };
        asked |= ask;
        corrects |= correct;
        let mut left = length;
        while left > 0 && !words.is_empty() {
            left -= usize::from(words[0].shape != Shape::Mark);
            words.remove(0);
        }
    }
    (asked, corrects)
}

/// Cuts a sentence where another statement begins.
fn parts(words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut parts: Vec<Vec<Word>> = vec![Vec::new()];
    let mut place = 0;
    while place < words.len() {
        let word = &words[place];
        let skip = match () {
            () if word.is(",") && words.get(place + 1).is_some_and(|next| next.any("а но и")) => 2,
            () if word.any(", ; и но") => 1,
            () => 0,
        };
        let starts = skip > 0
            && parts.last().is_some_and(|part| part.len() > 1)
            && words[place + skip..].first().is_some_and(|next| {
                next.any("я мы мой моя мое мои наш наша у мне меня")
                    || third_of(&next.lower).is_some()
                    || third_of_we(&next.lower).is_some()
                    || word.is(";")
                    || next.is("не") && words.get(place + skip + 1).is_some_and(|verb| third_of(&verb.lower).is_some())
            });
        if starts {
            parts.push(Vec::new());
            place += skip;
            continue;
        }
        if let Some(part) = parts.last_mut() {
            part.push(word.clone());
        }
        place += 1;
    }
    parts
}

fn lacks_subject(part: &[Word]) -> bool {
    part.iter()
        .find(|word| !word.any("не больше еще также"))
        .is_some_and(|word| third_of(&word.lower).is_some() || third_of_we(&word.lower).is_some())
}
