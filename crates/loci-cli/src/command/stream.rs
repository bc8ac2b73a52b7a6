//! Lines of standard input, processed as they arrive.
//!
//! Several lines may be in progress at once, so that they share disk syncs and calls of a model; answers are printed in the
//! order of the lines, each once its line is durable. The first line that fails stops the reading: lines in progress are finished and printed,
//! later ones are not read.

use std::io::{BufRead, Read};
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::StreamExt;
use futures::stream::FuturesOrdered;
use loci_types::{Error, ErrorKind};
use tokio::sync::mpsc;

use crate::fault::Line;

/// Number of batches that may be in progress at once if they do not depend on each other.
pub(crate) const AT_ONCE: usize = 8;

/// Maximum number of lines in a batch.
const BATCH: usize = 100;

/// How long a batch waits for its next line.
const GRACE: Duration = Duration::from_millis(5);

/// Maximum length of a line in bytes. The API limits the text itself.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// A line of the input with its number, or why it cannot be one.
type Numbered = (u64, Result<String>);

/// Gives each line of standard input to `take`, up to `at_once` at a time, and what it answers to `tell`.
pub(crate) async fn each<T, F>(
    longest: usize,
    at_once: usize,
    take: impl Fn(String) -> F,
    mut tell: impl FnMut(T),
) -> Result<()>
where
    F: Future<Output = Result<T>>,
{
    let (sender, mut lines) = mpsc::channel(at_once);
    // A thread of its own: reading standard input blocks, and cannot be called off.
    std::thread::Builder::new()
        .name("loci-input".to_owned())
        .spawn(move || send_lines(&mut std::io::stdin().lock(), longest, &sender))
        .context("the input cannot be read")?;
    let mut under_way = FuturesOrdered::new();
    let mut reading = true;
    let mut failed = None;
    while reading || !under_way.is_empty() {
        tokio::select! {
            line = lines.recv(), if reading && under_way.len() < at_once => match line {
                None => reading = false,
                Some((number, Err(error))) => {
                    reading = false;
                    failed = Some(error.context(Line(number)));
                }
                Some((number, Ok(line))) => {
                    let taken = take(line);
                    under_way.push_back(async move { (number, taken.await) });
                }
            },
            Some((number, outcome)) = under_way.next() => match outcome {
                Ok(answer) => tell(answer),
                Err(error) => {
                    reading = false;
                    // The first line that failed decides the exit code.
                    failed = Some(match failed {
                        Some(earlier) if line_of(&earlier) < number => earlier,
                        _ => error.context(Line(number)),
                    });
                }
            },
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Gives the lines of standard input to `take` in batches of those that have arrived, up to `at_once` batches at a time, and
/// what it answers to each line to `tell`. The answers end with the first line that failed.
pub(crate) async fn each_batch<T, F>(
    longest: usize,
    at_once: usize,
    take: impl Fn(Vec<String>) -> F,
    mut tell: impl FnMut(T),
) -> Result<()>
where
    F: Future<Output = Vec<Result<T>>>,
{
    let (sender, lines) = mpsc::channel(BATCH);
    std::thread::Builder::new()
        .name("loci-input".to_owned())
        .spawn(move || send_lines(&mut std::io::stdin().lock(), longest, &sender))
        .context("the input cannot be read")?;
    let (sender, mut batches) = mpsc::channel(1);
    tokio::spawn(collect_batches(lines, sender));
    let mut under_way = FuturesOrdered::new();
    let mut reading = true;
    let mut failed: Option<anyhow::Error> = None;
    while reading || !under_way.is_empty() {
        tokio::select! {
            batch = batches.recv(), if reading && under_way.len() < at_once => match batch {
                None => reading = false,
                Some(LineBatch { lines, unreadable }) => {
                    reading &= unreadable.is_none();
                    let (numbers, lines): (Vec<u64>, Vec<String>) = lines.into_iter().unzip();
                    let taken = take(lines);
                    under_way.push_back(async move { (numbers, taken.await, unreadable) });
                }
            },
            Some((numbers, outcomes, unreadable)) = under_way.next() => {
                let errors = numbers.into_iter().zip(outcomes).filter_map(|(number, outcome)| match outcome {
                    Ok(answer) => {
                        tell(answer);
                        None
                    }
                    Err(error) => Some(error.context(Line(number))),
                });
                // The first line that failed decides the exit code.
                for error in errors.chain(unreadable) {
                    reading = false;
                    failed.get_or_insert(error);
                }
            },
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Lines with their numbers, and why the line after them cannot be read.
struct LineBatch {
    lines: Vec<(u64, String)>,
    unreadable: Option<anyhow::Error>,
}

/// Groups lines as they arrive.
async fn collect_batches(mut lines: mpsc::Receiver<Numbered>, batches: mpsc::Sender<LineBatch>) {
    let mut next = lines.recv().await;
    while next.is_some() {
        let mut batch = LineBatch { lines: Vec::new(), unreadable: None };
        while let Some((number, line)) = next.take() {
            match line {
                Ok(line) => batch.lines.push((number, line)),
                Err(error) => batch.unreadable = Some(error.context(Line(number))),
            }
            if batch.lines.len() == BATCH || batch.unreadable.is_some() {
                break;
            }
            next = tokio::time::timeout(GRACE, lines.recv()).await.unwrap_or_default();
        }
        if batches.send(batch).await.is_err() {
            return;
        }
        next = lines.recv().await;
    }
}

fn line_of(error: &anyhow::Error) -> u64 {
    error.downcast_ref::<Line>().map_or(u64::MAX, |line| line.0)
}

fn send_lines(input: &mut impl BufRead, longest: usize, sender: &mpsc::Sender<Numbered>) {
    let mut number = 0;
    loop {
        number += 1;
        let line = match next_line(input, longest) {
            Ok(None) => return,
            Ok(Some(line)) if line.trim().is_empty() => continue,
            Ok(Some(line)) => Ok(line),
            Err(error) => Err(error),
        };
        let last = line.is_err();
        if sender.blocking_send((number, line)).is_err() || last {
            return;
        }
    }
}

/// The next line without its end; none at the end of the input.
pub(crate) fn next_line(input: &mut impl BufRead, longest: usize) -> Result<Option<String>> {
    let mut bytes = Vec::new();
    input.by_ref().take(longest as u64 + 1).read_until(b'\n', &mut bytes).context("the input cannot be read")?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let whole = bytes.last() == Some(&b'\n');
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    if !whole && bytes.len() > longest {
        let message = format!("content has more than {longest} bytes");
        return Err(Error::new(ErrorKind::ContentTooLong, message).at("content").hint("split it or shorten it").into());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        Error::invalid("content", format!("content is not valid UTF-8 (byte {place} of the line)"))
            .hint("convert the input to UTF-8, for example with iconv")
    })?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_to_their_end_and_no_further() {
        let read = |mut bytes: &[u8]| {
            let mut lines = Vec::new();
            loop {
                match next_line(&mut bytes, 8) {
                    Ok(Some(line)) => lines.push(line),
                    Ok(None) => return Ok(lines),
                    Err(error) => return Err((lines.len(), error.to_string())),
                }
            }
        };
        assert_eq!(read(b"").unwrap(), Vec::<String>::new());
        assert_eq!(read(b"a\r\n\nb").unwrap(), ["a", "", "b"]);
        assert_eq!(read(b"12345678\nx\n").unwrap(), ["12345678", "x"]);
        assert_eq!(read(b"a\n123456789\n").unwrap_err().0, 1);
        let (kept, message) = read(b"a\nb\xff\nc").unwrap_err();
        assert_eq!(kept, 1);
        assert!(message.contains("UTF-8 (byte 2"), "{message}");
    }
}
