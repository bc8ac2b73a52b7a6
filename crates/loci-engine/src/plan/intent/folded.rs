//! Does a text say these words?
//!
//! Text is compared in lower case with "е" for "ё", word by word: a phrase never matches inside a
//! word or across a comma or a full stop. Phrases stand in one string with commas between them; one
//! that ends in `*` matches the start of a word.

/// A text as words with single spaces around them; commas and stops are words of their own.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::plan) struct Folded(String);

impl Folded {
    pub(in crate::plan) fn new(text: &str) -> Self {
        let mut folded = String::from(" ");
        for c in text.chars() {
            match c {
                '’' | '\'' => folded.push('\''),
                ',' | '.' | '?' | '!' | ';' => {
                    open_word(&mut folded);
                    folded.push(if c == ',' { ',' } else { '.' });
                    folded.push(' ');
                }
                _ if c.is_alphanumeric() => folded.extend(c.to_lowercase().map(|c| if c == 'ё' { 'е' } else { c })),
                _ => open_word(&mut folded),
            }
        }
        open_word(&mut folded);
        Self(folded)
    }

    /// Whether any of the phrases is said.
    pub(in crate::plan) fn says(&self, phrases: &str) -> bool {
        each(phrases).any(|phrase| self.places(phrase).next().is_some())
    }

    /// Where one of the phrases is first said, behind a comma or not.
    pub(super) fn find(&self, phrases: &str, behind_comma: bool) -> Option<usize> {
        let behind = |place: &usize| self.0[..*place].ends_with(',') == behind_comma;
        each(phrases).filter_map(|phrase| self.places(phrase).find(behind)).min()
    }

    /// Whether one of the phrases comes first.
    pub(in crate::plan) fn starts(&self, phrases: &str) -> bool {
        each(phrases).any(|phrase| self.places(phrase).next() == Some(0))
    }

    /// What is said after the first comma.
    pub(super) fn after_comma(&self) -> Option<Self> {
        self.0.find(',').map(|place| Self(self.0[place + 1..].to_owned()))
    }

    /// The words, without commas and stops.
    pub(in crate::plan) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split(' ').filter(|word| !matches!(*word, "" | "," | "."))
    }

    /// Where a phrase is said: the places of the spaces before it.
    fn places(&self, phrase: &str) -> impl Iterator<Item = usize> {
        let (phrase, whole) = match phrase.strip_suffix('*') {
            Some(stem) => (stem, false),
            None => (phrase, true),
        };
        self.0.match_indices(phrase).filter_map(move |(place, said)| {
            let starts = self.0[..place].ends_with(' ');
            let ends = !whole || self.0[place + said.len()..].starts_with(' ');
            (starts && ends).then(|| place - 1)
        })
    }
}

/// The phrases of a list.
pub(in crate::plan) fn each(phrases: &str) -> impl Iterator<Item = &str> {
    phrases.split(", ")
}

fn open_word(folded: &mut String) {
    if !folded.ends_with(' ') {
        folded.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::Folded;

    #[test]
    fn phrases_are_whole_words() {
        for (text, phrase, expect) in [
            ("How long is it?", "how long", true),
            ("How   LONG", "how long", true),
            ("Show longing", "how long", false),
            ("Oh how, long ago", "how long", false),
            ("how longing", "how long*", true),
            ("Ещё раз", "еще раз", true),
            ("That’s it", "that's", true),
            ("из-за чего", "из за чего", true),
            ("", "how", false),
        ] {
            assert_eq!(Folded::new(text).says(phrase), expect, "{text:?} {phrase:?}");
        }
    }
}
