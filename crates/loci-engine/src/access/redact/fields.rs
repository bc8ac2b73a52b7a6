//! Applies redaction to the fields of a record that callers can fill with text.
//!
//! These are content, tags, category, metadata with its keys, and the reference of the source. Names of users,
//! threads and runs are left alone, because memories are found by them.

use std::collections::BTreeSet;

use loci_types::{Error, Memory, Source};
use serde_json::{Map, Value};

use super::{DetectorFilter, Redactor, mark, secret};
use crate::{NewFact, NewMemory, Turn, Update};

/// One look through something that is to be written.
pub(crate) struct Pass<'a> {
    redactor: &'a Redactor,
    /// Whether what is refused makes it fail, or is masked like the rest.
    refuses: bool,
    found: BTreeSet<String>,
}

impl<'a> Pass<'a> {
    /// A pass over text from outside, which refuses what must be refused.
    pub(crate) fn strict(redactor: &'a Redactor) -> Self {
        Self { redactor, refuses: true, found: BTreeSet::new() }
    }

    /// A pass over text that the engine writes itself, which masks but never refuses: the text may be older than the
    /// rules.
    pub(crate) fn quiet(redactor: &'a Redactor) -> Self {
        Self { refuses: false, ..Self::strict(redactor) }
    }

    /// The names of what was masked.
    pub(crate) fn found(self) -> Vec<String> {
        self.found.into_iter().collect()
    }

    /// One text in a field of this name.
    pub(crate) fn text(&mut self, field: &'static str, text: &mut String) -> Result<(), Error> {
        if self.refuses
            && let Some(name) = self.redactor.refused(text)
        {
            return Err(refused(field, name));
        }
        let which = if self.refuses { DetectorFilter::Masked } else { DetectorFilter::All };
        if let Some((masked, names)) = self.redactor.masked(text, which) {
            *text = masked;
            self.found.extend(names);
        }
        Ok(())
    }

    /// Something to remember.
    pub(crate) fn new_memory(&mut self, new: &mut NewMemory) -> Result<(), Error> {
        self.text("content", &mut new.content)?;
        self.labels(&mut new.tags, new.category.as_mut())?;
        self.source(new.source.as_mut())?;
        self.metadata(&mut new.metadata)
    }

    /// A triple to state.
    pub(crate) fn fact(&mut self, new: &mut NewFact) -> Result<(), Error> {
        if let Some(sort) = &mut new.fact_type {
            self.text("factType", sort)?;
        }
        self.text("subject", &mut new.subject)?;
        self.text("predicate", &mut new.predicate)?;
        self.text("object", &mut new.object)?;
        self.metadata(&mut new.metadata)
    }

    /// A turn of a conversation.
    pub(crate) fn turn(&mut self, turn: &mut Turn) -> Result<(), Error> {
        self.text("content", &mut turn.content)?;
        if let Some(reference) = &mut turn.reference {
            self.text("reference", reference)?;
        }
        self.metadata(&mut turn.metadata)
    }

    /// New values for a memory.
    pub(crate) fn update(&mut self, update: &mut Update) -> Result<(), Error> {
        if let Some(content) = &mut update.content {
            self.text("content", content)?;
        }
        self.labels(update.tags.as_deref_mut().unwrap_or_default(), update.category.as_mut().and_then(Option::as_mut))?;
        self.source(update.source.as_mut().and_then(Option::as_mut))?;
        update.metadata.as_mut().map_or(Ok(()), |metadata| self.metadata(metadata))
    }

    /// A record that was made elsewhere.
    pub(crate) fn record(&mut self, memory: &mut Memory) -> Result<(), Error> {
        self.text("content", &mut memory.content)?;
        self.labels(&mut memory.tags, memory.category.as_mut())?;
        self.source(memory.source.as_mut())?;
        self.metadata(&mut memory.metadata)
    }

    fn labels(&mut self, tags: &mut [String], category: Option<&mut String>) -> Result<(), Error> {
        for tag in tags {
            self.text("tags", tag)?;
        }
        category.map_or(Ok(()), |category| self.text("category", category))
    }

    fn source(&mut self, source: Option<&mut Source>) -> Result<(), Error> {
        let reference = source.and_then(|source| source.reference.as_mut());
        reference.map_or(Ok(()), |reference| self.text("source.reference", reference))
    }

    /// Fields by their names, at any depth.
    pub(crate) fn metadata(&mut self, fields: &mut Map<String, Value>) -> Result<(), Error> {
        for (mut key, mut value) in std::mem::take(fields) {
            if let Value::String(text) = &mut value {
                self.named(&key, text)?;
            }
            self.value(&mut value)?;
            self.text("metadata", &mut key)?;
            // Two keys may be masked alike; neither value is lost for it.
            let free = (2..).map(|n| format!("{key} {n}"));
            let key = std::iter::once(key.clone()).chain(free).find(|key| !fields.contains_key(key));
            fields.insert(key.unwrap_or_default(), value);
        }
        Ok(())
    }

    fn value(&mut self, value: &mut Value) -> Result<(), Error> {
        match value {
            Value::String(text) => self.text("metadata", text),
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.value(value)),
            Value::Object(fields) => self.metadata(fields),
            // A number is an amount or an id; masking one by chance would damage it.
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// A field called `password` holds one, whatever that looks like.
    fn named(&mut self, key: &str, text: &mut String) -> Result<(), Error> {
        let Some(sort) = self.redactor.looks_for_secrets() else { return Ok(()) };
        if !secret::is_named(key, text) || *text == mark(&sort.name) {
            return Ok(());
        }
        if self.refuses && sort.refused {
            return Err(refused("metadata", &sort.name));
        }
        *text = mark(&sort.name);
        self.found.insert(sort.name.clone());
        Ok(())
    }
}

/// Says what sort of text is not taken, and never the text.
fn refused(field: &'static str, name: &str) -> Error {
    Error::invalid(field, format!("{field} matches the redaction pattern `{name}`, which is refused"))
        .hint(format!("remove it, or move `{name}` from redaction.refuse to redaction.mask"))
}
