//! Reads the graph of a scope.
//!
//! All records of the scope are read in pages; there is never a query per entity.

use std::collections::{HashMap, HashSet};

use loci_store::Page;
use loci_types::{ContentHash, Filter, Memory, MemoryId, Scope, Visible};

use super::record::{GRAPH, GraphRecord};
use super::{Graph, GraphEntity};
use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// Number of records that are read at once.
const RECORDS_PER_READ: usize = 4_000;

/// Where a caller's graph lies, and what the caller sees of it.
pub(super) struct GraphScope {
    pub(super) scope: Scope,
    pub(super) visible: Visible,
}

impl Engine {
    /// The whole graph of the caller's scope.
    pub async fn graph_read(&self, caller: &Caller) -> Result<Graph> {
        let place = self.graph_place(caller).await?;
        Ok(assemble(self.graph_records(&place.visible).await?))
    }

    /// The entities in whose name, type or observations this text occurs, in whatever case, and the
    /// relations that start or end at one of them.
    pub async fn graph_search(&self, caller: &Caller, query: &str) -> Result<Graph> {
        let wanted = query.to_lowercase();
        let says = |text: &String| text.to_lowercase().contains(&wanted);
        let is_selected = |entity: &GraphEntity| {
            says(&entity.name) || says(&entity.entity_type) || entity.observations.iter().any(says)
        };
        Ok(only(self.graph_read(caller).await?, is_selected))
    }

    /// The entities with exactly these names, and the relations that start or end at one of them.
    pub async fn graph_open(&self, caller: &Caller, names: &[String]) -> Result<Graph> {
        Ok(only(self.graph_read(caller).await?, |entity| names.contains(&entity.name)))
    }

    /// Where the caller's graph lies.
    pub(super) async fn graph_place(&self, caller: &Caller) -> Result<GraphScope> {
        let scope = self.target(caller, None).await?;
        let categories = self.settings_of(caller).await?.categories;
        let visible = policy::visible_scope(caller, &scope, categories);
        Ok(GraphScope { scope, visible })
    }

    /// All records of the graph, oldest first.
    pub(super) async fn graph_records(&self, visible: &Visible) -> Result<Vec<Memory>> {
        let filter = Filter { tags: vec![GRAPH.to_owned()], ..Filter::at(self.now()) };
        let (mut records, mut after) = (Vec::new(), None);
        loop {
            let listing = self.store.scan(visible, &filter, Page { after, limit: RECORDS_PER_READ }).await?;
            records.extend(listing.memories);
            after = listing.next;
            if after.is_none() {
                break;
            }
        }
        records.reverse();
        Ok(records)
    }

    /// The live records with these keys.
    pub(super) async fn graph_held(
        &self,
        visible: &Visible,
        keys: impl IntoIterator<Item = ContentHash>,
    ) -> Result<Vec<Memory>> {
        let filter = Filter::at(self.now());
        let mut records = Vec::new();
        for twin in keys.into_iter().collect::<HashSet<_>>() {
            // More than one only when something forgotten was restored beside what took its place.
            let page = Page { after: None, limit: RECORDS_PER_READ };
            let filter = Filter { twin: Some(twin), ..filter.clone() };
            records.extend(self.store.scan(visible, &filter, page).await?.memories);
        }
        Ok(records)
    }
}

/// Assembles the graph from its records. Observations of a deleted entity are left out; entities that share a name,
/// because one was restored, are merged.
fn assemble(records: Vec<Memory>) -> Graph {
    let mut graph = Graph::default();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    let mut by_id: HashMap<MemoryId, usize> = HashMap::new();
    let mut said: Vec<(MemoryId, String)> = Vec::new();
    for memory in records {
        match GraphRecord::read(&memory) {
            Some(GraphRecord::Entity { name, entity_type }) => {
                let place = *by_name.entry(name.clone()).or_insert_with(|| {
                    graph.entities.push(GraphEntity { name, entity_type, observations: Vec::new() });
                    graph.entities.len() - 1
                });
                by_id.insert(memory.id, place);
            }
            Some(GraphRecord::Observation { of, text, .. }) => said.push((of, text)),
            Some(GraphRecord::Relation(relation)) => graph.relations.push(relation),
            None => {}
        }
    }
    for (of, text) in said {
        if let Some(place) = by_id.get(&of) {
            graph.entities[*place].observations.push(text);
        }
    }
    graph
}

/// Keeps the selected entities, and the relations that start or end at one of them.
fn only(mut graph: Graph, is_selected: impl Fn(&GraphEntity) -> bool) -> Graph {
    graph.entities.retain(is_selected);
    let names: HashSet<&String> = graph.entities.iter().map(|entity| &entity.name).collect();
    graph.relations.retain(|relation| names.contains(&relation.from) || names.contains(&relation.to));
    graph
}
