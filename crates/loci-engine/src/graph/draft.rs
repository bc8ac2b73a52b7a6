//! Computes the records that a call adds to the graph.
//!
//! Pure: existing records go in, new ones come out in the order of the call. A draft knows what it has added itself,
//! so one call cannot add the same record twice; only an observation that one list repeats is kept as often as it is
//! given.

use std::collections::{BTreeMap, HashMap, HashSet};

use loci_types::{ContentHash, Memory, MemoryId};

use super::GraphRelation;
use super::record::{GraphRecord, entity_key};

/// Parts that are there, and parts that are to come.
#[derive(Debug, Default)]
pub(super) struct GraphDraft {
    /// The records by their keys.
    held: HashMap<ContentHash, MemoryId>,
    /// Those that are new.
    fresh: HashSet<MemoryId>,
    /// What is to be added.
    pub(super) added: Vec<(MemoryId, GraphRecord)>,
    /// Entities that were there and get something new, with the last of it.
    pub(super) observed: BTreeMap<MemoryId, MemoryId>,
}

impl GraphDraft {
    /// Takes note of what is there.
    pub(super) fn hold(&mut self, memories: &[Memory]) {
        for memory in memories {
            if let Some(part) = GraphRecord::read(memory) {
                // Of two entities with the same name the older counts, whatever their order.
                let held = self.held.entry(part.key()).or_insert(memory.id);
                *held = memory.id.min(*held);
            }
        }
    }

    /// The record of the entity with this name.
    pub(super) fn entity(&self, name: &str) -> Option<MemoryId> {
        self.held.get(&entity_key(name)).copied()
    }

    /// Adds an entity under this id; false if its name is taken.
    pub(super) fn name(&mut self, id: MemoryId, name: &str, entity_type: &str) -> bool {
        self.add(id, GraphRecord::Entity { name: name.to_owned(), entity_type: entity_type.to_owned() })
    }

    /// Adds a relation; false if it is there.
    pub(super) fn relate(&mut self, id: MemoryId, relation: &GraphRelation) -> bool {
        self.add(id, GraphRecord::Relation(relation.clone()))
    }

    /// Adds the observations that the entity does not have yet, and returns them.
    pub(super) fn observe(
        &mut self,
        of: MemoryId,
        name: &str,
        texts: &[String],
        mut new_id: impl FnMut() -> MemoryId,
    ) -> Vec<String> {
        let known: HashSet<&String> =
            texts.iter().filter(|text| self.held.contains_key(&said(of, name, text, 0).key())).collect();
        let mut times: HashMap<&String, usize> = HashMap::new();
        let mut new = Vec::new();
        for text in texts.iter().filter(|text| !known.contains(text)) {
            let repeat = times.entry(text).or_default();
            let id = new_id();
            if self.add(id, said(of, name, text, *repeat)) {
                new.push(text.clone());
                if !self.fresh.contains(&of) {
                    self.observed.insert(of, id);
                }
            }
            *repeat += 1;
        }
        new
    }

    fn add(&mut self, id: MemoryId, part: GraphRecord) -> bool {
        let key = part.key();
        if self.held.contains_key(&key) {
            return false;
        }
        self.held.insert(key, id);
        self.fresh.insert(id);
        self.added.push((id, part));
        true
    }
}

/// The keys under which these observations of an entity would lie.
pub(super) fn keys_of(of: MemoryId, texts: &[String]) -> impl Iterator<Item = ContentHash> {
    let mut times: HashMap<&String, usize> = HashMap::new();
    texts.iter().map(move |text| {
        let repeat = times.entry(text).or_default();
        *repeat += 1;
        said(of, "", text, *repeat - 1).key()
    })
}

fn said(of: MemoryId, name: &str, text: &str, repeat: usize) -> GraphRecord {
    GraphRecord::Observation { name: name.to_owned(), of, text: text.to_owned(), repeat }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> MemoryId {
        MemoryId(Uuid::from_u128(number))
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_list_may_repeat_itself_but_not_what_is_known() {
        let mut draft = GraphDraft::default();
        let mut next = 10;
        let mut check = |given: &[&str], expect: &[&str]| {
            let new = || {
                next += 1;
                id(next)
            };
            assert_eq!(draft.observe(id(1), "Ana", &texts(given), new), texts(expect), "{given:?}");
        };
        check(&["x", "x", "y"], &["x", "x", "y"]);
        check(&["x", "y", "z", "z"], &["z", "z"]);
        check(&["x", "y", "z"], &[]);
        check(&[], &[]);
        assert_eq!(draft.added.len(), 5);
        assert_eq!(draft.observed.into_iter().collect::<Vec<_>>(), [(id(1), draft.added[4].0)]);
    }

    #[test]
    fn a_name_is_taken_once() {
        let mut draft = GraphDraft::default();
        assert!(draft.name(id(1), "Ana", "person"));
        assert!(!draft.name(id(2), "Ana", "robot"));
        assert!(draft.name(id(3), "ana", "person"));
        assert_eq!((draft.entity("Ana"), draft.entity("Bob")), (Some(id(1)), None));
        // Observations of a new entity do not change an existing one.
        draft.observe(id(1), "Ana", &texts(&["x"]), || id(4));
        assert!(draft.observed.is_empty());
    }

    #[test]
    fn the_keys_asked_for_are_the_keys_used() {
        let mut draft = GraphDraft::default();
        let given = texts(&["x", "y", "x"]);
        let mut next = 10;
        draft.observe(id(1), "Ana", &given, || {
            next += 1;
            id(next)
        });
        let used: Vec<ContentHash> = draft.added.iter().map(|(_, part)| part.key()).collect();
        assert_eq!(keys_of(id(1), &given).collect::<Vec<_>>(), used);
    }
}
