//! Where does a sentence take breath?
//!
//! A text as clauses: runs of words between commas, stops and dashes. Words are in lower case with
//! "е" for "ё" and keep their apostrophes ("that's"), so phrases are compared word by word.

/// The words between two marks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Clause {
    /// At least one.
    pub(super) words: Vec<Word>,
    /// It begins a sentence.
    pub(super) opens: bool,
    /// Its sentence ends with a question mark.
    pub(super) asks: bool,
}

/// A word as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// In lower case.
    pub(super) text: String,
    /// It is written with a capital.
    pub(super) capital: bool,
}

impl Clause {
    /// Whether this phrase stands at a place, and where the words behind it begin. A word of the phrase that ends in
    /// `*` matches the start of a word.
    pub(super) fn says_at(&self, place: usize, phrase: &str) -> Option<usize> {
        let mut words = self.words.get(place..)?.iter();
        let mut end = place;
        for part in phrase.split([' ', '-']) {
            let word = &words.next()?.text;
            let same = part.strip_suffix('*').map_or(word == part, |stem| word.starts_with(stem));
            if !same {
                return None;
            }
            end += 1;
        }
        Some(end)
    }

    /// Where a phrase first stands.
    pub(super) fn find(&self, phrase: &str) -> Option<usize> {
        (0..self.words.len()).find(|place| self.says_at(*place, phrase).is_some())
    }

    /// Whether the word at a place is one of these.
    pub(super) fn is_any(&self, place: usize, words: &str) -> bool {
        self.words.get(place).is_some_and(|word| each(words).any(|each| each == word.text))
    }
}

/// The phrases of a list.
pub(super) fn each(phrases: &str) -> impl Iterator<Item = &str> {
    phrases.split(", ")
}

/// The clauses of a text, in order.
pub(super) fn clauses(text: &str) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    let mut reader = Reader { clause: Clause { opens: true, ..Clause::default() }, word: String::new() };
    // The first clause of the sentence that is being read.
    let mut first = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let inside = characters.peek().is_some_and(|next| next.is_alphanumeric()) && !reader.word.is_empty();
        match character {
            c if c.is_alphanumeric() => reader.word.push(c),
            '\'' | '’' | 'ʼ' if inside => reader.word.push('\''),
            // "3.5" and "loci.toml" are one word, as far as breath goes.
            '.' | ',' | ':' if inside => reader.close_word(),
            ',' | ';' | ':' | '(' | ')' | '—' | '–' => reader.close_clause(&mut clauses, false),
            '-' if reader.word.is_empty() && characters.peek().is_some_and(|next| next.is_whitespace()) => {
                reader.close_clause(&mut clauses, false);
            }
            '.' | '!' | '?' | '…' | '\n' | '\r' => {
                reader.close_clause(&mut clauses, true);
                clauses[first..].iter_mut().for_each(|clause| clause.asks |= character == '?');
                // "What?!" ends once.
                if !characters.peek().is_some_and(|next| matches!(next, '.' | '!' | '?')) {
                    first = clauses.len();
                }
            }
            _ => reader.close_word(),
        }
    }
    reader.close_clause(&mut clauses, true);
    clauses
}

struct Reader {
    clause: Clause,
    word: String,
}

impl Reader {
    fn close_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if let Some(first) = word.chars().next() {
            let text = word.to_lowercase().replace('ё', "е");
            self.clause.words.push(Word { text, capital: first.is_uppercase() });
        }
    }

    /// Puts the clause to the others, if it has words, and begins the next one.
    fn close_clause(&mut self, clauses: &mut Vec<Clause>, ends_sentence: bool) {
        self.close_word();
        let opens = ends_sentence || (self.clause.words.is_empty() && self.clause.opens);
        let clause = std::mem::replace(&mut self.clause, Clause { opens, ..Clause::default() });
        if !clause.words.is_empty() {
            clauses.push(clause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_end_where_readers_take_breath() {
        for (text, expect) in [
            ("", vec![]),
            ("So, how are you?", vec!["^so?", "how are you?"]),
            ("It’s 3.5 GB; that's why. Из-за ёлки!", vec!["^it's 3 5 gb", "that's why", "^из за елки"]),
            ("see loci.toml - it is there", vec!["^see loci toml", "it is there"]),
            ("one\ntwo (three) — four", vec!["^one", "^two", "three", "four"]),
            ("What?! Yes, 'quoted'.", vec!["^what?", "^yes", "quoted"]),
            ("... , Ana's dog", vec!["^ana's dog"]),
        ] {
            let shown = |clause: &Clause| {
                let words: Vec<&str> = clause.words.iter().map(|word| word.text.as_str()).collect();
                let (opens, asks) = (if clause.opens { "^" } else { "" }, if clause.asks { "?" } else { "" });
                format!("{opens}{}{asks}", words.join(" "))
            };
            assert_eq!(clauses(text).iter().map(shown).collect::<Vec<_>>(), expect, "{text}");
        }
    }

    #[test]
    fn phrases_are_found_word_by_word() {
        let clauses = clauses("Ana is really frustrated with it");
        for (phrase, expect) in [
            ("ana", Some(0)),
            ("frustrat*", Some(3)),
            ("is really", Some(1)),
            ("really with", None),
            ("with it again", None),
        ] {
            assert_eq!(clauses[0].find(phrase), expect, "{phrase}");
        }
        assert!(clauses[0].words[0].capital && !clauses[0].words[1].capital);
    }
}
