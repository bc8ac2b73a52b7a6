//! Imports a graph from the file of the official memory server.
//!
//! The file has JSON lines, one entity or relation each. The import is all or nothing; existing records are skipped,
//! so the same file can be imported twice.

use loci_types::{Error, Source};
use serde::{Deserialize, Serialize};

use super::draft::GraphDraft;
use super::write::check_relation;
use super::{GraphEntity, GraphRelation};
use crate::access::policy::Caller;
use crate::{Engine, Result};

/// What came in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphImportReport {
    /// Entities that are new.
    pub entities: usize,
    /// Observations that are new.
    pub observations: usize,
    /// Relations that are new.
    pub relations: usize,
    /// Whatever was here already, or says nothing.
    pub skipped: usize,
}

/// One line of the file. Other fields are of no concern.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum GraphLine {
    Entity(GraphEntity),
    Relation(GraphRelation),
}

impl Engine {
    /// Brings in the file of an official memory server. An entity that is here gets what the file says
    /// of it besides. A line that cannot be read is named, and nothing comes in.
    pub async fn graph_import(&self, caller: &Caller, jsonl: &str) -> Result<GraphImportReport> {
        let place = self.graph_writer(caller).await?;
        let lines = self.graph_lines(jsonl)?;
        let source = Source { kind: "import".to_owned(), ..Source::default() };
        for attempt in 1.. {
            let mut draft = GraphDraft::default();
            draft.hold(&self.graph_records(&place.visible).await?);
            let report = self.draft_lines(&mut draft, &lines);
            if self.graph_commit(caller, &place, draft, Some(source.clone()), attempt).await? {
                return Ok(report);
            }
        }
        unreachable!("the last try returns")
    }

    /// The lines, each checked, without what says nothing at all.
    pub(crate) fn graph_lines(&self, jsonl: &str) -> Result<Vec<(GraphLine, usize)>> {
        let mut lines = Vec::new();
        // Editors of some systems put a mark before the first line.
        for (place, text) in jsonl.trim_start_matches('\u{feff}').lines().enumerate() {
            if text.trim().is_empty() {
                continue;
            }
            let at = |error: Error| {
                let located = Error::new(error.kind(), format!("line {}: {error}", place + 1)).at("jsonl");
                located.hint("nothing was imported; fix or remove the line")
            };
            let line: GraphLine =
                serde_json::from_str(text).map_err(|error| at(Error::invalid("jsonl", error.to_string())))?;
            lines.push(self.graph_line(line).map_err(|error| match error {
                crate::Error::Word(error) => at(error).into(),
                error => error,
            })?);
        }
        Ok(lines)
    }

    /// A line that can be kept, and how many blank observations it has lost.
    fn graph_line(&self, line: GraphLine) -> Result<(GraphLine, usize)> {
        match line {
            GraphLine::Entity(mut entity) => {
                let before = entity.observations.len();
                entity.observations.retain(|text| !text.trim().is_empty());
                self.graph_mask(
                    [&mut entity.name, &mut entity.entity_type].into_iter().chain(&mut entity.observations),
                )?;
                self.check_entity(&entity)?;
                let blank = before - entity.observations.len();
                Ok((GraphLine::Entity(entity), blank))
            }
            GraphLine::Relation(mut relation) => {
                self.graph_mask([&mut relation.from, &mut relation.to, &mut relation.relation_type])?;
                check_relation(&relation)?;
                Ok((GraphLine::Relation(relation), 0))
            }
        }
    }

    fn draft_lines(&self, draft: &mut GraphDraft, lines: &[(GraphLine, usize)]) -> GraphImportReport {
        let mut report = GraphImportReport::default();
        for (line, blank) in lines {
            report.skipped += blank;
            match line {
                GraphLine::Relation(relation) => {
                    let new = draft.relate(self.new_id(self.now()), relation);
                    count(new, &mut report.relations, &mut report.skipped);
                }
                GraphLine::Entity(entity) => {
                    let said = &entity.observations;
                    let known = draft.entity(&entity.name);
                    count(known.is_none(), &mut report.entities, &mut report.skipped);
                    let new = match known {
                        None => {
                            self.draft_entity(draft, entity);
                            said.len()
                        }
                        Some(of) => draft.observe(of, &entity.name, said, || self.new_id(self.now())).len(),
                    };
                    report.observations += new;
                    report.skipped += said.len() - new;
                }
            }
        }
        report
    }
}

fn count(new: bool, made: &mut usize, skipped: &mut usize) {
    *(if new { made } else { skipped }) += 1;
}
