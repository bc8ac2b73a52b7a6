//! Consent: sensitive statements that were learned are proposed to their user before they hold.
//!
//! A proposal is a memory that recall does not return, until its user accepts or rejects it or it expires. Statements
//! that are not sensitive hold once they were observed often enough. What a user states explicitly needs no consent.
//! Every decision is recorded in the ledger.

use jiff::Timestamp;
use loci_store::Page;
use loci_types::{
    Action, Addition, Batch, ContentHash, Error, ErrorKind, Filter, Memory, MemoryId, Patch, Receipt, Relation,
    Revision, Right, Scope, State, Visible,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::access::policy::{self, Caller};
use crate::learn::extract::{Claim, Extraction, LearningCandidate};
use crate::lifecycle::rules::state::days_after;
use crate::write::reconcile::write::{analyse, statement};
use crate::write::reconcile::{Decision, claim_key, reconcile};
use crate::write::remember::receipt;
use crate::{Engine, Result};

/// The metadata field of a proposal that describes its subject.
const CONSENT: &str = "consent";
/// Number of proposals that are read from the store at once.
pub(crate) const PROPOSALS_PER_READ: usize = 1_000;

/// The subject of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProposalSubject {
    /// The field of the user that it reveals; `import` for a memory of a quarantined import.
    pub field: String,
    /// Whether a decision is required; otherwise it holds after enough observations.
    pub sensitive: bool,
    /// Number of observations.
    pub signals: u32,
}

/// A statement that waits for consent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The proposed memory.
    pub memory: Memory,
    /// Its subject.
    #[serde(flatten)]
    pub asked: ProposalSubject,
    /// When it expires. Null for a memory of a quarantined import, which waits until someone decides.
    #[cfg_attr(feature = "schema", schema(required))]
    pub lapses_at: Option<Timestamp>,
}

/// The result of the consent check.
pub(crate) struct ConsentOutcome {
    /// The changes.
    pub(crate) actions: Vec<Action>,
    /// Why.
    pub(crate) reason: String,
    /// Whether there is a new proposal.
    pub(crate) new: bool,
}

/// A proposal of the current consolidation.
pub(crate) struct PendingProposal {
    pub(crate) id: MemoryId,
    pub(crate) hash: ContentHash,
    pub(crate) claim: Option<Claim>,
    pub(crate) asked: ProposalSubject,
}

impl PendingProposal {
    /// Whether a statement repeats it.
    fn is_same(&self, claim: Option<&Claim>, memory: &Memory) -> bool {
        let value = |claim: &Claim| (claim.subject.clone(), claim.attribute, claim.value.clone());
        self.hash == memory.content_hash || claim.is_some() && self.claim.as_ref().map(value) == claim.map(value)
    }

    /// Whether a statement gives another value of a single-valued attribute.
    fn is_replaced_by(&self, claim: Option<&Claim>) -> bool {
        let (Some(own), Some(claim)) = (&self.claim, claim) else { return false };
        claim.single && own.subject == claim.subject && own.attribute == claim.attribute
    }
}

impl Engine {
    /// Lists all proposals that wait for a decision, oldest first.
    pub async fn proposals(&self, caller: &Caller) -> Result<Vec<Proposal>> {
        let visible = self.visible(caller, None).await?;
        let (filter, mut after, mut found) = (proposed(self.now()), None, Vec::new());
        loop {
            let listing = self.store.scan(&visible, &filter, Page { after, limit: PROPOSALS_PER_READ }).await?;
            found.extend(listing.memories);
            after = listing.next;
            if after.is_none() {
                break;
            }
        }
        found.reverse();
        Ok(found.into_iter().map(proposal).collect())
    }

    /// Reads one proposal that waits for a decision.
    pub async fn proposal(&self, caller: &Caller, id: MemoryId) -> Result<Proposal> {
        let visible = self.visible_by_id(caller).await?;
        let memory = self.one(&visible, id).await?;
        if memory.state != State::Proposed {
            let message = format!("no proposal {id} is visible here");
            return Err(loci_types::Error::new(ErrorKind::NotFound, message).at("id").into());
        }
        Ok(proposal(memory))
    }

    /// Accepts a proposal: it holds from now on, and replaces what it contradicts.
    pub async fn accept(&self, caller: &Caller, id: MemoryId) -> Result<Receipt> {
        policy::require_writer(caller)?;
        policy::require_right(caller, Right::Consent)?;
        let visible = self.visible_by_id(caller).await?;
        let memory = self.one(&visible, id).await?;
        if memory.state == State::Proposed && memory.purge_at.is_some_and(|lapsed| lapsed <= self.now()) {
            return Err(loci_types::Error::new(ErrorKind::InvalidInput, format!("proposal {id} has lapsed"))
                .at("id")
                .hint("store it again with `loci remember`")
                .into());
        }
        let statement = statement(&memory);
        let claim = statement.reading.claim().map(claim_key);
        let scope = memory.scope()?;
        let model = self.model().map_or("", |model| &model.name);
        let vector = self.store.vectors(&visible, model, &[id]).await?.pop().map(|(_, vector)| vector);
        let addition = Addition { claim, vector, ..Addition::new(memory.clone()) };
        let known = self
            .neighbours(&policy::visible_scope(caller, &scope, visible.categories().cloned()), &addition, Some(id))
            .await?;
        let decision = reconcile(&statement, &known, &self.config.bands);
        let (accept, over, reason) = match &decision {
            Decision::Skip { .. } => (false, None, "consented, and already stored".to_owned()),
            Decision::Add { .. } | Decision::AddAsHistory { .. } => (true, None, "consented".to_owned()),
            Decision::Supersede { old, reason, .. } => (true, Some(*old), format!("consented; {reason}")),
        };
        let receipt = self.decide(caller, &memory, accept, over, &reason).await?;
        if accept {
            let links = self.relations(&addition, &known, &decision);
            let changes = links.into_iter().map(|link| self.change(caller, "operator", decision.reason(), link));
            let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: changes.collect() };
            if !batch.changes.is_empty() {
                self.apply(batch).await?;
            }
        }
        Ok(receipt)
    }

    /// Rejects a proposal: it never holds.
    pub async fn reject(&self, caller: &Caller, id: MemoryId, reason: Option<&str>) -> Result<Receipt> {
        policy::require_writer(caller)?;
        policy::require_right(caller, Right::Consent)?;
        let visible = self.visible_by_id(caller).await?;
        let memory = self.one(&visible, id).await?;
        crate::access::bounds::short("reason", reason, crate::access::bounds::REFERENCE)?;
        self.decide(caller, &memory, false, None, reason.unwrap_or("rejected")).await
    }

    async fn decide(
        &self,
        caller: &Caller,
        memory: &Memory,
        accept: bool,
        over: Option<MemoryId>,
        reason: &str,
    ) -> Result<Receipt> {
        if memory.state != State::Proposed {
            return Err(loci_types::Error::new(
                ErrorKind::InvalidInput,
                format!("memory {} is {} and not a proposal", memory.id, memory.state),
            )
            .at("id")
            .hint("`loci consent list` lists the proposals")
            .into());
        }
        let purge_at = days_after(self.now(), i64::from(self.config.lifecycle.purge_days));
        let mut actions = vec![Action::Decide { id: memory.id, accept, over, purge_at }];
        let scope = memory.scope()?;
        if accept {
            actions.push(consented(memory.id));
            let source = (memory.id, memory.confidence);
            for claim in &analyse(memory).claims {
                actions.extend(self.triple(&scope, memory.kind.name(), Some(claim), source, self.now()));
            }
            actions
                .extend(self.sources_of(&scope, caller, memory.id).await?.into_iter().map(|id| Action::Restore { id }));
        }
        let space = scope.space();
        let changes = actions.into_iter().map(|action| self.change(caller, "operator", reason, action)).collect();
        let applied = self.apply(Batch { tenant: caller.tenant.clone(), space, changes }).await?;
        receipt(applied.first(), false, false)
    }

    /// The archived turns that a memory was learned from.
    async fn sources_of(&self, scope: &Scope, caller: &Caller, id: MemoryId) -> Result<Vec<MemoryId>> {
        let visible = policy::visible_for_maintenance(&caller.tenant, scope);
        let edges =
            self.store.edges(&visible, &Filter::everything(self.now()), &[id], &[Relation::DerivedFrom]).await?;
        let ids: Vec<MemoryId> = edges.iter().filter(|edge| edge.source_id == id).map(|edge| edge.target_id).collect();
        let sources = self.store.fetch(&visible, &ids).await?;
        Ok(sources.iter().filter(|turn| turn.state == State::Archived).map(|turn| turn.id).collect())
    }

    /// Whether a statement reveals something that its speaker must agree to.
    fn is_sensitive(&self, candidate: &LearningCandidate) -> bool {
        let rules = &self.config.consent;
        rules.enabled
            && !candidate.requested
            && candidate.field.is_some_and(|field| rules.sensitive.iter().any(|listed| listed == field))
    }

    /// Removes the mentions of sentences that wait for consent: they wait with them.
    pub(crate) fn withhold_names(&self, found: &mut Extraction) {
        for candidate in found.candidates.iter().filter(|one| self.is_sensitive(one)) {
            for (_, mentions) in found.mentions.iter_mut().filter(|(turn, _)| candidate.from.contains(turn)) {
                mentions.retain(|mention| !candidate.content.contains(&mention.name));
            }
        }
    }

    /// The field that needs consent before this statement holds, if any.
    pub(crate) async fn consent_needed(
        &self,
        visible: &Visible,
        pending: &mut Vec<PendingProposal>,
        candidate: &LearningCandidate,
        addition: &Addition,
        decision: &Decision,
    ) -> Result<Option<ConsentOutcome>> {
        let rules = &self.config.consent;
        let at = addition.memory.created_at;
        let Some(field) = candidate.field.filter(|_| rules.enabled && !candidate.requested) else { return Ok(None) };
        let listed = |list: &[String]| list.iter().any(|listed| listed == field);
        let sensitive = listed(&rules.sensitive);
        if !sensitive && !listed(&rules.benign) {
            return Ok(None);
        }
        let claim = candidate.claims.iter().find(|claim| claim.single).or(candidate.claims.first());
        let filter = Filter { claim: claim.map(claim_key), ..proposed(at) };
        let page = Page { after: None, limit: PROPOSALS_PER_READ };
        let mut waiting: Vec<PendingProposal> =
            self.store.scan(visible, &filter, page).await?.memories.iter().filter_map(waiting).collect();
        waiting.retain(|stored| pending.iter().all(|one| one.id != stored.id));
        waiting.append(pending);
        let (mut same, other): (Vec<PendingProposal>, Vec<PendingProposal>) =
            waiting.into_iter().partition(|one| one.is_same(claim, &addition.memory));
        let over = match decision {
            Decision::Supersede { old, .. } => Some(*old),
            _ => None,
        };
        let purge_at = days_after(at, i64::from(self.config.lifecycle.purge_days));
        if let Some(mut one) = same.pop() {
            one.asked.signals += 1;
            let mut actions = vec![signalled(&one)];
            let known = !one.asked.sensitive && one.asked.signals >= rules.signals;
            let reason = if known {
                actions.push(Action::Decide { id: one.id, accept: true, over, purge_at });
                actions.push(consented(one.id));
                let (scope, source) = (addition.memory.scope()?, (one.id, addition.memory.confidence));
                actions.extend(self.triple(&scope, addition.memory.kind.name(), claim, source, at));
                format!("{field} was mentioned {} times", one.asked.signals)
            } else {
                pending.push(one);
                format!("{field} was mentioned again")
            };
            pending.extend(other);
            return Ok(Some(ConsentOutcome { actions, reason, new: false }));
        }
        let mut actions = Vec::new();
        for one in other {
            // Of two that contradict each other only the later is still worth asking.
            if one.is_replaced_by(claim) {
                actions.push(Action::Decide { id: one.id, accept: false, over: None, purge_at });
            } else {
                pending.push(one);
            }
        }
        let asked = ProposalSubject { field: field.to_owned(), sensitive, signals: 1 };
        let mut addition = addition.clone();
        addition.memory.state = State::Proposed;
        addition.memory.purge_at = Some(days_after(at, i64::from(rules.days)));
        addition.memory.metadata.insert(CONSENT.to_owned(), json!(asked));
        addition.unless = None;
        let (id, hash) = (addition.memory.id, addition.memory.content_hash);
        actions.push(Action::Add(Box::new(addition)));
        for turn in &candidate.from {
            actions.push(Action::Link(self.edge(id, *turn, Relation::DerivedFrom, 1.0, at)));
            // The turn with a statement that waits for consent is not returned either.
            if sensitive {
                let (confidence, relevance, purge_at) = (None, None, None);
                actions.push(Action::Fade { id: *turn, state: State::Archived, confidence, relevance, purge_at });
            }
        }
        pending.push(PendingProposal { id, hash, claim: claim.cloned(), asked });
        Ok(Some(ConsentOutcome { actions, reason: format!("{field} needs consent"), new: true }))
    }
}

/// A filter for proposals.
pub(crate) fn proposed(at: Timestamp) -> Filter {
    Filter { states: vec![State::Proposed], ..Filter::at(at) }
}

fn signalled(one: &PendingProposal) -> Action {
    let metadata = Some(Map::from_iter([(CONSENT.to_owned(), json!(one.asked))]));
    let patch = Patch { metadata, ..Patch::default() };
    Action::Revise(Box::new(Revision { id: one.id, expect: None, patch, vector: None, jobs: Vec::new() }))
}

/// Clears the request for consent.
fn consented(id: MemoryId) -> Action {
    let metadata = Some(Map::from_iter([(CONSENT.to_owned(), Value::Null)]));
    let patch = Patch { metadata, ..Patch::default() };
    Action::Revise(Box::new(Revision { id, expect: None, patch, vector: None, jobs: Vec::new() }))
}

/// Describes a proposal that did not come from a conversation, and that waits for a decision.
pub(crate) fn ask(memory: &mut Memory, field: &str) {
    let asked = ProposalSubject { field: field.to_owned(), sensitive: true, signals: 1 };
    memory.metadata.insert(CONSENT.to_owned(), json!(asked));
}

/// Refuses a change of a proposal by a caller who may not decide on it: to delete it is to reject it, and to change its text
/// is to change what is accepted.
pub(crate) fn require_decision(caller: &Caller, memory: &Memory) -> Result<(), Error> {
    match memory.state {
        State::Proposed => policy::require_right(caller, Right::Consent),
        _ => Ok(()),
    }
}

/// Refuses to restore a memory that was proposed and not accepted.
pub(crate) fn require_accepted(memory: &Memory) -> Result<(), Error> {
    if memory.state != State::SoftDeleted || !is_asked(memory) {
        return Ok(());
    }
    let message = format!("memory {} was proposed and not accepted", memory.id);
    Err(Error::invalid("id", message).hint("store it again with `loci remember`"))
}

/// Refuses new metadata that would hide that a memory was proposed.
pub(crate) fn require_mark_untouched(memory: &Memory, metadata: Option<&Map<String, Value>>) -> Result<(), Error> {
    if !is_asked(memory) || !metadata.is_some_and(|metadata| metadata.contains_key(CONSENT)) {
        return Ok(());
    }
    Err(Error::invalid("metadata", format!("metadata.{CONSENT} of a proposal is reserved"))
        .hint("`loci consent accept` or `loci consent reject` decides on it"))
}

/// Whether a memory was proposed and never accepted.
pub(crate) fn is_asked(memory: &Memory) -> bool {
    memory.metadata.contains_key(CONSENT)
}

fn asked(memory: &Memory) -> Option<ProposalSubject> {
    serde_json::from_value(memory.metadata.get(CONSENT).cloned().unwrap_or(Value::Null)).ok()
}

fn waiting(memory: &Memory) -> Option<PendingProposal> {
    Some(PendingProposal {
        id: memory.id,
        hash: memory.content_hash,
        claim: analyse(memory).claim().cloned(),
        asked: asked(memory)?,
    })
}

fn proposal(memory: Memory) -> Proposal {
    let unknown = || ProposalSubject { field: "unknown".to_owned(), sensitive: true, signals: 1 };
    Proposal { asked: asked(&memory).unwrap_or_else(unknown), lapses_at: memory.purge_at, memory }
}
