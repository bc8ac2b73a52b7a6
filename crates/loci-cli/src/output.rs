//! What does a person see?
//!
//! The only module that prints. Answers go to standard output, everything else to standard error,
//! so that a pipe sees answers alone. A reader that has seen enough closes the pipe, which is no
//! failure: the command ends quietly.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use loci_types::Problem;
use serde::Serialize;

/// Prints one line of an answer, at once.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    settle(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Prints an answer that brings its own line ends.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    settle(out.write_all(bytes));
}

/// Prints a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => line(&text),
        Err(error) => warn(&format!("the answer cannot be written as JSON: {error}"), None),
    }
}

/// Says something that the person should know, and what to do about it.
pub(crate) fn warn(text: &str, hint: Option<&str>) {
    note(&format!("{} {text}", paint_error("33", "warning:")));
    if let Some(hint) = hint {
        note(&format!("  hint: {hint}"));
    }
}

/// Says something beside the answer.
pub(crate) fn note(text: &str) {
    // Nobody is left to tell when standard error is closed.
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}

/// Ends the command well, whatever still waits for input.
pub(crate) fn finish() -> ! {
    std::process::exit(0)
}

/// Tells a failure: for people by default, as one JSON object when asked.
pub(crate) fn problem(problem: &Problem, as_json: bool) {
    if as_json {
        return note(&serde_json::to_string(problem).unwrap_or_else(|_| problem.message.clone()));
    }
    note(&format!("{} {}", paint_error("31", &format!("error[{}]:", problem.code)), problem.message));
    for (name, value) in &problem.details {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        note(&format!("  {name}: {value}"));
    }
    if let Some(hint) = &problem.hint {
        note(&format!("  hint: {hint}"));
    }
}

/// Text of lesser weight, where the terminal can show that.
pub(crate) fn muted(text: &str) -> String {
    paint("2", text)
}

/// Text of greater weight, where the terminal can show that.
pub(crate) fn strong(text: &str) -> String {
    paint("1", text)
}

/// How many columns an answer may use.
pub(crate) fn width() -> u16 {
    terminal_size::terminal_size().map_or(120, |(width, _)| width.0.clamp(60, 200))
}

/// A progress bar on standard error; invisible when nobody looks.
pub(crate) fn progress(total: u64, what: &str) -> ProgressBar {
    bar(ProgressBar::new(total), "{bar:32} {pos}/{len} {msg}  {per_sec}  {eta}", what)
}

/// A progress bar over bytes, of which the whole may be unknown.
pub(crate) fn byte_progress(total: Option<u64>, what: &str) -> ProgressBar {
    match total {
        Some(total) => {
            bar(ProgressBar::new(total), "{bar:32} {bytes}/{total_bytes} {msg}  {bytes_per_sec}  {eta}", what)
        }
        None => bar(ProgressBar::no_length(), "{spinner} {bytes} {msg}", what),
    }
}

/// A bar over steps that are told by name as they begin.
pub(crate) fn steps(total: u64) -> ProgressBar {
    bar(ProgressBar::new(total), "{bar:32} {pos}/{len} {msg}", "")
}

fn bar(bar: ProgressBar, template: &str, what: &str) -> ProgressBar {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

fn paint(code: &str, text: &str) -> String {
    painted(std::io::stdout().is_terminal(), code, text)
}

fn paint_error(code: &str, text: &str) -> String {
    painted(std::io::stderr().is_terminal(), code, text)
}

fn painted(terminal: bool, code: &str, text: &str) -> String {
    if terminal && crate::settings::variable("NO_COLOR").is_none() {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

fn settle(written: std::io::Result<()>) {
    let Err(error) = written else { return };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    note(&format!("error: the answer cannot be written: {error}"));
    std::process::exit(1);
}
