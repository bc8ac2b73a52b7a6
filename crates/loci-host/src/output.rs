//! Everything that a command prints; no other module prints.
//!
//! Answers go to standard output, everything else to standard error, so that a pipe receives answers only. If the reader
//! closes the pipe, the command ends without an error. **Invariant:** text for people contains no control character of
//! stored text: whoever can write a memory cannot write to the terminal of the one who reads it. JSON is written as it is.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher};
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use loci_types::Problem;
use serde::Serialize;

/// Whether notes and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether a warning was printed.
static WARNED: AtomicBool = AtomicBool::new(false);

/// Leaves out notes and progress from now on, if `quiet`.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Prints one line of an answer for people, at once. Control characters are shown as escapes.
pub fn line(text: &str) {
    raw_line(&readable(text));
}

/// Prints one line of an answer for programs, at once and as it is: JSON, a command to copy, a script.
pub fn raw_line(text: &str) {
    let mut out = std::io::stdout().lock();
    settle(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Prints an answer for programs that brings its own line ends, as it is; on a terminal as text for people.
pub fn bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return settle(out.write_all(escaped(&String::from_utf8_lossy(bytes)).as_bytes()));
    }
    settle(out.write_all(bytes));
}

/// Prints a value as one line of JSON.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => raw_line(&text),
        Err(error) => warn(&format!("the answer cannot be written as JSON: {error}"), None),
    }
}

/// Prints a warning, and what to do about it.
pub fn warn(text: &str, hint: Option<&str>) {
    WARNED.store(true, Ordering::Relaxed);
    error_line(&format!("{} {text}", paint_error("33", "warning:")));
    if let Some(hint) = hint {
        error_line(&format!("  hint: {hint}"));
    }
}

/// Whether this process has printed a warning.
pub fn has_warned() -> bool {
    WARNED.load(Ordering::Relaxed)
}

/// Prints a note beside the answer, unless the command is quiet.
pub fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        error_line(text);
    }
}

fn error_line(text: &str) {
    raw_error_line(&readable(text));
}

fn raw_error_line(text: &str) {
    // A closed standard error is ignored.
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}

/// Asks a question on standard error and reads the answer; `None` if standard input or standard error is not a terminal.
pub fn ask(question: &str) -> Option<String> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let mut err = std::io::stderr().lock();
    write!(err, "{}", readable(question)).and_then(|()| err.flush()).ok()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).ok()?;
    Some(answer)
}

/// Ends the process with success, even if a thread still blocks on input.
pub fn finish() -> ! {
    std::process::exit(0)
}

/// Prints a failure: as text, or as one JSON object.
pub fn problem(problem: &Problem, as_json: bool) {
    if as_json {
        return raw_error_line(
            &serde_json::to_string(problem).unwrap_or_else(|_| escaped(&problem.message).into_owned()),
        );
    }
    error_line(&format!("{} {}", paint_error("31", &format!("error[{}]:", problem.code)), problem.message));
    for (name, value) in &problem.details {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        error_line(&format!("  {name}: {value}"));
    }
    if let Some(hint) = &problem.hint {
        error_line(&format!("  hint: {hint}"));
    }
}

/// Dimmed text, if standard output is a terminal.
pub fn muted(text: &str) -> String {
    paint("2", text)
}

/// Bold text, if standard output is a terminal.
pub fn strong(text: &str) -> String {
    paint("1", text)
}

/// The number of columns for tables.
pub fn width() -> u16 {
    terminal_size::terminal_size().map_or(120, |(width, _)| width.0.clamp(60, 200))
}

/// A progress bar on standard error; hidden if that is not a terminal.
pub fn progress(total: u64, what: &str) -> ProgressBar {
    bar(ProgressBar::new(total), "{bar:32} {pos}/{len} {msg}  {per_sec}  {eta}", what)
}

/// A progress bar over bytes, with or without a known total.
pub fn byte_progress(total: Option<u64>, what: &str) -> ProgressBar {
    match total {
        Some(total) => {
            bar(ProgressBar::new(total), "{bar:32} {bytes}/{total_bytes} {msg}  {bytes_per_sec}  {eta}", what)
        }
        None => bar(ProgressBar::no_length(), "{spinner} {bytes} {msg}", what),
    }
}

/// A sign of life of work whose length is not known.
pub fn spinner(what: &str) -> ProgressBar {
    let spinner = bar(ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}", what);
    spinner.enable_steady_tick(std::time::Duration::from_millis(200));
    spinner
}

/// A progress bar over named steps.
pub fn steps(total: u64) -> ProgressBar {
    bar(ProgressBar::new(total), "{bar:32} {pos}/{len} {msg}", "")
}

fn bar(bar: ProgressBar, template: &str, what: &str) -> ProgressBar {
    if QUIET.load(Ordering::Relaxed) {
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

/// The text with its control characters as escapes such as `\x1b` and `\u{202e}`: C0 and C1 but line feed and tab, and the
/// characters that override the direction of text.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match u32::from(character) {
            _ if !is_control(character) => shown.push(character),
            code @ 0..=0xff => drop(write!(shown, "\\x{code:02x}")),
            code => drop(write!(shown, "\\u{{{code:x}}}")),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal may obey this character, or show what follows it in another order.
fn is_control(character: char) -> bool {
    let direction = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    direction || (character.is_control() && !matches!(character, '\n' | '\t'))
}

/// Text for people: escaped, with the colours of this module.
fn readable(text: &str) -> String {
    let mut parts = text.split(colour_mark());
    let mut shown = escaped(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let (code, rest) = part.split_once('m').unwrap_or(("0", part));
        shown.push_str(&format!("\u{1b}[{code}m{}", escaped(rest)));
    }
    shown
}

/// Marks a colour until the text is printed. It is another one in each process, so that no stored text can contain it.
fn colour_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let random = || RandomState::new().build_hasher().finish();
        format!("\u{fdd0}{:016x}{:016x}\u{fdd1}", random(), random())
    })
}

fn paint(code: &str, text: &str) -> String {
    painted(std::io::stdout().is_terminal(), code, text)
}

fn paint_error(code: &str, text: &str) -> String {
    painted(std::io::stderr().is_terminal(), code, text)
}

fn painted(terminal: bool, code: &str, text: &str) -> String {
    if terminal && crate::settings::variable("NO_COLOR").is_none() {
        format!("{mark}{code}m{text}{mark}0m", mark = colour_mark())
    } else {
        text.to_owned()
    }
}

fn settle(written: std::io::Result<()>) {
    let Err(error) = written else { return };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    error_line(&format!("error: the answer cannot be written: {error}"));
    std::process::exit(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    // Attack B8
    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        for (text, expect) in [
            ("plain, with\ttabs\nand lines", "plain, with\ttabs\nand lines"),
            ("text \u{1b}[31mred\u{1b}[0m", "text \\x1b[31mred\\x1b[0m"),
            ("over\rwritten\u{8}\u{7f}\0", "over\\x0dwritten\\x08\\x7f\\x00"),
            ("\u{9b}2J\u{202e}drow", "\\x9b2J\\u{202e}drow"),
            ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
            ("שלום 👩\u{200d}👧", "שלום 👩\u{200d}👧"),
        ] {
            assert_eq!(readable(text), expect, "{text:?}");
        }
    }

    #[test]
    fn own_colours_stay_and_those_of_a_text_do_not() {
        let line = format!("{} \u{1b}[2mb", painted(true, "2", "a\u{1b}[1m"));
        assert_eq!(readable(&line), "\u{1b}[2ma\\x1b[1m\u{1b}[0m \\x1b[2mb");
        assert_eq!(readable(&painted(false, "2", "a")), "a");
    }
}
