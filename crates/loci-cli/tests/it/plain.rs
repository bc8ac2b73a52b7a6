//! How does a test speak plain HTTP to a server that may die at any moment?
//!
//! HTTP/1.0: no chunks, and the end of an answer is the end of the connection. An answer that is shorter than it
//! says was cut, and is no answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// For so long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a request. None: no whole answer came.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Option<(u16, Value)> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = begin(address, method, path, headers, &body)?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let named = |line: &str| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok();
    let whole = head.lines().find_map(named).is_none_or(|length| length == body.len());
    let status = head.split(' ').nth(1)?.parse().ok()?;
    whole.then(|| (status, serde_json::from_str(body).unwrap_or(Value::Null)))
}

fn begin(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    )
    .ok()?;
    Some(stream)
}

/// One event of a stream.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What it is called; none: a sign of life.
    pub(crate) event: Option<String>,
    /// Where to go on from.
    pub(crate) id: Option<String>,
    /// What it says.
    pub(crate) data: Value,
}

/// A stream of events.
pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Follows a path from after this event. None: the server does not let us.
    pub(crate) fn open(address: &str, path: &str, after: Option<&str>) -> Option<Self> {
        let headers: Vec<_> = after.iter().map(|id| ("Last-Event-ID", *id)).collect();
        let mut lines = BufReader::new(begin(address, "GET", path, &headers, "")?);
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let good = line.contains(" 200 ");
        while !line.trim_end().is_empty() {
            line.clear();
            lines.read_line(&mut line).ok().filter(|count| *count > 0)?;
        }
        good.then_some(Self(lines))
    }

    /// The next event that came whole. None: the stream is over.
    pub(crate) fn next(&mut self) -> Option<Told> {
        let mut told = Told::default();
        loop {
            let mut line = String::new();
            // A line without its end was cut.
            self.0.read_line(&mut line).ok().filter(|_| line.ends_with('\n'))?;
            match line.trim_end().split_once(':') {
                Some(("event", value)) => told.event = Some(value.trim().to_owned()),
                Some(("id", value)) => told.id = Some(value.trim().to_owned()),
                Some(("data", value)) => told.data = serde_json::from_str(value).ok()?,
                None if line.trim_end().is_empty() => return Some(told),
                _ => {}
            }
        }
    }
}
