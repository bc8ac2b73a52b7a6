//! What leaves, and in which order?
//!
//! Agents, then memories as they came, edges, entities with who speaks of them, unions and sessions, space by space;
//! triples come last.
//! A page is read at a time with what the caller sees, so that memory stays small at any size.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use loci_store::Page;
use loci_types::{EdgeId, EntityId, FactFilter, Filter, Layer, MemoryId, Reach, Scope, Space, Visible};

use super::line::{
    EntityLine, FORMAT, Header, Line, MemoryLine, MentionsLine, SessionLine, UnionLine, VectorLine, Whose,
};
use crate::policy::Caller;
use crate::{Engine, Result};

/// How many rows one page has.
const PAGE: usize = 500;
/// The most triples that leave; they are small, and read at once.
const MOST_FACTS: usize = 10_000_000;
/// How many memories one line of mentions names.
const NAMED: usize = 1_000;

/// What is to leave, of what the caller sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportRequest {
    /// In these layers; none: in all that the identifiers open.
    pub layers: Option<Vec<Layer>>,
    /// Only what carries this user's name.
    pub user: Option<String>,
    /// Only what carries this agent's name.
    pub agent: Option<String>,
    /// With the vectors.
    pub vectors: bool,
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

/// How far it has come. The number is that of the space.
#[derive(Debug)]
enum Stage {
    Agents,
    Memories(usize, i64),
    Edges(usize, Option<EdgeId>),
    Entities(usize, Option<EntityId>),
    Unions,
    Sessions(usize, Option<(Scope, String)>),
    Facts,
    Done,
}

impl Export {
    /// How many memories there are to leave.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The first line.
    pub fn header(&self) -> Header {
        let scopes = match self.visible.reach() {
            Reach::Whole => None,
            Reach::Scopes(scopes) => Some(scopes.iter().map(ToString::to_string).collect()),
        };
        Header {
            loci: "export".to_owned(),
            format: FORMAT,
            exported_at: self.at,
            user_id: self.request.user.clone(),
            agent_id: self.request.agent.clone(),
            scopes,
            vectors: self.request.vectors,
        }
    }

    /// Whether what belongs to this scope as a whole is meant: what others said there is nobody's own.
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

    /// The next lines of an export, in their order; none: that was all.
    pub async fn export_next(&self, export: &mut Export) -> Result<Option<Vec<Line>>> {
        loop {
            let lines = match std::mem::replace(&mut export.stage, Stage::Done) {
                Stage::Agents => self.agents_out(export).await?,
                Stage::Memories(space, after) => self.memories_out(export, space, after).await?,
                Stage::Edges(space, after) => self.edges_out(export, space, after).await?,
                Stage::Entities(space, after) => self.entities_out(export, space, after).await?,
                Stage::Unions => {
                    export.stage = Stage::Sessions(0, None);
                    unions_out(std::mem::take(&mut export.unions))
                }
                Stage::Sessions(space, after) => self.sessions_out(export, space, after).await?,
                Stage::Facts => self.facts_out(export).await?,
                Stage::Done => return Ok(None),
            };
            if !lines.is_empty() {
                return Ok(Some(lines));
            }
        }
    }

    /// Agents are the operator's, and no user's.
    async fn agents_out(&self, export: &mut Export) -> Result<Vec<Line>> {
        export.stage = Stage::Memories(0, 0);
        if *export.visible.reach() != Reach::Whole || export.request.user.is_some() {
            return Ok(Vec::new());
        }
        let mut agents = self.store.agents(export.visible.tenant(), None).await?;
        agents.retain(|agent| export.request.agent.as_ref().is_none_or(|meant| *meant == agent.slug));
        agents.sort_by(|a, b| a.slug.cmp(&b.slug));
        Ok(agents.into_iter().map(Line::Agent).collect())
    }

    async fn memories_out(&self, export: &mut Export, place: usize, after: i64) -> Result<Vec<Line>> {
        let Some(space) = export.spaces.get(place) else {
            export.stage = Stage::Edges(0, None);
            return Ok(Vec::new());
        };
        let found = self.store.carried_memories(&export.visible, &export.filter, space, after, PAGE).await?;
        export.stage = match found.last() {
            Some(last) if found.len() == PAGE => Stage::Memories(place, last.place),
            _ => Stage::Memories(place + 1, 0),
        };
        let ids: Vec<MemoryId> = found.iter().map(|carried| carried.memory.id).collect();
        let mut vectors: BTreeMap<MemoryId, Vec<VectorLine>> = BTreeMap::new();
        for model in &export.models {
            for (id, vector) in self.store.vectors(&export.visible, model, &ids).await? {
                vectors.entry(id).or_default().push(VectorLine::of(&vector));
            }
        }
        let line = |carried: loci_store::CarriedMemory| {
            let vectors = vectors.remove(&carried.memory.id).unwrap_or_default();
            Line::Memory(Box::new(MemoryLine { memory: carried.memory, aged_at: carried.aged_at, vectors }))
        };
        Ok(found.into_iter().map(line).collect())
    }

    async fn edges_out(&self, export: &mut Export, place: usize, after: Option<EdgeId>) -> Result<Vec<Line>> {
        let Some(space) = export.spaces.get(place) else {
            export.stage = Stage::Entities(0, None);
            return Ok(Vec::new());
        };
        let found = self.store.carried_edges(&export.visible, &export.filter, space, after, PAGE).await?;
        export.stage = match found.last() {
            Some(last) if found.len() == PAGE => Stage::Edges(place, Some(last.id)),
            _ => Stage::Edges(place + 1, None),
        };
        Ok(found.into_iter().map(|edge| Line::Edge(Box::new(edge))).collect())
    }

    async fn entities_out(&self, export: &mut Export, place: usize, after: Option<EntityId>) -> Result<Vec<Line>> {
        // Turns have no category, so whoever sees only some is told of no entity that others spoke of.
        let Some(space) = export.spaces.get(place) else {
            export.stage = Stage::Unions;
            return Ok(Vec::new());
        };
        let found = self.store.carried_entities(&export.visible, &export.filter, space, after, PAGE).await?;
        export.stage = match found.last() {
            Some(last) if found.len() == PAGE => Stage::Entities(place, Some(last.entity.id)),
            _ => Stage::Entities(place + 1, None),
        };
        let mut lines = Vec::new();
        for carried in found {
            if !export.owns(&carried.scope) {
                continue;
            }
            let id = carried.entity.id;
            if let Some(into) = carried.united_with {
                export.unions.push((carried.scope.clone(), id, into));
            }
            let mentioned = carried.mentions.len() as u64;
            let whose = Whose::of(&carried.scope);
            lines.push(Line::Entity(Box::new(EntityLine { whose, entity: carried.entity, mentioned })));
            for some in carried.mentions.chunks(NAMED) {
                lines.push(Line::Mentions(MentionsLine { entity_id: id, memory_ids: some.to_vec() }));
            }
        }
        Ok(lines)
    }

    async fn sessions_out(
        &self,
        export: &mut Export,
        place: usize,
        after: Option<(Scope, String)>,
    ) -> Result<Vec<Line>> {
        // Turns have no category, so whose credential shows only some sees no turn, and no session either.
        let Some(space) = export.spaces.get(place).filter(|_| export.visible.categories().is_none()) else {
            export.stage = Stage::Facts;
            return Ok(Vec::new());
        };
        let found = self.store.carried_sessions(&export.visible, space, after, PAGE).await?;
        export.stage = match found.last() {
            Some(last) if found.len() == PAGE => Stage::Sessions(place, Some((last.scope.clone(), last.name.clone()))),
            _ => Stage::Sessions(place + 1, None),
        };
        let own = found.into_iter().filter(|session| export.owns(&session.scope));
        Ok(own.map(|session| Line::Session(Box::new(SessionLine::of(session)))).collect())
    }
}

impl Engine {
    async fn facts_out(&self, export: &Export) -> Result<Vec<Line>> {
        let filter = FactFilter { include_past: true, ..FactFilter::at(export.at) };
        let mut facts = self.store.facts(&export.visible, &filter, MOST_FACTS).await?;
        facts.retain(|fact| fact.scope().is_ok_and(|scope| export.owns(&scope)));
        facts.sort_by_key(|fact| fact.id);
        Ok(facts.into_iter().map(|fact| Line::Fact(Box::new(fact))).collect())
    }
}

/// The unions, the deepest first: each is between two that are roots when it is made again.
fn unions_out(unions: Vec<(Scope, EntityId, EntityId)>) -> Vec<Line> {
    let up: BTreeMap<EntityId, EntityId> = unions.iter().map(|(_, from, into)| (*from, *into)).collect();
    let depth = |from: EntityId| {
        let steps = std::iter::successors(Some(from), |at| up.get(at).copied());
        // A circle cannot be, but a damaged file must not hold us forever.
        steps.take(unions.len() + 1).count()
    };
    let mut ordered: Vec<_> = unions.iter().map(|union| (std::cmp::Reverse(depth(union.1)), union)).collect();
    ordered.sort_by_key(|(depth, (_, from, _))| (*depth, *from));
    let line = |(_, (scope, from, into)): (_, &(Scope, EntityId, EntityId))| {
        Line::Union(UnionLine { whose: Whose::of(scope), from_id: *from, into_id: *into })
    };
    ordered.into_iter().map(line).collect()
}
