//! Exports what the caller sees, in the order that an import needs: agents, memories in the order they were added, edges,
//! entities with their mentions, unions, sessions, and facts last.
//!
//! One page is read at a time, so memory use does not grow with the size of the export.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use loci_store::{ExportCursor, ExportedEntity, ExportedMemory, LedgerQuery, Page};
use loci_types::{EntityId, FactFilter, Filter, Layer, MemoryId, Reach, Scope, Space, Visible};

use super::line::{
    EntityLine, ExportHeader, ExportLine, FORMAT, MemoryLine, MentionsLine, RecordOwner, SessionLine, UnionLine,
    VectorLine,
};
use crate::access::policy::Caller;
use crate::{Engine, Result};

/// Number of rows that are read at once.
const ROWS_PER_PAGE: usize = 500;
/// The most triples that leave; they are small, and read at once.
const MOST_FACTS: usize = 10_000_000;
/// Maximum number of ledger entries of one memory.
const MOST_EVENTS: usize = 10_000;
/// How many memories one line of mentions names.
const NAMED: usize = 1_000;

/// What is to leave, of what the caller sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportRequest {
    /// The layers. Default: all that the identifiers allow.
    pub layers: Option<Vec<Layer>>,
    /// Only what carries this user's name.
    pub user: Option<String>,
    /// Only what carries this agent's name.
    pub agent: Option<String>,
    /// With the vectors.
    pub vectors: bool,
    /// With what happened to each memory, after its line.
    pub history: bool,
}

/// An export under way.
#[derive(Debug)]
pub struct Export {
    visible: Visible,
    filter: Filter,
    request: ExportRequest,
    at: Timestamp,
    spaces: Vec<Space>,
    models: BTreeSet<String>,
    total: u64,
    stage: Stage,
    unions: Vec<(Scope, EntityId, EntityId)>,
}

/// How far it has come.
#[derive(Debug)]
enum Stage {
    Agents,
    /// A section of the space with this number.
    Space(usize, ExportCursor),
    Unions,
    Facts,
    Done,
}

impl Export {
    /// How many memories there are to leave.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The first line.
    pub fn header(&self) -> ExportHeader {
        let scopes = match self.visible.reach() {
            Reach::Whole => None,
            Reach::Scopes(scopes) => Some(scopes.iter().map(ToString::to_string).collect()),
        };
        ExportHeader {
            loci: "export".to_owned(),
            format: FORMAT,
            exported_at: self.at,
            user_id: self.request.user.clone(),
            agent_id: self.request.agent.clone(),
            scopes,
            vectors: self.request.vectors,
        }
    }

    /// Whether the whole scope is exported: memories of others there belong to no single user.
    fn owns(&self, scope: &Scope) -> bool {
        let names = scope.identifiers();
        let is = |wanted: &Option<String>, name: &Option<String>| wanted.is_none() || wanted == name;
        is(&self.request.user, &names.user_id) && is(&self.request.agent, &names.agent_id)
    }
}

impl Engine {
    /// Begins an export of what the caller sees.
    pub async fn export(&self, caller: &Caller, request: ExportRequest) -> Result<Export> {
        let visible = self.visible(caller, request.layers.as_deref()).await?;
        let at = self.now();
        let filter = Filter {
            users: request.user.iter().cloned().collect(),
            agents: request.agent.iter().cloned().collect(),
            ..Filter::everything(at)
        };
        let spaces = match visible.spaces() {
            Some(spaces) => spaces.into_iter().collect(),
            None => self.store.spaces(&caller.tenant).await?,
        };
        let models = if request.vectors { self.store.model_names(&visible).await? } else { BTreeSet::new() };
        let total = self.store.scan(&visible, &filter, Page { after: None, limit: 1 }).await?.total;
        let (stage, unions) = (Stage::Agents, Vec::new());
        Ok(Export { visible, filter, request, at, spaces, models, total, stage, unions })
    }

    /// The next lines of an export, in their order. `None` at the end.
    pub async fn export_next(&self, export: &mut Export) -> Result<Option<Vec<ExportLine>>> {
        loop {
            let lines = match std::mem::replace(&mut export.stage, Stage::Done) {
                Stage::Agents => self.export_agents(export).await?,
                Stage::Space(place, after) => self.export_section(export, place, after).await?,
                Stage::Unions => {
                    export.stage = Stage::Space(0, ExportCursor::Sessions(None));
                    union_lines(std::mem::take(&mut export.unions))
                }
                Stage::Facts => self.export_facts(export).await?,
                Stage::Done => return Ok(None),
            };
            if !lines.is_empty() {
                return Ok(Some(lines));
            }
        }
    }

    /// Agents belong to the operator, and to no user.
    async fn export_agents(&self, export: &mut Export) -> Result<Vec<ExportLine>> {
        export.stage = Stage::Space(0, ExportCursor::Memories(0));
        if *export.visible.reach() != Reach::Whole || export.request.user.is_some() {
            return Ok(Vec::new());
        }
        let mut agents = self.store.agents(export.visible.tenant(), None).await?;
        agents.retain(|agent| export.request.agent.as_ref().is_none_or(|wanted| *wanted == agent.agent_id));
        agents.sort_by(|a, b| a.agent_id.cmp(&b.agent_id));
        Ok(agents.into_iter().map(ExportLine::Agent).collect())
    }

    /// The next page of a section; then the same section of the next space, then the next section.
    async fn export_section(&self, export: &mut Export, place: usize, after: ExportCursor) -> Result<Vec<ExportLine>> {
        // Turns have no category, so a caller who sees only some categories sees no turns, and no sessions either.
        let hidden = matches!(after, ExportCursor::Sessions(_)) && export.visible.is_partial();
        let Some(space) = export.spaces.get(place).filter(|_| !hidden) else {
            export.stage = match after {
                ExportCursor::Memories(_) => Stage::Space(0, ExportCursor::Edges(None)),
                ExportCursor::Edges(_) => Stage::Space(0, ExportCursor::Entities(None)),
                ExportCursor::Entities(_) => Stage::Unions,
                ExportCursor::Sessions(_) => Stage::Facts,
            };
            return Ok(Vec::new());
        };
        let page = self.store.export_page(&export.visible, &export.filter, space, &after, ROWS_PER_PAGE).await?;
        export.stage = match (page.next, after) {
            (Some(next), _) => Stage::Space(place, next),
            (None, ExportCursor::Memories(_)) => Stage::Space(place + 1, ExportCursor::Memories(0)),
            (None, ExportCursor::Edges(_)) => Stage::Space(place + 1, ExportCursor::Edges(None)),
            (None, ExportCursor::Entities(_)) => Stage::Space(place + 1, ExportCursor::Entities(None)),
            (None, ExportCursor::Sessions(_)) => Stage::Space(place + 1, ExportCursor::Sessions(None)),
        };
        let mut lines = self.memory_lines(export, page.memories).await?;
        lines.extend(page.edges.into_iter().map(|edge| ExportLine::Edge(Box::new(edge))));
        lines.extend(entity_lines(export, page.entities));
        let own = page.sessions.into_iter().filter(|session| export.owns(&session.scope));
        lines.extend(own.map(|session| ExportLine::Session(Box::new(SessionLine::of(session)))));
        Ok(lines)
    }

    async fn memory_lines(&self, export: &Export, found: Vec<ExportedMemory>) -> Result<Vec<ExportLine>> {
        let ids: Vec<MemoryId> = found.iter().map(|exported| exported.memory.id).collect();
        let mut vectors: BTreeMap<MemoryId, Vec<VectorLine>> = BTreeMap::new();
        for model in &export.models {
            for (id, vector) in self.store.vectors(&export.visible, model, &ids).await? {
                vectors.entry(id).or_default().push(VectorLine::of(&vector));
            }
        }
        let line = |ExportedMemory { memory, aged_at, .. }| {
            let vectors = vectors.remove(&memory.id).unwrap_or_default();
            ExportLine::Memory(Box::new(MemoryLine { memory, aged_at, vectors }))
        };
        let mut lines: Vec<ExportLine> = found.into_iter().map(line).collect();
        if export.request.history {
            for id in ids {
                let past = self.store.ledger(&export.visible, &LedgerQuery::Memory(id), MOST_EVENTS).await?.entries;
                lines.extend(past.into_iter().map(|entry| ExportLine::History(Box::new(entry))));
            }
        }
        Ok(lines)
    }

    async fn export_facts(&self, export: &Export) -> Result<Vec<ExportLine>> {
        let filter = FactFilter { include_past: true, ..FactFilter::at(export.at) };
        let mut facts = self.store.facts(&export.visible, &filter, MOST_FACTS).await?;
        facts.retain(|fact| fact.scope().is_ok_and(|scope| export.owns(&scope)));
        facts.sort_by_key(|fact| fact.id);
        Ok(facts.into_iter().map(|fact| ExportLine::Fact(Box::new(fact))).collect())
    }
}

fn entity_lines(export: &mut Export, found: Vec<ExportedEntity>) -> Vec<ExportLine> {
    let mut lines = Vec::new();
    for ExportedEntity { scope, entity, united_with, mentions } in found {
        if !export.owns(&scope) {
            continue;
        }
        let (id, owner) = (entity.id, RecordOwner::of(&scope));
        lines.push(ExportLine::Entity(Box::new(EntityLine { owner, entity, mentioned: mentions.len() as u64 })));
        lines.extend(
            mentions
                .chunks(NAMED)
                .map(|memories| ExportLine::Mentions(MentionsLine { entity_id: id, memory_ids: memories.to_vec() })),
        );
        export.unions.extend(united_with.map(|into| (scope, id, into)));
    }
    lines
}

/// The unions, the deepest first, so that an import always unites two roots.
fn union_lines(unions: Vec<(Scope, EntityId, EntityId)>) -> Vec<ExportLine> {
    let up: BTreeMap<EntityId, EntityId> = unions.iter().map(|(_, from, into)| (*from, *into)).collect();
    let depth = |from: EntityId| {
        let steps = std::iter::successors(Some(from), |at| up.get(at).copied());
        // A circle cannot be, but a damaged file must not hold us forever.
        steps.take(unions.len() + 1).count()
    };
    let mut ordered: Vec<_> = unions.iter().map(|union| (std::cmp::Reverse(depth(union.1)), union)).collect();
    ordered.sort_by_key(|(depth, (_, from, _))| (*depth, *from));
    let line = |(_, (scope, from, into)): (_, &(Scope, EntityId, EntityId))| {
        ExportLine::Union(UnionLine { owner: RecordOwner::of(scope), from_id: *from, into_id: *into })
    };
    ordered.into_iter().map(line).collect()
}
