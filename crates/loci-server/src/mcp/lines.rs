//! The lines of the standard streams, checked before the protocol reads them.
//!
//! A line that is too long, nested too deeply or no JSON is answered with a JSON-RPC error; the protocol would drop it, and
//! the client would wait. **Invariant:** at most [`MAX_LINE_BYTES`] of a line are held.

use std::cell::RefCell;
use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// Maximum length of a line, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 4 << 20;

/// Passes the lines of `input` on to `protocol`, and answers those that cannot be passed on through `errors`. Ends with the
/// input.
pub(super) async fn read(
    input: impl AsyncRead + Unpin,
    mut protocol: impl AsyncWrite + Unpin,
    errors: mpsc::Sender<String>,
) {
    let mut input = BufReader::new(input);
    let (mut line, mut bytes) = (Vec::new(), 0_usize);
    loop {
        let piece = input.fill_buf().await.unwrap_or_default();
        let ended = piece.is_empty();
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(piece.len(), |end| end + 1);
        bytes += taken;
        let room = (MAX_LINE_BYTES + 1).saturating_sub(line.len());
        line.extend_from_slice(&piece[..taken.min(room)]);
        input.consume(taken);
        if ended && line.is_empty() {
            return;
        }
        if end.is_none() && !ended {
            continue;
        }
        let sent = match refusal(&line, bytes) {
            None => protocol.write_all(&line).await.is_ok() && protocol.flush().await.is_ok(),
            Some(answer) => errors.send(answer).await.is_ok(),
        };
        if !sent {
            return;
        }
        line.clear();
        bytes = 0;
    }
}

/// Writes the answers of the protocol and the errors, line by line, until the protocol ends.
pub(super) async fn write(
    protocol: impl AsyncRead + Unpin,
    mut errors: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) {
    let mut protocol = BufReader::new(protocol);
    let mut line = Vec::new();
    loop {
        // What was read of a line stays in `line` when an error comes first.
        let written = tokio::select! {
            read = protocol.read_until(b'\n', &mut line) => match read {
                Ok(0) | Err(_) => break,
                Ok(_) => output.write_all(&std::mem::take(&mut line)).await,
            },
            Some(error) = errors.recv() => output.write_all(error.as_bytes()).await,
        };
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
    }
    while let Ok(error) = errors.try_recv() {
        if output.write_all(error.as_bytes()).await.is_err() {
            return;
        }
    }
    drop(output.flush().await);
}

/// The answer to a line that cannot be passed on.
fn refusal(line: &[u8], bytes: usize) -> Option<String> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let (code, message) = if bytes > MAX_LINE_BYTES {
        (-32600, format!("the message has {bytes} bytes, but may have at most {MAX_LINE_BYTES}"))
    } else {
        match serde_json::from_slice::<Value>(line) {
            Ok(_) => return None,
            Err(error) if error.to_string().starts_with("recursion limit") => {
                (-32600, "the message is nested too deeply: at most 127 levels are read".to_owned())
            }
            Err(error) => (-32700, format!("the message is not valid JSON: {error}")),
        }
    };
    let answer = json!({ "jsonrpc": "2.0", "id": request_id(line), "error": { "code": code, "message": message } });
    Some(format!("{answer}\n"))
}

/// The id of the request, as far as the line can be read; null if there is none.
fn request_id(line: &[u8]) -> Value {
    struct Top<'a>(&'a RefCell<Value>);
    impl<'de> Visitor<'de> for Top<'_> {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a request")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
            while let Some(name) = fields.next_key::<String>()? {
                if name == "id" {
                    *self.0.borrow_mut() = fields.next_value()?;
                } else {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }
    let id = RefCell::new(Value::Null);
    // The line is broken or cut off: what was read before that counts.
    drop(serde_json::Deserializer::from_slice(line).deserialize_map(Top(&id)));
    match id.into_inner() {
        id @ (Value::Number(_) | Value::String(_)) => id,
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Attack B20
    #[tokio::test]
    async fn lines_that_cannot_be_read_are_answered() {
        let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"params\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
        let deep_first = format!("{{\"params\":{}1{},\"id\":\"a\"}}", "[".repeat(500), "]".repeat(500));
        let long = format!("{{\"id\":8,\"params\":\"{}\"}}", "x".repeat(MAX_LINE_BYTES));
        let good = "{\"jsonrpc\":\"2.0\",\"id\":9}";
        let input = format!("{deep}\n{good}\n{deep_first}\n{long}\n\nno json\n{good}\n");
        let (sender, errors) = mpsc::channel(16);
        let (mut passed, mut written) = (Vec::new(), Vec::new());
        read(input.as_bytes(), &mut passed, sender).await;
        assert_eq!(String::from_utf8(passed).unwrap(), format!("{good}\n\n{good}\n"));
        write(&b"{\"answer\":1}\n"[..], errors, &mut written).await;
        let mut answers: Vec<Value> =
            String::from_utf8(written).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        answers.retain(|answer| answer["answer"].is_null());
        let answered: Vec<(Value, i64)> =
            answers.iter().map(|one| (one["id"].clone(), one["error"]["code"].as_i64().unwrap())).collect();
        assert_eq!(answered, [(json!(7), -32600), (json!("a"), -32600), (json!(8), -32600), (Value::Null, -32700)]);
    }
}
