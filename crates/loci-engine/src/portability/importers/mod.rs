//! What did another system know?
//!
//! Each reader is a pure function from text to plain values: no file is opened, no clock is read, nothing is kept. It
//! gives one thing after the other, so that a file of any size passes through a small memory, and tells what it cannot
//! read without stopping. What becomes of it is the engine's to say (`take`).

mod chatgpt;
mod claude;
mod graph;
mod guess;
mod json;
mod langgraph;
pub mod markdown;
mod mem0;
mod take;
mod time;

use std::io::BufRead;

use jiff::Timestamp;
use loci_types::{Error, Identifiers};

use crate::NewMemory;

pub use graph::Sifted;
pub use guess::guess;
pub use take::Taken;

/// Where a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An export of Loci, or lines with at least content.
    Loci,
    /// mem0: a list, `{"results": […]}`, or lines.
    Mem0,
    /// The official memory server of the Model Context Protocol: lines of entities and relations.
    McpMemory,
    /// Items of a LangGraph store: a list, or lines.
    Langgraph,
    /// `conversations.json` of a ChatGPT export.
    Chatgpt,
    /// `conversations.json` of a Claude export.
    Claude,
    /// Notes.
    Markdown,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 7] = [
        Format::Loci,
        Format::Mem0,
        Format::McpMemory,
        Format::Langgraph,
        Format::Chatgpt,
        Format::Claude,
        Format::Markdown,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Loci => "loci",
            Format::Mem0 => "mem0",
            Format::McpMemory => "mcp-memory",
            Format::Langgraph => "langgraph",
            Format::Chatgpt => "chatgpt",
            Format::Claude => "claude",
            Format::Markdown => "markdown",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid("from", format!("`{text}` is no format that can be read"))
                .hint(format!("use one of {names}"))
        })
    }
}

/// Something that another system knew.
#[derive(Debug, Clone, PartialEq)]
pub enum Brought {
    /// Something that was remembered there.
    Memory(Box<Draft>),
    /// A conversation.
    Talk(Talk),
}

/// Something that was remembered elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// What is to be remembered.
    pub new: NewMemory,
    /// Whose the file says it is.
    pub identifiers: Identifiers,
    /// When it was made there.
    pub created_at: Option<Timestamp>,
    /// When it last changed there.
    pub updated_at: Option<Timestamp>,
    /// By what it is known there: the same reference is the same thing.
    pub reference: Option<String>,
}

/// A conversation that was had elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Talk {
    /// By what it is known there.
    pub id: String,
    /// What it was called.
    pub title: Option<String>,
    /// The turns, in their order.
    pub turns: Vec<Said>,
}

/// A turn of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// The message's own id.
    pub reference: Option<String>,
    /// `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
    /// When it was said.
    pub at: Option<Timestamp>,
}

/// Something that cannot be read, and what stands after it can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Where it stands: `entry 3`, `line 7`.
    pub place: String,
    /// Why it cannot be read.
    pub reason: String,
}

/// What a reader gives; false: nothing more is wanted.
pub type Take<'a> = dyn FnMut(Result<Brought, Unreadable>) -> bool + 'a;

/// Reads a file of JSON, one thing after the other. Other files have readers of their own.
pub fn read(format: Format, input: &mut dyn BufRead, take: &mut Take<'_>) -> Result<(), Error> {
    let entry: fn(serde_json::Value) -> Result<Brought, String> = match format {
        Format::Mem0 => mem0::entry,
        Format::Langgraph => langgraph::entry,
        Format::Chatgpt => chatgpt::entry,
        Format::Claude => claude::entry,
        Format::Loci | Format::McpMemory | Format::Markdown => {
            return Err(Error::invalid("from", format!("{} is not read entry by entry", format.name())));
        }
    };
    let mut known = 0_u64;
    let outcome = json::each(input, &mut |place, value| {
        let read = value.and_then(entry);
        known += u64::from(read.is_ok());
        take(read.map_err(|reason| Unreadable { place, reason }))
    });
    match outcome {
        Ok(0) => Err(Error::invalid("file", "the file is empty").hint("nothing was imported")),
        // One odd entry is an oddity; nothing but odd entries is another sort of file.
        Ok(_) if known == 0 => {
            Err(Error::invalid("file", format!("nothing in the file is an entry of {}", format.name()))
                .hint("name the right format with --from, or leave it out and it is recognised"))
        }
        Ok(_) => Ok(()),
        Err(reason) => Err(Error::invalid("file", format!("the file cannot be read on: {reason}"))
            .hint("what stands before is kept; the file may have been cut short")),
    }
}
