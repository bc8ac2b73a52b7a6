//! A plain HTTP client for servers that may be killed at any moment.
//!
//! Each request has a connection of its own, which the server closes after its answer. Chunks are not decoded. An answer that is shorter than its
//! `Content-Length` was cut and does not count.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Maximum time that a server may be silent.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends a request. Returns `None` if no complete answer came.
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
    stream.set_read_timeout(Some(READ_TIMEOUT)).ok()?;
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    )
    .ok()?;
    Some(stream)
}

/// One event of a stream.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct StreamEvent {
    /// The name of the event. A heartbeat has none.
    pub(crate) event: Option<String>,
    /// The cursor to resume after.
    pub(crate) id: Option<String>,
    /// The data of the event.
    pub(crate) data: Value,
}

/// A stream of events.
pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Opens the stream at a path after this event. Returns `None` if the server does not answer with 200.
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

    /// Returns the next complete event, or `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<StreamEvent> {
        let mut event = StreamEvent::default();
        loop {
            let mut line = String::new();
            // A line without a line break was cut.
            self.0.read_line(&mut line).ok().filter(|_| line.ends_with('\n'))?;
            match line.trim_end().split_once(':') {
                Some(("event", value)) => event.event = Some(value.trim().to_owned()),
                Some(("id", value)) => event.id = Some(value.trim().to_owned()),
                Some(("data", value)) => event.data = serde_json::from_str(value).ok()?,
                // The lines between two chunks are empty too.
                None if line.trim_end().is_empty() && event == StreamEvent::default() && line == "\r\n" => {}
                None if line.trim_end().is_empty() => return Some(event),
                _ => {}
            }
        }
    }
}
