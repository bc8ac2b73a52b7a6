//! The access policy: what a caller may see, and where a caller writes.
//!
//! Nothing else makes a [`Visible`], or a [`Caller`] from a credential. The policy fails closed: identifiers that
//! name no scope are refused with an error; an absent identifier narrows and never widens; identifiers outside the
//! bounds of the credential are refused. Everyone's data is read only by an admin who says so (`everyone`), or who names
//! one thing by its id. A pool is open to its members: a `poolId` without a [`Membership`] is
//! refused, whatever the layer.

use std::borrow::Cow;
use std::collections::BTreeSet;

use loci_store::tier::{SessionKey, WorkingKey};
use loci_types::{
    ANY, Error, ErrorKind, Grant, Identifier, Identifiers, Layer, Reach, RequestScope, Right, Role, Scope, Tenant,
    Visible, normalise,
};

/// The caller of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The tenant.
    pub tenant: Tenant,
    /// The identifiers of the request.
    pub identifiers: Identifiers,
    /// The actor, for the ledger and for memories that only their writer may see.
    pub actor: Option<String>,
    /// Whether the caller operates the tenant, and may see all of it.
    pub operator: bool,
    /// Whether the caller asks for everyone's data. Only operators may.
    pub everyone: bool,
    /// What the caller may do.
    pub role: Role,
    /// The categories that the credential allows. `None` if it allows all.
    pub categories: Option<BTreeSet<String>>,
    /// The agents that the credential is bound to. A caller who names no agent sees only what all of these agents may
    /// see.
    pub agents: BTreeSet<String>,
    /// The sessions that the credential is bound to. Empty: any.
    pub sessions: BTreeSet<String>,
    /// The pools that the credential is bound to. `None` if it reaches all pools of its agents.
    pub pools: Option<BTreeSet<String>>,
    /// What the caller may do besides what the role allows.
    pub rights: BTreeSet<Right>,
    /// Whether `poolId` was filled in from the credential and not named in the request. A caller who is not a member
    /// then sees everything except the pool.
    pub pool_implied: bool,
    /// The credential, for the ledger. `None` if the request had none.
    pub credential: Option<String>,
    /// The id of the request, for the ledger.
    pub request: Option<String>,
}

impl Caller {
    /// A caller of this process with identifiers, in the default tenant. It has all rights in its scope.
    pub fn new(identifiers: Identifiers) -> Self {
        Self {
            tenant: Tenant::default(),
            identifiers: identifiers.normalised(),
            actor: None,
            operator: false,
            everyone: false,
            role: Role::Writer,
            categories: None,
            agents: BTreeSet::new(),
            sessions: BTreeSet::new(),
            pools: None,
            rights: Right::ALL.into(),
            pool_implied: false,
            credential: None,
            request: None,
        }
    }

    /// The operator of the store, in the default tenant, who reads everyone's data. Only for work of this process: a
    /// request says itself what it is about ([`Caller::owner`]).
    pub fn operator() -> Self {
        Self { operator: true, everyone: true, role: Role::Admin, ..Self::new(Identifiers::default()) }
    }

    /// The owner of the data folder, or whoever asks an open server. With identifiers they reach that scope and nothing
    /// else; without, they operate the store, and read everyone's data if the request says so.
    pub fn owner(asked: impl Into<RequestScope>) -> Result<Self, Error> {
        let asked = one_scope(asked.into())?;
        if asked.identifiers.is_empty() {
            return Ok(Self { everyone: asked.everyone, ..Self::operator() });
        }
        Ok(Self::new(asked.identifiers))
    }

    /// The caller that a credential gives for these identifiers. Identifiers outside its bounds are refused. Without
    /// identifiers, those that the credential determines uniquely are filled in; otherwise only the user of an agent
    /// or a session is.
    pub fn admitted(grant: &Grant, credential: &str, asked: impl Into<RequestScope>) -> Result<Self, Error> {
        let RequestScope { identifiers: mut asked, everyone } = one_scope(asked.into())?;
        for which in Identifier::ALL {
            if let Some(value) = asked.get(which)
                && !grant.bounds.admits(which, value)
            {
                let message = format!("this credential does not reach {} `{value}`", which.field());
                return Err(Error::new(ErrorKind::Unauthorized, message)
                    .at(which.field())
                    .hint("ask with identifiers that the credential names, or with another credential"));
            }
        }
        let (nobody, pool_named) = (asked.is_empty(), asked.pool_id.is_some());
        let begun = asked.agent_id.is_some() || asked.session_id.is_some();
        for which in Identifier::ALL {
            let implied = nobody || which == Identifier::User && begun;
            if implied && asked.get(which).is_none() {
                asked.set(which, grant.bounds.single(which).map(str::to_owned));
            }
        }
        let operator = grant.role == Role::Admin && grant.bounds.is_open() && grant.categories.is_none();
        if everyone && !operator {
            return Err(Error::new(ErrorKind::Unauthorized, "only an admin reads everyone's data")
                .at("everyone")
                .hint("name a scope, such as userId (--user NAME), or use a credential with the role admin"));
        }
        let named = |values: &BTreeSet<String>| values.iter().filter(|one| *one != ANY).cloned().collect();
        Ok(Self {
            tenant: grant.tenant.clone(),
            operator,
            everyone,
            role: grant.role,
            categories: grant.categories.clone(),
            agents: named(&grant.bounds.agents),
            sessions: if grant.bounds.sessions.contains(ANY) { BTreeSet::new() } else { named(&grant.bounds.sessions) },
            pools: if grant.bounds.is_open() || grant.bounds.pools.contains(ANY) {
                None
            } else {
                Some(named(&grant.bounds.pools))
            },
            rights: grant.effective_rights(),
            pool_implied: asked.pool_id.is_some() && !pool_named,
            credential: Some(credential.to_owned()),
            ..Self::new(asked)
        })
    }

    /// The same caller in a tenant. Only an operator of the store may name another tenant than their own.
    pub fn within_tenant(self, tenant: Tenant) -> Result<Self, Error> {
        if tenant != self.tenant {
            require_store_operator(&self, "name another tenant")?;
        }
        Ok(Self { tenant, ..self })
    }

    /// The same caller, asking about one thing by its id or for counts: an operator who names no scope is understood to
    /// mean all of the tenant, because no content is read that was not named.
    pub(crate) fn by_id(&self) -> Cow<'_, Self> {
        if self.operator && self.identifiers.is_empty() && !self.everyone {
            return Cow::Owned(Self { everyone: true, ..self.clone() });
        }
        Cow::Borrowed(self)
    }
}

/// The scope of a request with names in their one spelling, if it names one scope or everyone and not both.
fn one_scope(asked: RequestScope) -> Result<RequestScope, Error> {
    asked.identifiers.validate()?;
    if asked.everyone && !asked.identifiers.is_empty() {
        return Err(Error::invalid("everyone", "everyone and identifiers exclude each other")
            .hint("name a scope, or ask for everyone's data"));
    }
    Ok(RequestScope { identifiers: asked.identifiers.normalised(), ..asked })
}

/// The pool of which the caller is a member, if they name one. Only a read of the store makes it, so no operation can
/// forget the check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Membership(Option<String>);

impl Membership {
    /// A membership of no pool.
    pub const NONE: Membership = Membership(None);

    /// A membership of this pool. Only `Engine::membership` may call this, after reading the store; a lint enforces
    /// it.
    pub(crate) fn of(pool: &str) -> Self {
        Self(Some(pool.to_owned()))
    }

    /// The effective identifiers: all of them if the caller is a member of the named pool. Another pool is refused;
    /// one that only the credential names is removed.
    fn admits<'c>(&self, caller: &'c Caller) -> Result<Cow<'c, Identifiers>, Error> {
        let given = &caller.identifiers;
        given.validate()?;
        match &given.pool_id {
            Some(pool) if self.0.as_deref() != Some(pool) => match caller.pool_implied {
                true => Ok(Cow::Owned(Identifiers { pool_id: None, ..given.clone() })),
                false => Err(not_a_member(pool)),
            },
            _ => Ok(Cow::Borrowed(given)),
        }
    }
}

/// The error for a caller who is not a member of a pool. It does not reveal whether the pool exists.
pub(crate) fn not_a_member(pool: &str) -> Error {
    Error::new(ErrorKind::Unauthorized, format!("pool `{pool}` is not open to this caller"))
        .at("poolId")
        .hint("only its members see a pool: give agentId (--agent NAME) of one, or ask the operator to let it join")
}

/// The categories that both sides allow. `None` if both allow all.
pub(crate) fn intersect_categories(
    one: Option<BTreeSet<String>>,
    other: Option<&BTreeSet<String>>,
) -> Option<BTreeSet<String>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersection(other).cloned().collect()),
        (one, other) => one.or_else(|| other.cloned()),
    }
}

/// Refuses a caller who may only read.
pub(crate) fn require_writer(caller: &Caller) -> Result<(), Error> {
    if caller.role >= Role::Writer {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unauthorized, "this credential may only read")
        .hint("use a credential with the role writer"))
}

/// What this caller sees, in these layers or in all that its identifiers allow, without pools.
pub fn visible(caller: &Caller, layers: Option<&[Layer]>) -> Result<Visible, Error> {
    visible_in(caller, &Membership::NONE, layers, None)
}

/// The same with the pool of the membership, and in these categories only.
#[expect(clippy::disallowed_methods, reason = "the policy is what decides")]
pub(crate) fn visible_in(
    caller: &Caller,
    membership: &Membership,
    layers: Option<&[Layer]>,
    categories: Option<BTreeSet<String>>,
) -> Result<Visible, Error> {
    let given = membership.admits(caller)?;
    let categories = intersect_categories(categories, caller.categories.as_ref());
    if caller.operator && caller.everyone && layers.is_none() && given.is_empty() {
        return Ok(Visible::grant(caller.tenant.clone(), Reach::Whole, categories, caller.actor.clone()));
    }
    let mut layers = layers.map_or_else(|| given.layers(), <[Layer]>::to_vec);
    layers.sort();
    layers.dedup();
    if layers.is_empty() {
        return Err(missing_identifier(&given));
    }
    let scopes = layers.iter().map(|layer| Scope::new(*layer, &given)).collect::<Result<Vec<_>, _>>()?;
    Ok(Visible::grant(caller.tenant.clone(), Reach::Scopes(scopes), categories, viewer(caller))
        .in_sessions(caller.sessions.clone()))
}

/// Who reads what only its writer sees: the actor or the user of the caller, or else the credential.
fn viewer(caller: &Caller) -> Option<String> {
    caller.actor.clone().or_else(|| caller.identifiers.user_id.clone()).or_else(|| caller.credential.clone())
}

/// The scope of a new memory of this caller, without pools.
pub fn target(caller: &Caller, layer: Option<Layer>) -> Result<Scope, Error> {
    target_in(caller, &Membership::NONE, layer)
}

/// The same with the pool of the membership.
pub(crate) fn target_in(caller: &Caller, membership: &Membership, layer: Option<Layer>) -> Result<Scope, Error> {
    scope_for(&*membership.admits(caller)?, layer)
}

/// The scope of identifiers, without a check of permissions: in the given layer, or in the most specific one that
/// they allow.
pub(crate) fn scope_for(given: &Identifiers, layer: Option<Layer>) -> Result<Scope, Error> {
    match layer.or_else(|| given.layers().first().copied()) {
        Some(layer) => Scope::new(layer, given),
        None => Err(missing_identifier(given)),
    }
}

/// The error for incomplete identifiers of a layer, or for none at all.
fn missing_identifier(given: &Identifiers) -> Error {
    let begun = |layer: &Layer| layer.required().iter().any(|which| given.get(*which).is_some());
    match Layer::ALL.into_iter().find(begun).map(|layer| Scope::new(layer, given)) {
        Some(Err(error)) => error,
        _ => Error::new(ErrorKind::MissingIdentifier, "no identifier names the owner of the memory")
            .at("identifiers")
            .hint(
                "give userId (--user NAME), or one of projectId, teamId, orgId, companyId (--project …); an admin may \
                 ask for everyone's data with everyone (--everyone)",
            ),
    }
}

/// Visibility of exactly one scope, in these categories only.
#[expect(clippy::disallowed_methods, reason = "the policy is what decides")]
pub(crate) fn visible_scope(caller: &Caller, scope: &Scope, categories: Option<BTreeSet<String>>) -> Visible {
    let categories = intersect_categories(categories, caller.categories.as_ref());
    Visible::grant(caller.tenant.clone(), Reach::Scopes(vec![scope.clone()]), categories, viewer(caller))
        .in_sessions(caller.sessions.clone())
}

/// Visibility of the checkpoints of one scope. A checkpoint has no session of its own: its thread is checked by
/// [`session_named`].
#[expect(clippy::disallowed_methods, reason = "the policy is what decides")]
pub(crate) fn visible_checkpoints(caller: &Caller, scope: &Scope, categories: Option<BTreeSet<String>>) -> Visible {
    let categories = intersect_categories(categories, caller.categories.as_ref());
    Visible::grant(caller.tenant.clone(), Reach::Scopes(vec![scope.clone()]), categories, None)
}

/// Visibility of exactly one scope, for background work: private memories are not read.
#[expect(clippy::disallowed_methods, reason = "the policy is what decides")]
pub(crate) fn visible_for_maintenance(tenant: &Tenant, scope: &Scope) -> Visible {
    Visible::grant(tenant.clone(), Reach::Scopes(vec![scope.clone()]), None, None)
}

/// Visibility of the whole tenant, for maintenance and internal notes.
#[expect(clippy::disallowed_methods, reason = "the policy is what decides")]
pub(crate) fn visible_tenant(tenant: &Tenant) -> Visible {
    Visible::grant(tenant.clone(), Reach::Whole, None, None)
}

/// The key of this caller's working memory. It belongs to a user, optionally an agent and a session; callers with
/// other identifiers cannot access it. One that is not of a session has messages of all, so a credential that is bound to
/// sessions gets that of its session.
pub(crate) fn working_key(caller: &Caller) -> Result<WorkingKey, Error> {
    let user = own_user(caller)?;
    let agent = caller.identifiers.agent_id.clone().unwrap_or_default();
    let mut session = caller.identifiers.session_id.clone();
    if session.is_none() && !caller.sessions.is_empty() {
        let mut bound = caller.sessions.iter();
        session = bound.next().filter(|_| bound.next().is_none()).cloned();
        if session.is_none() {
            return Err(Error::new(ErrorKind::MissingIdentifier, "this credential is bound to several sessions")
                .at("sessionId")
                .hint("name one of them (--session NAME)"));
        }
    }
    Ok(WorkingKey { tenant: caller.tenant.name().to_owned(), agent, user, session })
}

/// The key of the session of this name.
pub(crate) fn session_key(caller: &Caller, session: &str) -> Result<SessionKey, Error> {
    let user = own_user(caller)?;
    let session = session_named(caller, session)?;
    let named = Identifiers { session_id: Some(session.clone()), ..Identifiers::default() };
    named.validate()?;
    let agent = caller.identifiers.agent_id.clone().unwrap_or_default();
    Ok(SessionKey { tenant: caller.tenant.name().to_owned(), agent, user, session })
}

/// The name of a session or of a thread that a request names outside of its identifiers, in its one spelling. Refused if
/// the credential is bound to other sessions: a path must open no more than a body.
pub(crate) fn session_named(caller: &Caller, session: &str) -> Result<String, Error> {
    let session = normalise(session).into_owned();
    if caller.sessions.is_empty() || caller.sessions.contains(&session) {
        return Ok(session);
    }
    Err(Error::new(ErrorKind::Unauthorized, format!("this credential does not reach sessionId `{session}`"))
        .at("sessionId")
        .hint("name a session that the credential is bound to, or use another credential"))
}

/// The user whose tiers the caller may access. Their content has no category, so a credential with categories is
/// refused.
fn own_user(caller: &Caller) -> Result<String, Error> {
    caller.identifiers.validate()?;
    if caller.identifiers.pool_id.is_some() && !caller.pool_implied {
        return Err(Error::invalid("poolId", "working memory does not belong to a pool").hint("leave poolId out"));
    }
    if caller.categories.is_some() {
        let message = "this credential is limited to some categories, and working memory has no categories";
        return Err(Error::new(ErrorKind::Unauthorized, message).hint("use a credential without categories"));
    }
    caller.identifiers.user_id.clone().ok_or_else(|| {
        Error::new(ErrorKind::MissingIdentifier, "working memory needs a userId")
            .at("userId")
            .hint("give userId (--user NAME), and agentId or sessionId as you like")
    })
}

/// Refuses a caller without this right.
pub(crate) fn require_right(caller: &Caller, right: Right) -> Result<(), Error> {
    if caller.rights.contains(&right) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unauthorized, format!("this operation requires the right {right}"))
        .at("rights")
        .hint(format!("use an admin's credential, or one made with the right: `loci key create --right {right}`")))
}

/// Refuses a caller who may not erase this user: it takes an operator, or the right and a credential bound to the user.
pub(crate) fn require_erasure(caller: &Caller, user: &str) -> Result<(), Error> {
    require_right(caller, Right::Erase)?;
    // An erasure takes all sessions and agents of the user, more than such a credential reaches.
    let narrower = !caller.sessions.is_empty() || !caller.agents.is_empty();
    if narrower && !caller.operator {
        let message = "this credential is bound to sessions or agents, and an erasure takes all of the user";
        return Err(
            Error::new(ErrorKind::Unauthorized, message).hint("use a credential that is bound to the user alone")
        );
    }
    require_user(caller, user)
}

/// Refuses a caller who is neither this user nor the operator.
pub(crate) fn require_user(caller: &Caller, user: &str) -> Result<(), Error> {
    require_writer(caller)?;
    let own = caller.identifiers.user_id.as_deref() == Some(user) && caller.categories.is_none();
    if caller.operator || own {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unauthorized, format!("this credential does not reach userId `{user}`")).at("userId"))
}

/// Refuses a caller who is not an operator.
pub(crate) fn require_operator(caller: &Caller, what: &str) -> Result<(), Error> {
    if caller.operator {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unauthorized, format!("only an operator may {what}")))
}

/// Refuses a caller who does not operate the whole store: its operators belong to the tenant `default`.
pub(crate) fn require_store_operator(caller: &Caller, what: &str) -> Result<(), Error> {
    require_operator(caller, what)?;
    if is_store_operator(caller) {
        return Ok(());
    }
    let message = format!("only an admin of the tenant `{}` may {what}", Tenant::default().name());
    Err(Error::new(ErrorKind::Unauthorized, message).at("tenant"))
}

/// Returns true if the caller operates the whole store and not only a tenant of it.
pub fn is_store_operator(caller: &Caller) -> bool {
    caller.operator && caller.tenant == Tenant::default()
}

#[cfg(test)]
mod tests;
