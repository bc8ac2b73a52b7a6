//! What else is known about a memory that is said, replaced or changed?
//!
//! The flags that `remember`, `supersede` and `update` share, and what they mean.

use clap::Args;
use loci_engine::{NewMemory, Update};
use loci_types::{Error, Source};

use crate::arguments::{instant, metadata};

/// What is known about a memory besides its text.
#[derive(Debug, Args)]
pub(crate) struct Details {
    /// fact, preference, person, project, task, episodic, decision, …
    #[arg(long)]
    kind: Option<String>,
    /// A category
    #[arg(long)]
    category: Option<String>,
    /// A free label; may be repeated
    #[arg(long, alias = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// How much it matters, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance: Option<f64>,
    /// How sure you are, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence: Option<f64>,
    /// When it happened: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, value_name = "TIME")]
    event_time: Option<String>,
    /// Since when it holds
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// Until when it held
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// When it stops to be of use
    #[arg(long, alias = "expires", value_name = "TIME")]
    expires_at: Option<String>,
    /// How it was acquired: conversation, manual, import, …
    #[arg(long, value_name = "TYPE")]
    source: Option<String>,
    /// Anything else, by name; may be repeated
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
}

impl Details {
    /// A new memory with this text.
    pub(crate) fn memory(&self, content: String) -> Result<NewMemory, Error> {
        Ok(NewMemory {
            content,
            kind: self.kind.clone(),
            category: self.category.clone(),
            tags: self.tags.clone(),
            metadata: metadata(&self.metadata)?,
            source: self.source(),
            importance: self.importance,
            confidence: self.confidence,
            event_time: instant("eventTime", self.event_time.as_deref())?,
            valid_from: instant("validFrom", self.valid_from.as_deref())?,
            valid_until: instant("validUntil", self.valid_until.as_deref())?,
            expires_at: instant("expiresAt", self.expires_at.as_deref())?,
            ..NewMemory::default()
        })
    }

    /// New values for a memory: those that were given, and no others.
    pub(crate) fn update(&self, content: Option<String>) -> Result<Update, Error> {
        let given = self.memory(content.clone().unwrap_or_default())?;
        Ok(Update {
            content,
            kind: given.kind,
            category: given.category.map(Some),
            tags: (!given.tags.is_empty()).then_some(given.tags),
            metadata: (!given.metadata.is_empty()).then_some(given.metadata),
            source: given.source.map(Some),
            importance: given.importance,
            confidence: given.confidence,
            event_time: given.event_time.map(Some),
            valid_from: given.valid_from.map(Some),
            valid_until: given.valid_until.map(Some),
            expires_at: given.expires_at.map(Some),
            ..Update::default()
        })
    }

    fn source(&self) -> Option<Source> {
        self.source.clone().map(|kind| Source { kind, ..Source::default() })
    }
}
