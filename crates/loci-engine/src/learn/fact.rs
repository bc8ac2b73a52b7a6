//! Facts as triples: subject, predicate and object.
//!
//! **Invariant:** a triple exists once in its scope, under an id derived from its content; stating it again finds it.
//! It is stated by a caller, or learned with a memory, which becomes its source. The store decides visibility: a
//! triple with sources is visible to callers who see a source, one without sources to callers who see all of its
//! scope.

use jiff::Timestamp;
use loci_types::{
    Action, Batch, Error, ErrorKind, Fact, FactFilter, FactId, Layer, MemoryId, MemoryRef, Outcome, Scope, Visible,
    unit,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::learn::extract::Claim;
use crate::{Engine, Result};

/// Maximum number of triples in one answer: a page, and one more that shows that another page follows.
const MAX_LISTED_FACTS: usize = 1_001;
/// Maximum number of sources that a call gives to a triple.
const MAX_SOURCES: usize = 100;

/// A triple to state. Only its three words are required.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct NewFact {
    /// The layer. Default: that of the sources, or the most specific one that the identifiers allow.
    pub layer: Option<Layer>,
    /// The category of the fact. Default: `fact`.
    pub fact_type: Option<String>,
    /// What it is about.
    pub subject: String,
    /// Which side of it.
    pub predicate: String,
    /// The object.
    pub object: String,
    /// The confidence, 0 to 1. Default: 1.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
    /// Anything else, by name; null takes a field away.
    pub metadata: Map<String, Value>,
    /// The memories that it was learned from, all of one scope.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub sources: Vec<MemoryRef>,
}

/// What became of a triple that was stated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StatedFact {
    /// What happened: created, updated, or nothing.
    pub event: Outcome,
    /// The triple as it is now.
    pub fact: Fact,
    /// What was masked before it was stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// Which triples are asked for: those with all of what is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactRequest {
    /// Of this sort.
    pub fact_type: Option<String>,
    /// About this.
    pub subject: Option<String>,
    /// About this side.
    pub predicate: Option<String>,
    /// That say this.
    pub object: Option<String>,
    /// Also those that no longer hold.
    pub include_past: bool,
    /// Number of triples to skip from the start of the list.
    pub offset: usize,
    /// Maximum number of triples. Default: 100.
    pub limit: Option<usize>,
}

impl Engine {
    /// States a triple. When it returns, it is durable.
    pub async fn state_fact(&self, caller: &Caller, mut new: NewFact) -> Result<StatedFact> {
        policy::require_writer(caller)?;
        let mut pass = Pass::strict(&self.redactor);
        pass.fact(&mut new)?;
        let redacted = pass.found();
        self.check_fact(&new)?;
        let visible = self.visible_by_id(caller).await?;
        let sources = self.resolve_ids(caller, &new.sources).await.map_err(|error| match error {
            crate::Error::Word(error) => error.at("sources").into(),
            other => other,
        })?;
        let scope = self.scope_of_fact(caller, &visible, new.layer, &sources).await?;
        let now = self.now();
        let fact_type = new.fact_type.unwrap_or_else(|| "fact".to_owned());
        let fact = Fact {
            id: fact_id(&scope, [&fact_type, &new.subject, &new.predicate, &new.object]),
            layer: scope.layer(),
            identifiers: scope.identifiers(),
            fact_type,
            subject: new.subject,
            predicate: new.predicate,
            object: new.object,
            confidence: new.confidence.unwrap_or(1.0),
            metadata: new.metadata,
            sources,
            created_at: now,
            updated_at: now,
        };
        let known = FactFilter { id: Some(fact.id), include_past: true, ..FactFilter::at(now) };
        let before = self.store.facts(&visible, &known, 1).await?;
        let change = self.change(caller, "hotpath", "stated", Action::State(Box::new(fact.clone())));
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: vec![change] };
        let applied = self.apply(batch).await?;
        let after = self.store.facts(&visible, &known, 1).await?.pop();
        // What the caller could not see before is new to them, or the answer would tell that it was there.
        let event = match (before.is_empty(), applied.first()) {
            (false, Some(applied)) => applied.outcome,
            _ => Outcome::Created,
        };
        Ok(StatedFact { event, fact: after.unwrap_or(fact), redacted })
    }

    /// The triples that are asked for, the surest first, then the latest changed.
    pub async fn facts(&self, caller: &Caller, request: FactRequest) -> Result<Vec<Fact>> {
        let limit = request.limit.unwrap_or(100);
        bounds::between("limit", limit, 1, MAX_LISTED_FACTS)?;
        let visible = self.visible(caller, None).await?;
        let filter = FactFilter {
            id: None,
            fact_type: request.fact_type,
            subject: request.subject,
            predicate: request.predicate,
            object: request.object,
            include_past: request.include_past,
            now: self.now(),
        };
        let mut found = self.store.facts(&visible, &filter, request.offset.saturating_add(limit)).await?;
        found.drain(..request.offset.min(found.len()));
        Ok(found)
    }

    /// One triple by its id, also one that no longer holds.
    pub async fn fact(&self, caller: &Caller, id: FactId) -> Result<Fact> {
        let visible = self.visible_by_id(caller).await?;
        self.find_fact(&visible, id).await
    }

    async fn find_fact(&self, visible: &Visible, id: FactId) -> Result<Fact> {
        let known = FactFilter { id: Some(id), include_past: true, ..FactFilter::at(self.now()) };
        self.store.facts(visible, &known, 1).await?.pop().ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("no fact {id} is visible here"))
                .at("id")
                .hint("`loci fact list` shows what is visible with these identifiers")
                .into()
        })
    }

    /// Takes a triple back. The memories that it was learned from stay as they are.
    pub async fn retract_fact(&self, caller: &Caller, id: FactId, reason: Option<&str>) -> Result<Fact> {
        policy::require_writer(caller)?;
        bounds::short("reason", reason, bounds::REFERENCE)?;
        let visible = self.visible_by_id(caller).await?;
        let fact = self.find_fact(&visible, id).await?;
        let scope = fact.scope()?;
        let action = Action::Retract { scope: scope.clone(), id };
        self.apply_one(caller, &scope, reason.unwrap_or("retracted"), action).await?;
        Ok(fact)
    }

    fn check_fact(&self, new: &NewFact) -> Result<()> {
        let sort = new.fact_type.as_deref().unwrap_or("fact");
        let words =
            [("factType", sort), ("subject", &new.subject), ("predicate", &new.predicate), ("object", &new.object)];
        for (field, text) in words {
            if text.trim().is_empty() {
                return Err(Error::invalid(field, format!("{field} is empty")).hint("shorten it").into());
            }
        }
        bounds::key(&words)?;
        if let Some(confidence) = new.confidence {
            unit("confidence", confidence)?;
        }
        bounds::between("sources", new.sources.len(), 0, MAX_SOURCES)?;
        self.check_metadata(&new.metadata)
    }

    /// Where a triple belongs: with its sources, which the caller sees and which are no secret of their writer's.
    async fn scope_of_fact(
        &self,
        caller: &Caller,
        visible: &Visible,
        layer: Option<Layer>,
        sources: &[MemoryId],
    ) -> Result<Scope> {
        if sources.is_empty() {
            if visible.categories().is_some() {
                let message = "a credential with categories must name the source memories of a triple";
                return Err(Error::new(ErrorKind::Unauthorized, message).at("sources").into());
            }
            return Ok(policy::target(caller, layer)?);
        }
        let found = self.store.fetch(visible, sources).await?;
        if let Some(unknown) = sources.iter().find(|id| found.iter().all(|memory| memory.id != **id)) {
            let message = format!("no memory {unknown} is visible here");
            return Err(Error::new(ErrorKind::NotFound, message).at("sources").into());
        }
        if let Some(private) = found.iter().find(|memory| memory.access_policy.writer_only()) {
            let message =
                format!("memory {} is for its writer alone, and a triple is for all of its scope", private.id);
            return Err(Error::invalid("sources", message).hint("leave it out, or share the memory").into());
        }
        let scope = found[0].scope()?;
        for memory in &found {
            if memory.scope()? != scope {
                return Err(Error::invalid("sources", "the sources belong to different scopes")
                    .hint("state the triple once for each scope")
                    .into());
            }
        }
        match layer {
            Some(layer) if layer != scope.layer() => {
                Err(Error::invalid("layer", format!("the sources belong to the layer {}", scope.layer())).into())
            }
            _ => Ok(scope),
        }
    }

    /// The triple that a memory claims; none where it denies something, or says it in too many words.
    pub(crate) fn triple(
        &self,
        scope: &Scope,
        kind: &str,
        claim: Option<&Claim>,
        (source, confidence): (MemoryId, f64),
        at: Timestamp,
    ) -> Option<Action> {
        let claim = claim.filter(|claim| !claim.negated)?;
        let mut words = [kind.to_owned(), claim.about.clone(), claim.attribute.to_owned(), claim.said.clone()];
        let mut pass = Pass::quiet(&self.redactor);
        for word in &mut words {
            pass.text("fact", word).ok()?;
        }
        let [fact_type, subject, predicate, object] = words;
        bounds::key(&[("factType", &fact_type), ("subject", &subject), ("predicate", &predicate), ("object", &object)])
            .ok()?;
        Some(Action::State(Box::new(Fact {
            id: fact_id(scope, [&fact_type, &subject, &predicate, &object]),
            layer: scope.layer(),
            identifiers: scope.identifiers(),
            fact_type,
            subject,
            predicate,
            object,
            confidence: confidence.clamp(0.0, 1.0),
            metadata: Map::new(),
            sources: vec![source],
            created_at: at,
            updated_at: at,
        })))
    }
}

/// The id of a triple: the same for the same words in the same scope.
fn fact_id(scope: &Scope, words: [&str; 4]) -> FactId {
    let mut hasher = blake3::Hasher::new();
    for part in std::iter::once(scope.key().as_str()).chain(words) {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    FactId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use loci_types::Identifiers;

    use super::*;

    #[test]
    fn an_id_says_whose_it_is_and_what_it_says() {
        let user = |name: &str| {
            let identifiers = Identifiers { user_id: Some(name.into()), ..Identifiers::default() };
            Scope::new(Layer::User, &identifiers).unwrap()
        };
        let id = fact_id(&user("ana"), ["fact", "a", "b", "c"]);
        assert_eq!(id, fact_id(&user("ana"), ["fact", "a", "b", "c"]));
        for other in [
            fact_id(&user("ben"), ["fact", "a", "b", "c"]),
            fact_id(&user("ana"), ["uses", "a", "b", "c"]),
            fact_id(&user("ana"), ["fact", "ab", "", "c"]),
            fact_id(&user("ana"), ["fact", "a", "c", "b"]),
        ] {
            assert_ne!(id, other);
        }
        assert_eq!(id.0.get_version_num(), 8);
    }
}
