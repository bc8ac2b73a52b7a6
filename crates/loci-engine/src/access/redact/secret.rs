//! Finds secrets: tokens, private keys and passwords.
//!
//! A secret is recognised by the prefix that its issuer gives it, by its form, or by the word before it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

/// Keys that are known by their beginning, and web tokens by their form.
const KNOWN: [&str; 19] = [
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    "gh[pousr]_[A-Za-z0-9]{30,}",
    "github_pat_[A-Za-z0-9_]{22,}",
    "glpat-[A-Za-z0-9_-]{20,}",
    "xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "xapp-[0-9]-[A-Za-z0-9-]{10,}",
    "sk-[A-Za-z0-9_-]{20,}",
    "AIza[A-Za-z0-9_-]{35,}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    "[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    "whsec_[A-Za-z0-9]{24,}",
    "npm_[A-Za-z0-9]{36}",
    "pypi-[A-Za-z0-9_-]{40,}",
    "hf_[A-Za-z0-9]{30,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "do[opr]_v1_[a-f0-9]{64}",
    "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "loci_[a-z2-7]{8,}_[a-z2-7]{20,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
];

/// The two ends of a private key. One that was cut off reaches to the end of the text.
const BEGIN: &str = "-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----";
const END: &str = "-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----";

/// A password in an address.
const ADDRESS: &str = r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@";

/// What comes with a request.
const HEADER: &str = r"(?i:bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]{16,})";

/// Words for a password, and for other secrets.
const PASSWORDS: &str = "password|passwd|passphrase|passcode|pwd|пароль";
const OTHERS: &str =
    "secret|token|credentials?|(?:api|access|auth|private|secret|signing|encryption)[_ -]?key|токен|секрет";

/// The sign with which something is set, and what it is set to.
const SET: &str = r#"["'`\])\\]*[ \t]*(=>|:=|=|:)[ \t]*"#;
const VALUE: &str = r#"(?:\\?"([^"\n\\]{3,})|'([^'\n]{3,})|`([^`\n]{3,})|([^\s"'`,;]{3,}))"#;

/// A password in a sentence.
const SAID: &str = r#"(?:is|was|это|[—–-])[ \t]+["'`]?([^\s"'`,;]{4,})"#;

/// Words that stand after such a name and give nothing away.
const HARMLESS: &[&str] = &[
    "bool",
    "boolean",
    "bytes",
    "changed",
    "empty",
    "expired",
    "false",
    "forgotten",
    "hidden",
    "invalid",
    "missing",
    "must",
    "needed",
    "needs",
    "none",
    "null",
    "optional",
    "option",
    "please",
    "policy",
    "redacted",
    "required",
    "reset",
    "should",
    "str",
    "string",
    "true",
    "undefined",
    "unknown",
    "unset",
    "wrong",
];

static SOURCES: LazyLock<[String; 6]> = LazyLock::new(|| {
    [
        format!(r"(?-u:\b)(?:{})", KNOWN.join("|")),
        format!("{BEGIN}(?s:.*?{END}|.*)"),
        ADDRESS.to_owned(),
        HEADER.to_owned(),
        format!("(?i)({PASSWORDS}|{OTHERS}){SET}{VALUE}"),
        format!(r"(?i)(?:{PASSWORDS}|пин-?код|(?-u:\b)pin(?: code)?)[ \t]+{SAID}"),
    ]
});
static ANY: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(SOURCES.iter()).ok());
static EACH: LazyLock<Vec<(Regex, Judge)>> = LazyLock::new(|| {
    let judges: [Judge; 6] = [
        known,
        |found| found.get(0).map(|whole| whole.range()),
        |found| value(found, |_| true),
        |found| value(found, has_digit),
        assigned,
        |found| value(found, has_digit),
    ];
    SOURCES.iter().zip(judges).filter_map(|(source, judge)| Some((Regex::new(source).ok()?, judge))).collect()
});
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("(?i)(?:{PASSWORDS}|{OTHERS})$")).ok());

/// The part of a match that is secret, if any.
type Judge = fn(&Captures<'_>) -> Option<Range<usize>>;

/// Where secrets stand.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    // One look at all of them together tells that an ordinary sentence has none.
    let Some(hits) = ANY.as_ref().map(|set| set.matches(text)) else { return Vec::new() };
    let mut found = Vec::new();
    for (regex, judge) in hits.iter().filter_map(|hit| EACH.get(hit)) {
        found.extend(regex.captures_iter(text).filter_map(|captures| judge(&captures)));
    }
    found
}

/// Whether a field of this name holds something secret, if this is what it holds.
pub(super) fn is_named(name: &str, value: &str) -> bool {
    let secret = NAMED.as_ref().is_some_and(|names| names.is_match(name));
    secret && !value.is_empty() && !value.contains(char::is_whitespace) && !harmless(value)
}

/// Names in kebab case begin like a key, but have no digits.
fn known(found: &Captures<'_>) -> Option<Range<usize>> {
    let whole = found.get(0)?;
    (!whole.as_str().starts_with("sk-") || has_digit(whole.as_str())).then(|| whole.range())
}

/// The last group of a match, without the stop of its sentence.
fn value(found: &Captures<'_>, judge: fn(&str) -> bool) -> Option<Range<usize>> {
    let value = found.iter().flatten().last()?;
    let text = value.as_str().trim_end_matches(['.', '!', '?', ')', ']', '}', '>', ':']);
    (!text.is_empty() && judge(text)).then(|| value.start()..value.start() + text.len())
}

fn assigned(found: &Captures<'_>) -> Option<Range<usize>> {
    let (word, sign) = (found.get(1)?.as_str().to_lowercase(), found.get(2)?.as_str());
    let password = ["pass", "pwd", "пароль"].iter().any(|start| word.starts_with(start));
    // "The secret: patience" is a sentence; "the secret: x7Kq" is not.
    let explicit = password || sign != ":";
    let range = value(found, |value| !harmless(value))?;
    let text = found.get(0)?;
    let value = &text.as_str()[range.start - text.start()..range.end - text.start()];
    (explicit || looks_random(value)).then_some(range)
}

/// Whether this is a placeholder instead of a value: a variable, a type, a call, an empty form.
fn harmless(value: &str) -> bool {
    let called = value.find(['(', '[']).is_some_and(|at| at > 0 && value[..at].chars().all(identifier));
    let filled = value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '•' | '_' | '-'));
    value.starts_with(['$', '<', '{', '%', '(', '=']) || called || filled || {
        let word = value.split(['<', '(', '|', '/']).next().unwrap_or(value);
        HARMLESS.contains(&word.to_lowercase().as_str())
    }
}

fn identifier(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '.' | ':')
}

fn looks_random(value: &str) -> bool {
    let mixed = value.chars().skip(1).any(char::is_uppercase) && value.chars().any(char::is_lowercase);
    has_digit(value) || mixed || value.len() >= 24
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}
