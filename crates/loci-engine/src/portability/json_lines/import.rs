//! Imports the lines of an export.
//!
//! Lines are imported in their order, many at a time. **Invariant:** lines are idempotent: an existing one changes
//! nothing, a different one is a conflict and is skipped unless it is to replace the existing one. A line whose
//! references are missing is reported and does not stop the others.

use std::collections::HashMap;

use loci_store::{CatalogueChange, ExportCursor, ExportedEntity};
use loci_types::{
    Action, Batch, Bookkeeping, Change, Edge, EntityId, Error, ErrorKind, Fact, FactFilter, Filter, MemoryId, Scope,
    SessionFilter, Space,
};
use uuid::Uuid;

use super::ImportOutcome;
use super::line::{EntityLine, ExportLine, MemoryLine, MentionsLine, ParsedLine, SessionLine, UnionLine, read_line};
use super::records::{ImportOptions, IncomingRecord};
use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// The outcome of a line that is not a memory in a quarantined import: nobody could review it.
fn not_in_quarantine(name: &str) -> ImportOutcome {
    let message = format!("a quarantined import takes memories only, and this is a line of the type {name}");
    ImportOutcome::Refused(Error::invalid("quarantine", message).hint("import it without quarantine").into())
}

impl Engine {
    /// Refuses a line that could not have been written here, before it is taken in with others.
    pub async fn check_line(&self, caller: &Caller, line: &ExportLine) -> Result<()> {
        match line {
            ExportLine::Memory(line) => {
                line.vectors.iter().try_for_each(|vector| vector.vector().map(drop))?;
                self.check_record(caller, &line.memory).await
            }
            ExportLine::Edge(edge) => {
                loci_types::unit("strength", edge.strength)?;
                Ok(loci_types::unit("confidence", edge.confidence).map(drop)?)
            }
            ExportLine::Agent(agent) => {
                loci_types::slug("agentId", &agent.agent_id)?;
                self.check_settings(&agent.settings)
            }
            ExportLine::Entity(line) => Ok(line.owner.scope().map(drop)?),
            ExportLine::Union(line) => Ok(line.owner.scope().map(drop)?),
            ExportLine::Session(line) => Ok(line.owner.scope().map(drop)?),
            ExportLine::Fact(fact) => {
                fact.scope()?;
                Ok(loci_types::unit("confidence", fact.confidence).map(drop)?)
            }
            ExportLine::Mentions(_) | ExportLine::History(_) => Ok(()),
        }
    }

    /// Reads and checks a line that is to come in; none for a header, which brings nothing. A new memory that does not
    /// say whose it is belongs to `owner`; `keeper` writes it.
    pub async fn read_import(&self, keeper: &Caller, owner: &Caller, text: &str) -> Result<Option<ExportLine>> {
        let line = match read_line(text)? {
            ParsedLine::Header(_) => return Ok(None),
            ParsedLine::Line(line) => line,
            ParsedLine::New(given, created_at, new) => {
                let identifiers = given.unwrap_or_else(|| owner.identifiers.clone());
                let memory = self.draft(&Caller { identifiers, ..owner.clone() }, *new, created_at)?;
                ExportLine::Memory(Box::new(MemoryLine { memory, aged_at: None, vectors: Vec::new() }))
            }
        };
        self.check_line(keeper, &line).await?;
        Ok(Some(line))
    }

    /// Takes lines in, in their order. One outcome each.
    pub async fn import_lines(
        &self,
        caller: &Caller,
        lines: Vec<ExportLine>,
        how: &mut ImportOptions,
    ) -> Result<Vec<ImportOutcome>> {
        policy::require_writer(caller)?;
        let mut outcomes = Vec::with_capacity(lines.len());
        let mut lines = lines.into_iter().peekable();
        while let Some(first) = lines.next() {
            match first {
                ExportLine::Memory(first) => {
                    let mut run = vec![*first];
                    while let Some(ExportLine::Memory(next)) =
                        lines.next_if(|line| matches!(line, ExportLine::Memory(_)))
                    {
                        run.push(*next);
                    }
                    outcomes.extend(self.import_memories(caller, run, how).await?);
                }
                ExportLine::Edge(first) => {
                    let mut run = vec![*first];
                    while let Some(ExportLine::Edge(next)) = lines.next_if(|line| matches!(line, ExportLine::Edge(_))) {
                        run.push(*next);
                    }
                    match how.quarantine {
                        true => outcomes.extend(run.iter().map(|_| not_in_quarantine("edge"))),
                        false => outcomes.extend(self.import_edges(caller, run, how).await?),
                    }
                }
                other => outcomes.push(self.import_line(caller, other, how).await?),
            }
        }
        Ok(outcomes)
    }

    /// What belongs to a scope as a whole, or to the store, is the operator's to bring.
    async fn import_line(&self, caller: &Caller, line: ExportLine, how: &ImportOptions) -> Result<ImportOutcome> {
        if how.quarantine {
            return Ok(not_in_quarantine(line.name()));
        }
        if let Err(error) = policy::require_operator(caller, &format!("import lines of the type {}", line.name())) {
            return Ok(ImportOutcome::Refused(error.into()));
        }
        let taken = match line {
            ExportLine::Agent(agent) => self.import_agent(caller, agent, how).await,
            ExportLine::Entity(line) => self.import_entity(caller, *line, how).await,
            ExportLine::Mentions(line) => self.import_mentions(caller, line, how).await,
            ExportLine::Union(line) => self.import_union(caller, line, how).await,
            ExportLine::Session(line) => self.import_session(caller, *line, how).await,
            ExportLine::Fact(fact) => self.import_fact(caller, *fact, how).await,
            ExportLine::Memory(_) | ExportLine::Edge(_) | ExportLine::History(_) => Ok(ImportOutcome::Skipped),
        };
        match taken {
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::MissingIdentifier) => {
                Ok(ImportOutcome::Refused(error))
            }
            taken => taken,
        }
    }

    async fn import_memories(
        &self,
        caller: &Caller,
        run: Vec<MemoryLine>,
        how: &mut ImportOptions,
    ) -> Result<Vec<ImportOutcome>> {
        let mut incoming = Vec::with_capacity(run.len());
        for line in run {
            let vectors = line.vectors.iter().map(|vector| vector.vector()).collect::<Result<_, Error>>()?;
            incoming.push(IncomingRecord { vectors, aged_at: line.aged_at, ..IncomingRecord::new(line.memory) });
        }
        self.import_records(caller, incoming, how).await
    }

    async fn import_edges(&self, caller: &Caller, run: Vec<Edge>, how: &ImportOptions) -> Result<Vec<ImportOutcome>> {
        let visible = self.visible_by_id(caller).await?;
        let ends: Vec<MemoryId> = run.iter().flat_map(|edge| [edge.source_id, edge.target_id]).collect();
        let mut spaces: HashMap<MemoryId, Space> = HashMap::new();
        for memory in self.store.fetch(&visible, &ends).await? {
            spaces.insert(memory.id, memory.scope()?.space());
        }
        let sources: Vec<MemoryId> = run.iter().map(|edge| edge.source_id).collect();
        let known = self.store.edges(&visible, &Filter::everything(self.now()), &sources, &[]).await?;
        let known: HashMap<_, Edge> =
            known.into_iter().map(|edge| ((edge.source_id, edge.target_id, edge.relation), edge)).collect();
        let mut outcomes: Vec<ImportOutcome> = run.iter().map(|_| ImportOutcome::Skipped).collect();
        let mut by_space: HashMap<Space, Vec<(usize, Change)>> = HashMap::new();
        for (place, edge) in run.into_iter().enumerate() {
            let (source, target) = (spaces.get(&edge.source_id), spaces.get(&edge.target_id));
            let Some(space) = source.filter(|space| target == Some(*space)) else {
                // The memories of a dry run are not here either.
                if how.dry_run {
                    outcomes[place] = ImportOutcome::Imported;
                    continue;
                }
                let message = format!("edge {} links memories that are not both here", edge.id);
                outcomes[place] = ImportOutcome::Refused(Error::new(ErrorKind::NotFound, message).at("edge").into());
                continue;
            };
            match known.get(&(edge.source_id, edge.target_id, edge.relation)) {
                Some(known) if same_edge(known, &edge) => continue,
                Some(known) if !how.replace => {
                    outcomes[place] =
                        ImportOutcome::Conflict(format!("edge {} already exists with different values", known.id));
                    continue;
                }
                known => {
                    outcomes[place] = if known.is_some() { ImportOutcome::Replaced } else { ImportOutcome::Imported }
                }
            }
            let change = self.change(caller, "operator", "imported", Action::Link(edge));
            by_space.entry(space.clone()).or_default().push((place, change));
        }
        if how.dry_run {
            return Ok(outcomes);
        }
        for (space, changes) in by_space {
            let (places, changes): (Vec<usize>, Vec<Change>) = changes.into_iter().unzip();
            let batch = Batch { tenant: caller.tenant.clone(), space, changes };
            for (place, outcome) in places.into_iter().zip(self.apply_each(batch).await?) {
                outcomes[place] = outcome;
            }
        }
        Ok(outcomes)
    }

    async fn import_agent(
        &self,
        caller: &Caller,
        agent: loci_store::Agent,
        how: &ImportOptions,
    ) -> Result<ImportOutcome> {
        let known = self.store.agents(&caller.tenant, Some(&agent.agent_id)).await?.pop();
        let outcome = match &known {
            Some(known) if known.settings == agent.settings => return Ok(ImportOutcome::Skipped),
            // An agent that was only ever written to has set nothing, and nothing is lost.
            Some(known) if !how.replace && known.settings.as_object().is_some_and(|config| !config.is_empty()) => {
                return Ok(ImportOutcome::Conflict(format!(
                    "agent `{}` already exists with different settings",
                    agent.agent_id
                )));
            }
            Some(_) => ImportOutcome::Replaced,
            None => ImportOutcome::Imported,
        };
        if !how.dry_run {
            self.check_settings(&agent.settings)?;
            self.store.change_catalogue(&caller.tenant, CatalogueChange::PutAgent(agent)).await?;
        }
        Ok(outcome)
    }

    async fn import_entity(&self, caller: &Caller, line: EntityLine, how: &ImportOptions) -> Result<ImportOutcome> {
        let scope = line.owner.scope()?;
        let known = self.entity_here(caller, &scope, line.entity.id).await?;
        let mut entity = line.entity;
        let outcome = match known {
            Some(known) if known.scope == scope && same_entity(&known, &entity) => return Ok(ImportOutcome::Skipped),
            Some(_) if !how.replace => {
                return Ok(ImportOutcome::Conflict(format!(
                    "entity {} already exists with different values",
                    entity.id
                )));
            }
            Some(_) => ImportOutcome::Replaced,
            // Every mention that follows counts once.
            None => {
                entity.mention_count = entity.mention_count.saturating_sub(line.mentioned);
                ImportOutcome::Imported
            }
        };
        let space = scope.space();
        let action = Action::Name { scope, entity: Box::new(entity) };
        self.one_in(caller, space, action, outcome, how).await
    }

    /// An entity by itself.
    async fn entity_here(&self, caller: &Caller, scope: &Scope, id: EntityId) -> Result<Option<ExportedEntity>> {
        let (visible, everything) = (policy::visible_tenant(&caller.tenant), Filter::everything(self.now()));
        let before = EntityId(Uuid::from_u128(id.0.as_u128().saturating_sub(1)));
        let after = ExportCursor::Entities(Some(before));
        let page = self.store.export_page(&visible, &everything, &scope.space(), &after, 1).await?;
        Ok(page.entities.into_iter().find(|found| found.entity.id == id))
    }

    async fn import_mentions(&self, caller: &Caller, line: MentionsLine, how: &ImportOptions) -> Result<ImportOutcome> {
        let visible = policy::visible_tenant(&caller.tenant);
        let here = self.store.fetch(&visible, &line.memory_ids).await?;
        if how.dry_run {
            return Ok(ImportOutcome::Imported);
        }
        let mut by_space: HashMap<Space, Vec<Change>> = HashMap::new();
        for memory in &here {
            let action = Action::Mention {
                memory: memory.id,
                entity: line.entity_id,
                counted: !crate::learn::consolidate::is_learned(memory),
            };
            let change = self.change(caller, "operator", "imported", action);
            by_space.entry(memory.scope()?.space()).or_default().push(change);
        }
        let mut outcome = ImportOutcome::Skipped;
        for (space, changes) in by_space {
            let batch = Batch { tenant: caller.tenant.clone(), space, changes };
            for taken in self.apply_each(batch).await? {
                match taken {
                    ImportOutcome::Imported | ImportOutcome::Replaced => outcome = ImportOutcome::Imported,
                    refused @ ImportOutcome::Refused(_) => return Ok(refused),
                    _ => {}
                }
            }
        }
        let missing = line.memory_ids.len() - here.len();
        if missing > 0 {
            let message = format!("{missing} memories that mention entity {} do not exist here", line.entity_id);
            return Ok(ImportOutcome::Refused(Error::new(ErrorKind::NotFound, message).at("memoryIds").into()));
        }
        Ok(outcome)
    }

    async fn import_union(&self, caller: &Caller, line: UnionLine, how: &ImportOptions) -> Result<ImportOutcome> {
        let scope = line.owner.scope()?;
        let Some(from) = self.entity_here(caller, &scope, line.from_id).await? else {
            if how.dry_run {
                return Ok(ImportOutcome::Imported);
            }
            let message = format!("unknown entity {}, which cannot be merged", line.from_id);
            return Ok(ImportOutcome::Refused(Error::new(ErrorKind::NotFound, message).at("fromId").into()));
        };
        match from.united_with {
            Some(into) if into == line.into_id => return Ok(ImportOutcome::Skipped),
            Some(into) => {
                return Ok(ImportOutcome::Conflict(format!("entity {} is united with {into} here", line.from_id)));
            }
            None => {}
        }
        if how.dry_run {
            return Ok(ImportOutcome::Imported);
        }
        let action = Action::Unite { into: line.into_id, from: line.from_id };
        // A union is a change of the entity; the time of its last one is carried too.
        let change = Change { at: from.entity.updated_at, ..self.change(caller, "operator", "imported", action) };
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: vec![change] };
        Ok(match self.apply_each(batch).await?.pop() {
            Some(ImportOutcome::Replaced) => ImportOutcome::Imported,
            outcome => outcome.unwrap_or(ImportOutcome::Skipped),
        })
    }

    async fn import_session(&self, caller: &Caller, line: SessionLine, how: &ImportOptions) -> Result<ImportOutcome> {
        let session = line.session()?;
        let filter = SessionFilter { session_id: Some(session.session_id.clone()), ..SessionFilter::default() };
        let seen = policy::visible_scope(caller, &session.scope, None);
        let known = self.store.sessions(&seen, &filter, 1).await?.pop();
        let outcome = match known {
            Some(known) if SessionLine::of(known.clone()) == line => return Ok(ImportOutcome::Skipped),
            Some(_) if !how.replace => {
                return Ok(ImportOutcome::Conflict(format!(
                    "session `{}` of {} already exists with different values",
                    line.session_id, session.scope
                )));
            }
            Some(_) => ImportOutcome::Replaced,
            None => ImportOutcome::Imported,
        };
        let space = session.scope.space();
        self.one_in(caller, space, Action::Bookkeeping(Bookkeeping::Resume(Box::new(session))), outcome, how).await
    }

    async fn import_fact(&self, caller: &Caller, fact: Fact, how: &ImportOptions) -> Result<ImportOutcome> {
        let scope = fact.scope()?;
        let filter = FactFilter { id: Some(fact.id), include_past: true, ..FactFilter::at(self.now()) };
        let known = self.store.facts(&policy::visible_tenant(&caller.tenant), &filter, 1).await?.pop();
        let outcome = match &known {
            Some(known) if *known == fact => return Ok(ImportOutcome::Skipped),
            Some(_) if !how.replace => {
                return Ok(ImportOutcome::Conflict(format!("triple {} already exists with different values", fact.id)));
            }
            Some(_) => ImportOutcome::Replaced,
            None => ImportOutcome::Imported,
        };
        if how.dry_run {
            return Ok(outcome);
        }
        let retract = known.map(|known| Action::Retract { scope: scope.clone(), id: known.id });
        // It keeps the time of its last change.
        let (at, state) = (fact.updated_at, Action::State(Box::new(fact)));
        let changes = retract.into_iter().chain([state]);
        let changes =
            changes.map(|action| Change { at, ..self.change(caller, "operator", "imported", action) }).collect();
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes };
        Ok(match self.apply_each(batch).await?.pop() {
            Some(refused @ ImportOutcome::Refused(_)) => refused,
            _ => outcome,
        })
    }

    async fn one_in(
        &self,
        caller: &Caller,
        space: Space,
        action: Action,
        outcome: ImportOutcome,
        how: &ImportOptions,
    ) -> Result<ImportOutcome> {
        if how.dry_run {
            return Ok(outcome);
        }
        let change = self.change(caller, "operator", "imported", action);
        let batch = Batch { tenant: caller.tenant.clone(), space, changes: vec![change] };
        Ok(match self.apply_each(batch).await?.pop() {
            Some(refused @ ImportOutcome::Refused(_)) => refused,
            _ => outcome,
        })
    }
}

/// Whether two edges say the same; an edge that is here keeps its id and the time it came.
fn same_edge(known: &Edge, edge: &Edge) -> bool {
    Edge { id: known.id, created_at: known.created_at, ..edge.clone() } == *known
}

/// Whether the store has the entity with these values. The number of mentions is not compared, because the import counts them.
fn same_entity(known: &ExportedEntity, entity: &loci_types::Entity) -> bool {
    let count = known.entity.mention_count;
    loci_types::Entity { mention_count: count, updated_at: known.entity.updated_at, ..entity.clone() } == known.entity
}
