//! The lines of an export file.
//!
//! Every line except the header has a type, and no line depends on when the export was made. Lines of older files
//! without a type are accepted: a record has an id, anything else has at least content.

use jiff::Timestamp;
use loci_store::Agent;
use loci_types::{
    Edge, Entity, EntityId, Error, Fact, Identifiers, Layer, LedgerEntry, Memory, MemoryId, Scope, Session, Vector,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::NewMemory;

/// The format of the lines. One with a greater number is from a newer Loci.
///
/// Format 2 renamed fields of agents, entities and sessions; lines of format 1 are still read.
pub const FORMAT: u32 = 2;

/// The first line: what the file is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportHeader {
    /// Always `export`.
    pub loci: String,
    /// The format of the lines.
    pub format: u32,
    /// When it was made: all in which two exports of the same differ.
    pub exported_at: Timestamp,
    /// Only records of this user. Default: of all users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Only records of this agent. Default: of all agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Only these scopes, in their readable form. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// Whether memories bring their vectors.
    #[serde(default)]
    pub vectors: bool,
}

/// A line after the first. What is carried besides gets a type of its own here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ExportLine {
    /// An agent with its configuration.
    Agent(Agent),
    /// A memory, in whatever state.
    Memory(Box<MemoryLine>),
    /// A link between two memories that came before.
    Edge(Box<Edge>),
    /// A thing that memories speak of.
    Entity(Box<EntityLine>),
    /// Which memories speak of an entity; there may be several lines of one.
    Mentions(MentionsLine),
    /// Two entities are the same thing.
    Union(UnionLine),
    /// A conversation, and what of it was learned.
    Session(Box<SessionLine>),
    /// A triple, with the memories it was learned from, which came before.
    Fact(Box<Fact>),
    /// What happened to a memory that came before, if history was asked for. An import ignores it.
    History(Box<LedgerEntry>),
}

impl ExportLine {
    /// The name of its type.
    pub fn name(&self) -> &'static str {
        match self {
            ExportLine::Agent(_) => "agent",
            ExportLine::Memory(_) => "memory",
            ExportLine::Edge(_) => "edge",
            ExportLine::Entity(_) => "entity",
            ExportLine::Mentions(_) => "mentions",
            ExportLine::Union(_) => "union",
            ExportLine::Session(_) => "session",
            ExportLine::Fact(_) => "fact",
            ExportLine::History(_) => "history",
        }
    }
}

/// A memory and what its record does not say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryLine {
    /// The record.
    #[serde(flatten)]
    pub memory: Memory,
    /// How far time was counted in its scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged_at: Option<Timestamp>,
    /// Its vectors, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vectors: Vec<VectorLine>,
}

/// A vector as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VectorLine {
    /// The model that made it.
    pub model: String,
    /// Its numbers, four bytes each, the least significant first, in Base64.
    pub values: String,
    /// The states of its tokens as they lie, in Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_states: Option<String>,
}

/// The layer and the identifiers of the owner of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordOwner {
    /// The layer.
    pub layer: Layer,
    /// The identifiers that the layer requires.
    pub identifiers: Identifiers,
}

impl RecordOwner {
    /// Of this scope.
    pub fn of(scope: &Scope) -> Self {
        Self { layer: scope.layer(), identifiers: scope.identifiers() }
    }

    /// The scope.
    pub fn scope(&self) -> Result<Scope, Error> {
        Scope::new(self.layer, &self.identifiers)
    }
}

/// An entity by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityLine {
    /// The owner of the record.
    #[serde(flatten)]
    pub owner: RecordOwner,
    /// The entity with its own names.
    #[serde(flatten)]
    pub entity: Entity,
    /// How many memories the lines of mentions after it name.
    #[serde(default)]
    pub mentioned: u64,
}

/// Which memories speak of an entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MentionsLine {
    /// The entity.
    pub entity_id: EntityId,
    /// The memories.
    pub memory_ids: Vec<MemoryId>,
}

/// Two entities that are the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnionLine {
    /// The owner of both entities.
    #[serde(flatten)]
    pub owner: RecordOwner,
    /// The one that was taken up.
    pub from_id: EntityId,
    /// The one that took it up.
    pub into_id: EntityId,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionLine {
    /// The owner of the record.
    #[serde(flatten)]
    pub owner: RecordOwner,
    /// Its id. Called `name` in format 1.
    #[serde(alias = "name")]
    pub session_id: String,
    /// Its thread.
    pub thread_id: String,
    /// When its first turn came. Called `startedAt` in format 1.
    #[serde(alias = "startedAt")]
    pub created_at: Timestamp,
    /// When its latest turn came. Called `lastAt` in format 1.
    #[serde(alias = "lastAt")]
    pub updated_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// When it was last learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidated_at: Option<Timestamp>,
    /// The last turn that was learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidated_through: Option<MemoryId>,
}

impl SessionLine {
    pub(crate) fn of(session: Session) -> Self {
        Self {
            owner: RecordOwner::of(&session.scope),
            session_id: session.session_id,
            thread_id: session.thread_id,
            created_at: session.created_at,
            updated_at: session.updated_at,
            ended_at: session.ended_at,
            consolidated_at: session.consolidated_at,
            consolidated_through: session.consolidated_through,
        }
    }

    pub(crate) fn session(&self) -> Result<Session, Error> {
        Ok(Session {
            scope: self.owner.scope()?,
            session_id: self.session_id.clone(),
            thread_id: self.thread_id.clone(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            ended_at: self.ended_at,
            consolidated_at: self.consolidated_at,
            consolidated_through: self.consolidated_through,
            pending: false,
        })
    }
}

impl VectorLine {
    pub(crate) fn of(vector: &Vector) -> Self {
        let bytes: Vec<u8> = vector.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let text = |bytes: &[u8]| data_encoding::BASE64.encode(bytes);
        let token_states = vector.token_states.as_deref().map(text);
        Self { model: vector.model.clone(), values: text(&bytes), token_states }
    }

    pub(crate) fn vector(&self) -> Result<Vector, Error> {
        let wrong = || Error::invalid("vectors", format!("the vector of {} cannot be read", self.model));
        let read = |text: &str| data_encoding::BASE64.decode(text.as_bytes()).map_err(|_| wrong());
        let bytes = read(&self.values)?;
        let (chunks, rest) = bytes.as_chunks::<4>();
        let values: Vec<f32> = chunks.iter().map(|four| f32::from_le_bytes(*four)).collect();
        if values.is_empty() || !rest.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return Err(wrong());
        }
        let token_states = self.token_states.as_deref().map(read).transpose()?;
        Ok(Vector { model: self.model.clone(), values, token_states })
    }
}

/// What a line gives.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedLine {
    /// What the file is.
    Header(ExportHeader),
    /// Something that was kept elsewhere.
    Line(ExportLine),
    /// A new memory, with its identifiers and its creation time if the line has them.
    New(Option<Identifiers>, Option<Timestamp>, Box<NewMemory>),
}

/// Reads one line of a file.
pub fn read_line(text: &str) -> Result<ParsedLine, Error> {
    let value: Value = serde_json::from_str(text).map_err(wrong)?;
    let Value::Object(mut fields) = value else {
        return Err(Error::invalid("line", "this is JSON, but not an object"));
    };
    if fields.contains_key("loci") {
        let header: ExportHeader = serde_json::from_value(Value::Object(fields)).map_err(wrong)?;
        if header.loci != "export" || header.format == 0 || header.format > FORMAT {
            let message = format!(
                "this is a file of format {} of Loci, and only formats up to {FORMAT} are known",
                header.format
            );
            return Err(
                Error::invalid("format", message).hint("import it with the version that wrote it, or a newer one")
            );
        }
        return Ok(ParsedLine::Header(header));
    }
    if fields.contains_key("type") {
        let line: ExportLine = serde_json::from_value(Value::Object(fields.clone())).map_err(wrong)?;
        refuse_unknown(&fields, &line)?;
        return Ok(ParsedLine::Line(line));
    }
    if fields.contains_key("id") {
        let line: MemoryLine = serde_json::from_value(Value::Object(fields.clone())).map_err(wrong)?;
        refuse_unknown(&fields, &line)?;
        return Ok(ParsedLine::Line(ExportLine::Memory(Box::new(line))));
    }
    let identifiers = fields.remove("identifiers").map(serde_json::from_value).transpose().map_err(wrong)?;
    if !fields.contains_key("content") {
        return Err(Error::invalid("content", "content is missing"));
    }
    let created_at = fields.remove("createdAt").map(serde_json::from_value).transpose().map_err(|error| {
        let problem = format!("createdAt is not a valid time: {error}");
        Error::invalid("createdAt", problem).hint("write it as 2026-01-31T09:00:00Z")
    })?;
    Ok(ParsedLine::New(identifiers, created_at, serde_json::from_value(Value::Object(fields)).map_err(wrong)?))
}

/// Names of fields in lines of format 1.
const OLD_NAMES: [&str; 7] = ["slug", "config", "firstSeen", "lastUpdated", "name", "startedAt", "lastAt"];

/// Refuses a line with a field that is not read: dropping it in silence would lose what it says. A field that says
/// nothing (null, false, 0, or empty) is not written again by the line itself, and passes.
fn refuse_unknown(fields: &serde_json::Map<String, Value>, line: &impl Serialize) -> Result<(), Error> {
    let known = serde_json::to_value(line).map_err(wrong)?;
    let says_nothing = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) => false,
    };
    let is_known = |name: &str| name == "type" || known.get(name).is_some() || OLD_NAMES.contains(&name);
    match fields.iter().find(|(name, value)| !is_known(name) && !says_nothing(value)) {
        None => Ok(()),
        Some((name, _)) => Err(Error::invalid("line", format!("unknown field `{name}`"))
            .hint("remove it, or put it into `metadata`; the tenant is that of the credential")),
    }
}

fn wrong(error: serde_json::Error) -> Error {
    let message = error.to_string();
    // serde counts lines too, but from the start of this one, which would only confuse.
    let reason = message.split(" at line ").next().unwrap_or(&message);
    let place = if error.column() > 0 { format!(" (column {})", error.column()) } else { String::new() };
    Error::invalid("line", format!("this is not a memory: {reason}{place}"))
        .hint("a line is what `loci export` writes, or an object with at least \"content\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_is() {
        let check = |text: &str, expect: &str| {
            let found = match read_line(text) {
                Ok(ParsedLine::Header(_)) => "header".to_owned(),
                Ok(ParsedLine::Line(line)) => line.name().to_owned(),
                Ok(ParsedLine::New(identifiers, None, _)) => format!("new {}", identifiers.is_some()),
                Ok(ParsedLine::New(_, Some(at), _)) => at.to_string(),
                Err(error) => error.field().unwrap_or_default().to_owned(),
            };
            assert_eq!(found, expect, "{text}");
        };
        let at = "2026-06-01T12:00:00Z";
        check(&format!(r#"{{"loci":"export","format":1,"exportedAt":"{at}"}}"#), "header");
        check(&format!(r#"{{"loci":"export","format":3,"exportedAt":"{at}"}}"#), "format");
        check(&format!(r#"{{"loci":"other","format":1,"exportedAt":"{at}"}}"#), "format");
        check(&format!(r#"{{"type":"agent","slug":"a","config":{{}},"createdAt":"{at}"}}"#), "agent");
        check(r#"{"content":"x"}"#, "new false");
        check(&format!(r#"{{"content":"x","createdAt":"{at}"}}"#), at);
        check(r#"{"content":"x","createdAt":"yesterday"}"#, "createdAt");
        check(r#"{"content":"x","identifiers":{"userId":"u"}}"#, "new true");
        for (text, field) in [
            ("", "line"),
            ("{", "line"),
            ("7", "line"),
            ("[]", "line"),
            (r#"{"type":"dream"}"#, "line"),
            (r#"{"id":"x"}"#, "line"),
            (r#"{"tags":[]}"#, "content"),
            (r#"{"content":"x","colour":1}"#, "line"),
            // attack B17: what is not read is not dropped in silence.
            (
                r#"{"type":"mentions","entityId":"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50","memoryIds":[],"tenant":"acme"}"#,
                "line",
            ),
        ] {
            check(text, field);
        }
    }

    #[test]
    fn lines_of_format_1_are_still_read() {
        let (id, at, later) = ("0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50", "2026-06-01T12:00:00Z", "2026-06-02T12:00:00Z");
        let owner = r#""layer":"user","identifiers":{"userId":"ana"}"#;
        let entity = r#""canonicalName":"Lisbon","entityType":"place","mentionCount":1"#;
        for (old, new) in [
            (
                format!(r#"{{"type":"agent","slug":"a","config":{{"limit":5}},"createdAt":"{at}"}}"#),
                format!(r#"{{"type":"agent","agentId":"a","settings":{{"limit":5}},"createdAt":"{at}"}}"#),
            ),
            (
                format!(
                    r#"{{"type":"entity",{owner},"id":"{id}",{entity},"firstSeen":"{at}","lastUpdated":"{later}"}}"#
                ),
                format!(r#"{{"type":"entity",{owner},"id":"{id}",{entity},"createdAt":"{at}","updatedAt":"{later}"}}"#),
            ),
            (
                format!(
                    r#"{{"type":"session",{owner},"name":"s","threadId":"t","startedAt":"{at}","lastAt":"{later}"}}"#
                ),
                format!(
                    r#"{{"type":"session",{owner},"sessionId":"s","threadId":"t","createdAt":"{at}","updatedAt":"{later}"}}"#
                ),
            ),
        ] {
            let (old, new) = (read_line(&old).unwrap(), read_line(&new).unwrap());
            assert_eq!(old, new);
            let ParsedLine::Line(line) = new else { panic!("{new:?}") };
            let written = serde_json::to_string(&line).unwrap();
            for name in ["slug", "config", "firstSeen", "lastUpdated", "name\"", "startedAt", "lastAt"] {
                assert!(!written.contains(&format!("\"{name}")), "{name} in {written}");
            }
        }
    }

    #[test]
    fn a_vector_comes_back_bit_by_bit() {
        let vector =
            Vector { model: "m".into(), values: vec![0.1, -0.25, f32::MIN_POSITIVE], token_states: Some(vec![0, 255]) };
        assert_eq!(VectorLine::of(&vector).vector().unwrap(), vector);
        for values in ["", "AAA=", "!", "AADAfw=="] {
            let line = VectorLine { model: "m".into(), values: values.into(), token_states: None };
            assert_eq!(line.vector().unwrap_err().field(), Some("vectors"), "{values}");
        }
    }
}
