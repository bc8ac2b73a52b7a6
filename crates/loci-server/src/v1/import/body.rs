//! The body of an import, piece by piece.

use std::io::{self, Read};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::StatusCode;
use futures::StreamExt as _;
use loci_types::ErrorKind;
use tokio::sync::mpsc;

use super::OPERATION;
use crate::failure::Failure;
use crate::options::ServerOptions;

/// Number of bytes from which the format is recognised.
const HEAD: usize = 1 << 16;

/// A body that is read as it comes. Who sends nothing for `server.stalled_seconds` is cut off.
pub(super) struct Incoming {
    stream: BodyDataStream,
    /// Pieces that were read to look at how the body begins.
    head: Bytes,
    patience: Duration,
    /// The most bytes of a body that is bounded.
    most: u64,
}

impl Incoming {
    pub(super) fn new(body: Body, options: &ServerOptions) -> Self {
        Self {
            stream: body.into_data_stream(),
            head: Bytes::new(),
            patience: Duration::from_secs(options.stalled_seconds),
            most: options.import_bytes,
        }
    }

    /// How the body begins. What is looked at comes again with [`Incoming::next`].
    pub(super) async fn head(&mut self) -> Result<&[u8], Failure> {
        let mut begun = Vec::new();
        while begun.len() < HEAD
            && let Some(piece) = self.next().await?
        {
            begun.extend_from_slice(&piece);
        }
        self.head = begun.into();
        Ok(&self.head[..self.head.len().min(HEAD)])
    }

    /// The next piece; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        if !self.head.is_empty() {
            return Ok(Some(std::mem::take(&mut self.head)));
        }
        let wrong = |message: &str| Failure::new(ErrorKind::InvalidInput, message, OPERATION).field("body");
        match tokio::time::timeout(self.patience, self.stream.next()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(piece))) => Ok(Some(piece)),
            Ok(Some(Err(_))) => Err(wrong("the body was cut off; entries read before are stored")),
            Err(_) => Err(wrong("the rest of the body did not arrive in time; entries read before are stored")
                .status(StatusCode::REQUEST_TIMEOUT)),
        }
    }

    /// All of it as text, if it is not too large.
    pub(super) async fn text(mut self) -> Result<String, Failure> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await? {
            if whole.len() as u64 + piece.len() as u64 > self.most {
                return Err(too_large(self.most));
            }
            whole.extend_from_slice(&piece);
        }
        String::from_utf8(whole)
            .map_err(|_| Failure::new(ErrorKind::InvalidInput, "the body is not valid UTF-8", OPERATION).field("body"))
    }

    /// Gives the pieces to a reader on another thread, as far as it wants them.
    pub(super) async fn feed(mut self, pieces: mpsc::Sender<io::Result<Bytes>>) -> Result<(), Failure> {
        let mut read = 0;
        loop {
            let piece = match self.next().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(()),
                Err(failure) => {
                    drop(pieces.send(Err(io::Error::other("the body was cut off"))).await);
                    return Err(failure);
                }
            };
            read += piece.len() as u64;
            if read > self.most {
                drop(pieces.send(Err(io::Error::other("the body is too large"))).await);
                return Err(too_large(self.most));
            }
            if pieces.send(Ok(piece)).await.is_err() {
                return Ok(());
            }
        }
    }
}

fn too_large(most: u64) -> Failure {
    let message = format!("a body of this format may have {most} bytes; entries read before are stored");
    Failure::new(ErrorKind::InvalidInput, message, OPERATION)
        .status(StatusCode::PAYLOAD_TOO_LARGE)
        .field("body")
        .hint("divide the file, or raise server.import_bytes")
}

/// The pieces of a body for a reader that blocks.
pub(super) struct Pieces {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    present: Bytes,
}

impl Pieces {
    pub(super) fn new(pieces: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { pieces, present: Bytes::new() }
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.present.is_empty() {
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(piece) => self.present = piece?,
            }
        }
        let length = buffer.len().min(self.present.len());
        buffer[..length].copy_from_slice(&self.present.split_to(length));
        Ok(length)
    }
}
