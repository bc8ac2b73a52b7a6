//! What does a person see?
//!
//! The only module that prints. Answers go to standard output, everything else to standard error,
//! so that a pipe sees answers alone.

use indicatif::{ProgressBar, ProgressStyle};

/// Prints one line of an answer.
#[expect(clippy::print_stdout, reason = "this is the output module")]
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// A progress bar on standard error; invisible when nobody looks.
pub(crate) fn progress(total: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg}  {per_sec}  {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}
