//! Matches phrases in a text.
//!
//! Text is compared in lower case with "е" for "ё", word by word: a phrase never matches inside a word or across a
//! comma or a full stop. Phrases are in one string with commas between them; one that ends in `*` matches the start
//! of a word.

/// A text as words with single spaces around them; commas and stops are words of their own.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::recall::plan) struct Folded {
    text: String,
    begins: Begins,
}

/// A bit set of the first letters of the words of a text. Most of the hundreds of phrases are skipped by it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Begins([u64; 4]);

impl Begins {
    fn of(text: &str) -> Self {
        let mut begins = Self::default();
        for three in text.as_bytes().windows(3).filter(|three| three[0] == b' ') {
            let (word, bit) = Self::place(three[1], three[2]);
            begins.0[word] |= bit;
        }
        begins
    }

    /// Whether a word may begin like this phrase; when not, it is not said.
    fn may_be(&self, phrase: &str) -> bool {
        let [first, second, ..] = phrase.as_bytes() else { return true };
        let (word, bit) = Self::place(*first, *second);
        self.0[word] & bit != 0
    }

    /// Two beginnings may share a place.
    fn place(first: u8, second: u8) -> (usize, u64) {
        let place = first.wrapping_mul(31).wrapping_add(second.wrapping_mul(7));
        (usize::from(place >> 6), 1 << (place & 63))
    }
}

impl Folded {
    pub(in crate::recall::plan) fn new(text: &str) -> Self {
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
        Self::whole(folded)
    }

    fn whole(text: String) -> Self {
        Self { begins: Begins::of(&text), text }
    }

    /// Whether the text contains any of the phrases.
    pub(in crate::recall::plan) fn says(&self, phrases: &str) -> bool {
        each(phrases).any(|phrase| self.places(phrase).next().is_some())
    }

    /// The first position of any of the phrases, optionally after a comma.
    pub(super) fn find(&self, phrases: &str, behind_comma: bool) -> Option<usize> {
        let behind = |place: &usize| self.text[..*place].ends_with(',') == behind_comma;
        each(phrases).filter_map(|phrase| self.places(phrase).find(behind)).min()
    }

    /// Whether one of the phrases comes first.
    pub(in crate::recall::plan) fn starts(&self, phrases: &str) -> bool {
        each(phrases).any(|phrase| self.places(phrase).next() == Some(0))
    }

    /// The text after the first comma.
    pub(super) fn after_comma(&self) -> Option<Self> {
        self.text.find(',').map(|place| Self::whole(self.text[place + 1..].to_owned()))
    }

    /// The words, without commas and stops.
    pub(in crate::recall::plan) fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split(' ').filter(|word| !matches!(*word, "" | "," | "."))
    }

    /// The positions of a phrase: the indices of the spaces before it.
    fn places(&self, phrase: &str) -> impl Iterator<Item = usize> {
        let (phrase, whole) = match phrase.strip_suffix('*') {
            Some(stem) => (stem, false),
            None => (phrase, true),
        };
        let said = self.begins.may_be(phrase).then(|| self.text.match_indices(phrase));
        said.into_iter().flatten().filter_map(move |(place, said)| {
            let starts = self.text[..place].ends_with(' ');
            let ends = !whole || self.text[place + said.len()..].starts_with(' ');
            (starts && ends).then(|| place - 1)
        })
    }
}

/// The phrases of a list.
pub(in crate::recall::plan) fn each(phrases: &str) -> impl Iterator<Item = &str> {
    // A single character is found faster than two.
    phrases.split(',').map(|phrase| phrase.strip_prefix(' ').unwrap_or(phrase))
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
            ("a to b", "b", true),
            ("from a to b", "a to", true),
            ("so it is", "t is, it was, s*", true),
            ("so it is", "t is, it was, o", false),
            ("", "how", false),
        ] {
            assert_eq!(Folded::new(text).says(phrase), expect, "{text:?} {phrase:?}");
        }
    }
}
