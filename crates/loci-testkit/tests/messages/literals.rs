//! Reads the string literals of a Rust source and where each stands: in which function, call, macro or attribute.
//!
//! It knows as much of the language as that needs: comments, characters and lifetimes, raw strings, escapes and brackets.

/// A string literal of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    /// The text with its escapes resolved; line breaks are `⏎`.
    pub(crate) text: String,
    /// What precedes each open bracket, outermost first: `fn hint`, `Error::new`, `#`, `format!`.
    pub(crate) around: Vec<String>,
    /// The code of the same expression before the literal.
    pub(crate) before: String,
}

/// The code without the module of tests, which is at the end of a file.
pub(crate) fn without_tests(source: &str) -> &str {
    let tests = source.match_indices("#[cfg(test)]").map(|(place, _)| place).find(|place| {
        let item = source[*place..].lines().skip(1).find(|line| !line.trim_start().starts_with("#[")).unwrap_or("");
        item.starts_with("mod ") && item.ends_with('{')
    });
    &source[..tests.unwrap_or(source.len())]
}

/// All string literals of a source, in order.
pub(crate) fn literals(source: &str) -> Vec<Literal> {
    let mut reader =
        Reader { rest: source, around: Vec::new(), outer: Vec::new(), before: String::new(), found: Vec::new() };
    while reader.step() {}
    reader.found
}

struct Reader<'a> {
    rest: &'a str,
    around: Vec<String>,
    /// What was before each open bracket; it goes with the code after the closing one.
    outer: Vec<String>,
    before: String,
    found: Vec<Literal>,
}

impl Reader<'_> {
    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// Reads one token. Returns false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        let ends_name = self.before.chars().next_back().is_some_and(|last| last.is_alphanumeric() || last == '_');
        if self.rest.starts_with("//") {
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.skip(self.rest.find("*/").map_or(self.rest.len(), |end| end + 2));
        } else if !ends_name && let Some(hashes) = raw_start(self.rest) {
            self.raw_string(hashes);
        } else if first == '"' {
            self.string();
        } else if first == '\'' {
            self.skip(character(self.rest).unwrap_or(1));
        } else {
            self.skip(first.len_utf8());
            self.code(first);
        }
        true
    }

    fn code(&mut self, character: char) {
        match character {
            '(' | '[' | '{' => {
                let name = opener(&self.before, character);
                self.around.push(name);
                self.outer.push(std::mem::take(&mut self.before));
            }
            ')' | ']' | '}' => {
                self.around.pop();
                self.before = self.outer.pop().filter(|_| character != '}').unwrap_or_default();
            }
            ';' => self.before.clear(),
            ',' if !self.before.contains("fn ") => self.before.clear(),
            other => self.before.push(other),
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        let start = self.rest.find('"').unwrap_or(0) + 1;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = self.rest[start..].find(&end).unwrap_or(self.rest.len() - start);
        let text = self.rest[start..start + length].replace('\n', "⏎");
        self.skip((start + length + end.len()).min(self.rest.len()));
        self.add(text);
    }

    fn string(&mut self) {
        let (mut text, mut characters) = (String::new(), self.rest[1..].chars().peekable());
        while let Some(character) = characters.next() {
            match character {
                '"' => break,
                '\\' => match characters.next() {
                    Some('\n') => while characters.next_if(|next| next.is_whitespace()).is_some() {},
                    Some('n') => text.push('⏎'),
                    Some('t' | 'r' | 'u' | 'x' | '0') => text.push(' '),
                    Some(other) => text.push(other),
                    None => {}
                },
                '\n' => text.push('⏎'),
                other => text.push(other),
            }
        }
        let rest: usize = characters.map(char::len_utf8).sum();
        self.skip(self.rest.len() - rest);
        self.add(text);
    }

    fn add(&mut self, text: String) {
        self.found.push(Literal { text, around: self.around.clone(), before: self.before.trim().to_owned() });
        self.before.push('"');
    }
}

/// The number of hashes of the raw string that begins here.
fn raw_start(text: &str) -> Option<usize> {
    let text = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = text.chars().take_while(|character| *character == '#').count();
    text[hashes..].starts_with('"').then_some(hashes)
}

/// The length of the character that begins here, such as `'"'` or `'\''`. A lifetime has no closing quote.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let first = match inner.strip_prefix('\\') {
        Some(escaped) => escaped.chars().next()?.len_utf8() + 1,
        None => 0,
    };
    let first = if first == 0 { inner.chars().next()?.len_utf8() } else { first };
    let end = if inner.starts_with("\\u") || inner.starts_with("\\x") { inner.find('\'')? } else { first };
    inner[end..].starts_with('\'').then_some(end + 2)
}

/// What an opening bracket belongs to: a function, an implementation, or the path that is called.
fn opener(before: &str, bracket: char) -> String {
    let before = before.trim_end();
    if bracket == '{' {
        for word in ["fn ", "impl "] {
            if let Some(place) = before.rfind(word) {
                return before[place..].to_owned();
            }
        }
        // A block: what precedes it is a condition, not a call around it.
        return String::new();
    }
    if bracket == '[' && (before.ends_with('#') || before.ends_with("#!")) {
        return "#".to_owned();
    }
    if bracket == '[' && before.ends_with("let head =") {
        return "let head".to_owned();
    }
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, character)| character.is_alphanumeric() || "_:.!?".contains(*character))
        .last()
        .map_or(before.len(), |(place, _)| place);
    let name = before[start..].to_owned();
    // `fn name(` opens parameters; the body that follows is the same function.
    if before[..start].trim_end().ends_with("fn") { format!("fn {name}") } else { name }
}

#[test]
fn literals_are_read_with_what_is_around_them() {
    let read = |source: &str| {
        let found = literals(source).into_iter();
        found.map(|literal| (literal.text, literal.around.join(" "))).collect::<Vec<_>>()
    };
    let owned = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(text, around)| ((*text).to_owned(), (*around).to_owned())).collect::<Vec<_>>()
    };
    for (source, expect) in [
        (r#"Error::new(kind, format!("x {y} z"), 'q')"#, owned(&[("x {y} z", "Error::new format!")])),
        (r#"f('"', '\'', "after a quote")"#, owned(&[("after a quote", "f")])),
        ("f(\"two \\\n   lines\") // \"a comment\"", owned(&[("two lines", "f")])),
        (r##"f(r#"a "raw" one"#, 'a', &'static x)"##, owned(&[(r#"a "raw" one"#, "f")])),
        (r#"#[error("it {0}")] enum A { B }"#, owned(&[("it {0}", "# error")])),
    ] {
        assert_eq!(read(source), expect, "{source}");
    }
}

#[test]
fn the_module_of_tests_is_left_out() {
    assert_eq!(without_tests("a\n#[cfg(test)]\nmod tests;\nb"), "a\n#[cfg(test)]\nmod tests;\nb");
    assert_eq!(without_tests("a\n#[cfg(test)]\nmod tests {\n}"), "a\n");
}
