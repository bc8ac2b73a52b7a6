//! The input of an import: a file, standard input, or the notes of a folder.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Result;
use indicatif::ProgressBar;
use loci_server::Body;
use loci_types::Error;

/// Number of bytes that are read at once.
const CHUNK: usize = 1 << 16;
/// Number of chunks that wait to be sent.
const WAITING: usize = 4;

/// The error of a file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::invalid("file", format!("{} cannot be read: {error}", path.display()))
}

/// The file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    Ok(Box::new(File::open(path).map_err(|error| unreadable(path, &error))?))
}

/// The size of the file, if it is one.
pub(super) fn size(path: &Path) -> Result<Option<u64>, Error> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    Ok(metadata.is_file().then_some(metadata.len()))
}

/// When the file was last changed.
pub(super) fn modified(path: &Path) -> Option<jiff::Timestamp> {
    jiff::Timestamp::try_from(std::fs::metadata(path).ok()?.modified().ok()?).ok()
}

/// A body that is read as it is sent. A thread of its own reads, because standard input blocks.
pub(super) fn body(source: Box<dyn Read + Send>, progress: &ProgressBar) -> Result<Body> {
    let mut source = progress.wrap_read(source);
    let (sender, mut chunks) = tokio::sync::mpsc::channel::<std::io::Result<Vec<u8>>>(WAITING);
    std::thread::Builder::new().name("loci-input".to_owned()).spawn(move || {
        loop {
            let mut chunk = vec![0; CHUNK];
            let read = source.read(&mut chunk);
            let end = matches!(read, Ok(0) | Err(_));
            if let Ok(0) = read {
                return;
            }
            let chunk = read.map(|length| {
                chunk.truncate(length);
                chunk
            });
            if sender.blocking_send(chunk).is_err() || end {
                return;
            }
        }
    })?;
    Ok(Body::from_stream(futures::stream::poll_fn(move |task| chunks.poll_recv(task))))
}

/// The notes of a folder and of the folders in it, by name. Hidden files are left out.
pub(super) fn notes(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error| unreadable(folder, &error);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let note =
            path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown"));
        if kind.is_dir() {
            found.extend(notes(&path)?);
        } else if kind.is_file() && note {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
