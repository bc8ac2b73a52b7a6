//! How is the character zero kept where text may not hold it?
//!
//! PostgreSQL takes every character but this one. In its place goes a character that Unicode promises
//! never to use, followed by a digit; that character itself is written with another digit, so that
//! whatever was given comes back.

use std::borrow::Cow;

/// Never a letter of any text, by Unicode's promise.
const MARK: char = '\u{10FFFF}';

/// Text as PostgreSQL takes it.
pub(crate) fn out_of_text(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return text.into();
    }
    text.replace(MARK, "\u{10FFFF}1").replace('\0', "\u{10FFFF}0").into()
}

/// Text as it was given.
pub(crate) fn into_text(text: &str) -> String {
    if !text.contains(MARK) {
        return text.to_owned();
    }
    text.replace("\u{10FFFF}0", "\0").replace("\u{10FFFF}1", "\u{10FFFF}")
}

/// JSON as PostgreSQL takes it, in which the character is written `\u0000`.
pub(crate) fn out_of_json(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u0000") && !text.contains(MARK) {
        return text.into();
    }
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\\u0000") {
            made.push_str("\u{10FFFF}0");
            rest = after;
        } else if letter == '\\' {
            // Whatever is escaped stays with its backslash: two of them are one letter.
            let pair = rest.chars().take(2).map(char::len_utf8).sum();
            made.push_str(&rest[..pair]);
            rest = &rest[pair..];
        } else {
            made.push_str(if letter == MARK { "\u{10FFFF}1" } else { &rest[..letter.len_utf8()] });
            rest = &rest[letter.len_utf8()..];
        }
    }
    made.into()
}

/// JSON as it was given.
pub(crate) fn into_json(text: &str) -> String {
    if !text.contains(MARK) {
        return text.to_owned();
    }
    text.replace("\u{10FFFF}0", "\\u0000").replace("\u{10FFFF}1", "\u{10FFFF}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_given_comes_back() {
        for text in ["", "plain", "\0", "a\0b\0", "\u{10FFFF}", "\u{10FFFF}0", "\0\u{10FFFF}1", "\\u0000", "\\\\u0000"]
        {
            let kept = out_of_text(text);
            assert!(!kept.contains('\0'));
            assert_eq!(into_text(&kept), text);
            let json = serde_json::Value::from(text).to_string();
            let kept = out_of_json(&json);
            assert_eq!(serde_json::from_str::<String>(&into_json(&kept)).unwrap(), text);
            assert!(!serde_json::from_str::<String>(&kept).unwrap().contains('\0'), "{text:?} {kept:?}");
        }
    }
}
