//! The files of an evaluation set: memories and questions.
//!
//! A line is a turn of a conversation or a memory by itself; a question belongs to a conversation or to a user.

use std::io::BufRead;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use loci_engine::{NewMemory, Turn};
use loci_types::Error;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One line of a corpus.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Turn(TurnLine),
    Memory(MemoryLine),
}

/// One turn.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct TurnLine {
    conv: String,
    id: String,
    session: Value,
    #[serde(default)]
    date: Option<String>,
    speaker: String,
    text: String,
    #[serde(default)]
    caption: Option<String>,
}

/// One memory.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MemoryLine {
    user: String,
    id: String,
    text: String,
    /// How old it is when the questions are asked.
    #[serde(default)]
    created_days_ago: f64,
}

/// One question.
#[derive(Debug, Deserialize)]
pub(super) struct Question {
    pub(super) qid: String,
    #[serde(alias = "user")]
    pub(super) conv: String,
    pub(super) question: String,
    #[serde(default)]
    pub(super) category: Option<String>,
    /// What answers it. `None` if nothing that is stored does.
    #[serde(default)]
    pub(super) evidence: Vec<String>,
    /// What held before and must stand behind the evidence.
    #[serde(default)]
    pub(super) stale: Vec<String>,
}

impl Line {
    /// Whose it is: a conversation or a user.
    pub(super) fn owner(&self) -> &str {
        match self {
            Line::Turn(turn) => &turn.conv,
            Line::Memory(memory) => &memory.user,
        }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Line::Turn(turn) => &turn.id,
            Line::Memory(memory) => &memory.id,
        }
    }

    /// When it was said, if it tells.
    pub(super) fn said_at(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Line::Turn(turn) => turn.date.as_deref().and_then(read_date),
            Line::Memory(memory) => {
                let seconds = (memory.created_days_ago * 86_400.0) as i64;
                now.checked_sub(jiff::SignedDuration::from_secs(seconds)).ok()
            }
        }
    }
}

impl MemoryLine {
    /// The memory as an agent would give it to Loci.
    pub(super) fn memory(&self, as_is: bool) -> NewMemory {
        NewMemory { content: self.text.clone(), as_is, ..NewMemory::default() }
    }
}

impl TurnLine {
    pub(super) fn session(&self) -> String {
        match &self.session {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// The turn as an agent would give it to Loci.
    pub(super) fn turn(&self) -> Turn {
        let role = ["user", "assistant", "system", "tool"].contains(&self.speaker.as_str());
        let content = match &self.caption {
            Some(caption) => format!("{} [shared image: {caption}]", self.text),
            None => self.text.clone(),
        };
        Turn {
            thread_id: self.conv.clone(),
            content,
            actor_id: Some(self.speaker.clone()),
            role: role.then(|| self.speaker.clone()),
            event_time: self.date.as_deref().and_then(read_date),
            reference: Some(self.id.clone()),
            ..Turn::default()
        }
    }
}

/// Dates as such corpora write them.
fn read_date(text: &str) -> Option<Timestamp> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant);
    }
    let civil = ["%I:%M %p on %d %B, %Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|format| strtime::parse(format, text).ok()?.to_datetime().ok())
        .or_else(|| {
            ["%B-%d-%Y", "%Y-%m-%d", "%d %B %Y", "%B %d, %Y"]
                .iter()
                .find_map(|format| strtime::parse(format, text).ok()?.to_date().ok())
                .map(DateTime::from)
        })?;
    civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Reads JSON lines; a wrong one is named by its number.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let file = std::fs::File::open(path)
        .map_err(|error| Error::invalid("file", format!("{} cannot be read: {error}", path.display())))?;
    let mut values = Vec::new();
    for (number, line) in std::io::BufReader::new(file).lines().enumerate() {
        let line = line.with_context(|| format!("{} line {}", path.display(), number + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&line) {
            Ok(value) => values.push(value),
            Err(error) => {
                let message = format!("{} line {}: {error}", path.display(), number + 1);
                return Err(Error::invalid("line", message).into());
            }
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::read_date;

    #[test]
    fn dates_of_corpora() {
        for (text, expect) in [
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z"),
            ("10:04 am on 19 June, 2023", "2023-06-19T10:04:00Z"),
            ("March-15-2024", "2024-03-15T00:00:00Z"),
            ("2024-03-15", "2024-03-15T00:00:00Z"),
            ("2024-03-15T10:00:00Z", "2024-03-15T10:00:00Z"),
        ] {
            assert_eq!(read_date(text).map(|at| at.to_string()).as_deref(), Some(expect), "{text}");
        }
        assert_eq!(read_date("soon"), None);
    }
}
