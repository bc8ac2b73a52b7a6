//! Readers of files of other systems.
//!
//! Each reader is a pure function from text to plain values: it opens no file, reads no clock and stores nothing. It
//! yields one item after the other, so that memory use does not grow with the file, and reports unreadable items
//! without stopping. The caller writes the items (`write.rs`).

mod chatgpt;
mod claude;
mod graph;
mod guess;
mod json;
mod langgraph;
pub mod markdown;
mod mem0;
mod time;
mod write;

use std::io::BufRead;

use jiff::Timestamp;
use loci_types::{Error, Identifiers};

use crate::NewMemory;

pub use graph::GraphFileLines;
pub use guess::guess;
pub use write::ImportedItem;

/// The format of a file to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
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
    /// Notes in Markdown.
    Markdown,
}

impl SourceFormat {
    /// All formats.
    pub const ALL: [SourceFormat; 7] = [
        SourceFormat::Loci,
        SourceFormat::Mem0,
        SourceFormat::McpMemory,
        SourceFormat::Langgraph,
        SourceFormat::Chatgpt,
        SourceFormat::Claude,
        SourceFormat::Markdown,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SourceFormat::Loci => "loci",
            SourceFormat::Mem0 => "mem0",
            SourceFormat::McpMemory => "mcp-memory",
            SourceFormat::Langgraph => "langgraph",
            SourceFormat::Chatgpt => "chatgpt",
            SourceFormat::Claude => "claude",
            SourceFormat::Markdown => "markdown",
        }
    }
}

impl std::str::FromStr for SourceFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid("from", format!("unknown format `{text}`")).hint(format!("use one of {names}"))
        })
    }
}

/// An item of a file of another system.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceItem {
    /// A memory.
    Memory(Box<SourceMemory>),
    /// A conversation.
    Conversation(SourceConversation),
}

/// A memory of another system.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceMemory {
    /// The memory to write.
    pub new: NewMemory,
    /// The owner, as far as the file names one.
    pub identifiers: Identifiers,
    /// When it was created in the other system.
    pub created_at: Option<Timestamp>,
    /// When it was last changed in the other system.
    pub updated_at: Option<Timestamp>,
    /// Its id in the other system: the same reference is the same item.
    pub reference: Option<String>,
}

/// A conversation of another system.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceConversation {
    /// Its id in the other system.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The turns, in their order.
    pub turns: Vec<SourceTurn>,
}

/// A turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceTurn {
    /// The message's own id.
    pub reference: Option<String>,
    /// `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
    /// When it was said.
    pub at: Option<Timestamp>,
}

/// An item that cannot be read. Reading continues after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableItem {
    /// Its position: `entry 3`, `line 7`.
    pub place: String,
    /// Why it cannot be read.
    pub reason: String,
}

/// Receives each item of a reader. Returns false to stop.
pub type ItemSink<'a> = dyn FnMut(Result<SourceItem, UnreadableItem>) -> bool + 'a;

/// Reads a JSON file item by item. Other files have their own readers.
pub fn read(format: SourceFormat, input: &mut dyn BufRead, take: &mut ItemSink<'_>) -> Result<(), Error> {
    let entry: fn(serde_json::Value) -> Result<SourceItem, String> = match format {
        SourceFormat::Mem0 => mem0::entry,
        SourceFormat::Langgraph => langgraph::entry,
        SourceFormat::Chatgpt => chatgpt::entry,
        SourceFormat::Claude => claude::entry,
        SourceFormat::Loci | SourceFormat::McpMemory | SourceFormat::Markdown => {
            return Err(Error::invalid("from", format!("{} is not read entry by entry", format.name())));
        }
    };
    let mut known = 0_u64;
    let outcome = json::each(input, &mut |place, value| {
        let read = value.and_then(entry);
        known += u64::from(read.is_ok());
        take(read.map_err(|reason| UnreadableItem { place, reason }))
    });
    match outcome {
        Ok(0) => Err(Error::invalid("file", "the file is empty").hint("nothing was imported")),
        // One odd entry is an oddity; nothing but odd entries is another sort of file.
        Ok(_) if known == 0 => {
            Err(Error::invalid("file", format!("nothing in the file is an entry of {}", format.name()))
                .hint("name the right format, or leave it out and it is recognised"))
        }
        Ok(_) => Ok(()),
        Err(reason) => Err(Error::invalid("file", format!("the file cannot be read further: {reason}"))
            .hint("the entries before are stored; the file may be incomplete")),
    }
}
