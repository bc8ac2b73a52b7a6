//! Reads a stream of events as it comes.

use std::time::Duration;

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

/// A stream that is being read.
pub(crate) struct Stream {
    response: Response,
    buffer: Vec<u8>,
}

/// One frame of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) event: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Stream {
    /// Opens a stream, which must begin.
    pub(crate) async fn open(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{:?}", response.text().await);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert!(!response.headers().contains_key("content-encoding"));
        Self { response, buffer: Vec::new() }
    }

    /// The next frame of any kind, or `None` if the stream has ended.
    pub(crate) async fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let rest = self.buffer.split_off(end + 2);
                let text = String::from_utf8(std::mem::replace(&mut self.buffer, rest)).unwrap();
                return Some(read(&text));
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk());
            match chunk.await.expect("the stream says nothing") {
                Ok(Some(bytes)) => self.buffer.extend_from_slice(&bytes),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next event; signs of life are passed over.
    pub(crate) async fn event(&mut self) -> Option<Frame> {
        loop {
            match self.frame().await {
                Some(frame) if frame.event.is_none() => {}
                other => return other,
            }
        }
    }

    /// The next `count` events: the name and the result of `pick`.
    pub(crate) async fn events(&mut self, many: usize, pick: fn(&Value) -> &Value) -> Vec<(String, String)> {
        let mut found = Vec::new();
        while found.len() < many {
            let frame = self.event().await.expect("the stream is over");
            found.push((frame.event.unwrap(), pick(&frame.data).as_str().unwrap_or_default().to_owned()));
        }
        found
    }
}

fn read(text: &str) -> Frame {
    let mut frame = Frame::default();
    for line in text.lines() {
        match line.split_once(':') {
            Some(("event", value)) => frame.event = Some(value.trim().to_owned()),
            Some(("id", value)) => frame.id = Some(value.trim().to_owned()),
            Some(("data", value)) => frame.data = serde_json::from_str(value).unwrap(),
            _ => {}
        }
    }
    frame
}
