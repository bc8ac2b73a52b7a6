//! The nine tools of the official memory server.
//!
//! Names, arguments and answers are those of that server: indented JSON as text, and the same as structured content.
//! Unlike there, an answer is limited: beyond [`MOST`] tokens whole entities are left out, and a second text says so.

use loci_engine::pack::tokens::count_tokens;
use loci_engine::{AddedObservations, Graph, GraphEntity, GraphRelation};
use loci_types::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::schema;
use crate::mcp::tool::{Effect, Tool, read};

/// The most tokens of an answer's text.
const MOST: usize = 25_000;

/// One line of the table, with the shape of the answer.
macro_rules! graph_tool {
    ($name:literal, $title:literal, $role:ident, $effect:ident, $operation:literal,
     $input:ty => $run:path => $output:ty, $description:literal) => {
        Tool {
            name: $name,
            title: $title,
            description: $description,
            input: schema::of::<$input>,
            rare: &[],
            output: Some(schema::of::<$output>),
            effect: Effect::$effect,
            role: Role::$role,
            operation: $operation,
            run: |call, arguments| Box::pin(async move { $run(call, read::<$input>(arguments)?).await }),
        }
    };
}

/// The nine tools.
pub(super) const TOOLS: &[Tool] = &[
    graph_tool!(
        "create_entities", "Create entities", Writer, Adds, "addMemories",
        Entities => create_entities => Entities,
        "Add entities with their observations. Existing names are skipped; only the new ones are \
         returned."
    ),
    graph_tool!(
        "create_relations", "Create relations", Writer, Adds, "addMemories",
        Relations => create_relations => Relations,
        "Add relations between entities, worded actively (`works at`). Existing relations are skipped; \
         only the new ones are returned."
    ),
    graph_tool!(
        "add_observations", "Add observations", Writer, Adds, "addMemories",
        Observations => add_observations => AddedObservationList,
        "Add observations to existing entities. Known observations are skipped; returns what was added \
         to each."
    ),
    graph_tool!(
        "delete_entities", "Delete entities", Writer, Removes, "deleteMemories",
        Names => delete_entities => DeletionAnswer,
        "Delete entities by name, and every relation that starts or ends at them. Missing ones are ignored."
    ),
    graph_tool!(
        "delete_observations", "Delete observations", Writer, Removes, "deleteMemories",
        Deletions => delete_observations => DeletionAnswer,
        "Delete single observations of entities. Missing ones are ignored."
    ),
    graph_tool!(
        "delete_relations", "Delete relations", Writer, Removes, "deleteMemories",
        Relations => delete_relations => DeletionAnswer,
        "Delete relations that match exactly. Missing ones are ignored."
    ),
    graph_tool!(
        "read_graph", "Read graph", Reader, Reads, "listEntities",
        NoGraphArguments => read_graph => GraphAnswer,
        "Get every entity with its observations and every relation. For a large graph search_nodes is the better way."
    ),
    graph_tool!(
        "search_nodes", "Search nodes", Reader, Reads, "searchMemories",
        NodeSearch => search_nodes => GraphAnswer,
        "Find entities with a text in their name, type or observations, ignoring case, and their relations."
    ),
    graph_tool!(
        "open_nodes", "Open nodes", Reader, Reads, "getEntity",
        NodeNames => open_nodes => GraphAnswer,
        "Get the entities with exactly these names, with their relations."
    ),
];

/// An entity of the knowledge graph.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntityJson {
    /// Its unique name.
    name: String,
    /// Its type, such as `person`.
    entity_type: String,
    /// The statements about the entity.
    observations: Vec<String>,
}

/// A relation between two entities.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RelationJson {
    /// The name of the entity where it starts.
    from: String,
    /// The name of the entity where it ends.
    to: String,
    /// The type of the relation, in active voice, such as `works at`.
    relation_type: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Entities {
    entities: Vec<EntityJson>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Relations {
    relations: Vec<RelationJson>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Observations {
    observations: Vec<NewObservations>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NewObservations {
    /// The name of the entity.
    entity_name: String,
    /// The statements about the entity.
    contents: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Names {
    /// The names of the entities to delete.
    entity_names: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Deletions {
    deletions: Vec<EntityDeletions>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntityDeletions {
    /// The name of the entity.
    entity_name: String,
    /// The observations to delete.
    observations: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NoGraphArguments {}

#[derive(Debug, Deserialize, JsonSchema)]
struct NodeSearch {
    /// The text to look for.
    query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NodeNames {
    /// The names of the entities.
    names: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AddedObservationList {
    results: Vec<AddedToEntity>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AddedToEntity {
    entity_name: String,
    added_observations: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DeletionAnswer {
    success: bool,
    message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GraphAnswer {
    entities: Vec<EntityJson>,
    relations: Vec<RelationJson>,
}

impl From<EntityJson> for GraphEntity {
    fn from(given: EntityJson) -> Self {
        Self { name: given.name, entity_type: given.entity_type, observations: given.observations }
    }
}

impl From<RelationJson> for GraphRelation {
    fn from(given: RelationJson) -> Self {
        Self { from: given.from, to: given.to, relation_type: given.relation_type }
    }
}

fn relations(given: Relations) -> Vec<GraphRelation> {
    given.relations.into_iter().map(GraphRelation::from).collect()
}

async fn create_entities(call: &Call, given: Entities) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let entities = given.entities.into_iter().map(GraphEntity::from).collect();
    let made = call.run_operation(call.app.engine.graph_create_entities(&caller, entities)).await?;
    Ok(listed("entities", &made))
}

async fn create_relations(call: &Call, given: Relations) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let made = call.run_operation(call.app.engine.graph_create_relations(&caller, relations(given))).await?;
    Ok(listed("relations", &made))
}

async fn add_observations(call: &Call, given: Observations) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let said =
        |one: NewObservations| loci_engine::EntityObservations { entity_name: one.entity_name, contents: one.contents };
    let observed = given.observations.into_iter().map(said).collect();
    let work = call.app.engine.graph_add_observations(&caller, observed);
    let added: Vec<AddedObservations> = call.run_operation(work).await?;
    Ok(listed("results", &added))
}

async fn delete_entities(call: &Call, given: Names) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    call.run_operation(call.app.engine.graph_delete_entities(&caller, &given.entity_names)).await?;
    Ok(done("The entities and their relations are deleted."))
}

async fn delete_observations(call: &Call, given: Deletions) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let said = |one: EntityDeletions| loci_engine::EntityObservations {
        entity_name: one.entity_name,
        contents: one.observations,
    };
    let deletions: Vec<loci_engine::EntityObservations> = given.deletions.into_iter().map(said).collect();
    call.run_operation(call.app.engine.graph_delete_observations(&caller, &deletions)).await?;
    Ok(done("The observations are deleted."))
}

async fn delete_relations(call: &Call, given: Relations) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    call.run_operation(call.app.engine.graph_delete_relations(&caller, &relations(given))).await?;
    Ok(done("The relations are deleted."))
}

async fn read_graph(call: &Call, _: NoGraphArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    Ok(shown(call.run_operation(call.app.engine.graph_read(&caller)).await?))
}

async fn search_nodes(call: &Call, given: NodeSearch) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    Ok(shown(call.run_operation(call.app.engine.graph_search(&caller, &given.query)).await?))
}

async fn open_nodes(call: &Call, given: NodeNames) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    Ok(shown(call.run_operation(call.app.engine.graph_open(&caller, &given.names)).await?))
}

/// The whole graph, as the resource shows it.
pub(in crate::mcp) async fn whole(call: &Call) -> Result<String, Failure> {
    let caller = call.caller()?;
    let (graph, _) = fitting(call.run_operation(call.app.engine.graph_read(&caller)).await?, MOST);
    Ok(indented(&graph))
}

/// A list, which is the text by itself.
fn listed(name: &'static str, list: &impl Serialize) -> ToolAnswer {
    ToolAnswer::whole(json!({ name: list }), vec![indented(list)])
}

fn done(message: &str) -> ToolAnswer {
    ToolAnswer::whole(json!({ "success": true, "message": message }), vec![message.to_owned()])
}

fn shown(graph: Graph) -> ToolAnswer {
    let (graph, left) = fitting(graph, MOST);
    let mut texts = vec![indented(&graph)];
    if left > 0 {
        texts.push(format!(
            "{left} entities and their relations were left out because the answer would have more than {MOST} tokens. \
             Ask for less with search_nodes or open_nodes."
        ));
    }
    ToolAnswer::whole(json!(graph), texts)
}

/// As many entities as fit, with the relations of those that are shown, and how many do not.
fn fitting(mut graph: Graph, most: usize) -> (Graph, usize) {
    if count_tokens(&indented(&graph)) <= most {
        return (graph, 0);
    }
    let entities = std::mem::take(&mut graph.entities);
    let of = |count: usize| {
        let kept = entities[..count].to_vec();
        // A relation is shown if neither of its ends was left out.
        let gone: std::collections::HashSet<&str> = entities[count..].iter().map(|one| one.name.as_str()).collect();
        let is_shown = |one: &&GraphRelation| !gone.contains(one.from.as_str()) && !gone.contains(one.to.as_str());
        Graph { entities: kept, relations: graph.relations.iter().filter(is_shown).cloned().collect() }
    };
    let (mut least, mut over) = (0, entities.len());
    while least + 1 < over {
        let middle = usize::midpoint(least, over);
        match count_tokens(&indented(&of(middle))) <= most {
            true => least = middle,
            false => over = middle,
        }
    }
    let mut kept = of(least);
    // Relations alone may be too many as well.
    while count_tokens(&indented(&kept)) > most && !kept.relations.is_empty() {
        kept.relations.truncate(kept.relations.len() / 2);
    }
    (kept, entities.len() - least)
}

/// JSON with two spaces, as these clients know it.
fn indented(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_graph_is_cut_between_entities() {
        let entity = |n: usize| GraphEntity {
            name: format!("entity {n}"),
            entity_type: "thing".to_owned(),
            observations: vec!["is one of many".to_owned()],
        };
        let relation = |n: usize| GraphRelation {
            from: format!("entity {n}"),
            to: format!("entity {}", n + 1),
            relation_type: "comes before".to_owned(),
        };
        let graph = Graph { entities: (0..500).map(entity).collect(), relations: (0..499).map(relation).collect() };
        let (whole, none) = fitting(graph.clone(), 100_000);
        assert_eq!((whole, none), (graph.clone(), 0));
        let (cut, left) = fitting(graph.clone(), 5_000);
        assert_eq!(cut.entities.len() + left, 500);
        assert!(cut.entities.len() > 20 && cut.relations.len() == cut.entities.len() - 1);
        assert!(count_tokens(&indented(&cut)) <= 5_000);
        let (nothing, all) = fitting(graph, 10);
        assert_eq!((nothing.entities.len(), all), (0, 500));
    }
}
