//! The access policy: what a caller may see, and where a caller writes.
//!
//! Nothing else makes a [`Visible`], or a [`Caller`] from a credential. The policy fails closed: identifiers that
//! name no scope are refused with an error; an absent identifier narrows and never widens; identifiers outside the
//! bounds of the credential are refused. A pool is open to its members: a `poolId` without a [`Membership`] is
//! refused, whatever the layer.

use std::borrow::Cow;
use std::collections::BTreeSet;

use loci_store::tier::{SessionKey, WorkingKey};
use loci_types::{Error, ErrorKind, Grant, Identifier, Identifiers, Layer, Reach, Role, Scope, Tenant, Visible};

/// The caller of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The tenant.
    pub tenant: Tenant,
    /// The identifiers of the request.
    pub identifiers: Identifiers,
    /// The actor, for the ledger and for memories that only their writer may see.
    pub actor: Option<String>,
    /// Whether the caller operates the store, and sees the whole tenant.
    pub operator: bool,
    /// What the caller may do.
    pub role: Role,
    /// The categories that the credential allows. `None` if it allows all.
    pub categories: Option<BTreeSet<String>>,
    /// The agents that the credential is bound to. A caller who names no agent sees only what all of these agents may
    /// see.
    pub agents: BTreeSet<String>,
    /// Whether `poolId` was filled in from the credential and not named in the request. A caller who is not a member
    /// then sees everything except the pool.
    pub pool_implied: bool,
    /// The credential, for the ledger. `None` if the request had none.
    pub credential: Option<String>,
    /// The id of the request, for the ledger.
    pub request: Option<String>,
}

impl Caller {
    /// A caller with identifiers, in the default tenant.
    pub fn new(identifiers: Identifiers) -> Self {
        Self {
            tenant: Tenant::default(),
            identifiers,
            actor: None,
            operator: false,
            role: Role::Writer,
            categories: None,
            agents: BTreeSet::new(),
            pool_implied: false,
            credential: None,
            request: None,
        }
    }

    /// The operator of the store, in the default tenant.
    pub fn operator() -> Self {
        Self { operator: true, role: Role::Admin, ..Self::new(Identifiers::default()) }
    }

    /// The caller that a credential gives for these identifiers. Identifiers outside its bounds are refused. Without
    /// identifiers, those that the credential determines uniquely are filled in; otherwise only the user of an agent
    /// or a session is.
    pub fn admitted(grant: &Grant, credential: &str, mut asked: Identifiers) -> Result<Self, Error> {
        asked.validate()?;
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
        Ok(Self {
            tenant: grant.tenant.clone(),
            operator,
            role: grant.role,
            categories: grant.categories.clone(),
            agents: grant.bounds.agents.iter().filter(|slug| *slug != loci_types::ANY).cloned().collect(),
            pool_implied: asked.pool_id.is_some() && !pool_named,
            credential: Some(credential.to_owned()),
            ..Self::new(asked)
        })
    }
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
    Err(Error::new(ErrorKind::Unauthorized, "this credential may look but not change anything")
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
    if caller.operator && layers.is_none() && given.is_empty() {
        return Ok(Visible::grant(caller.tenant.clone(), Reach::Whole, categories, caller.actor.clone()));
    }
    let mut layers = layers.map_or_else(|| given.layers(), <[Layer]>::to_vec);
    layers.sort();
    layers.dedup();
    if layers.is_empty() {
        return Err(missing_identifier(&given));
    }
    let scopes = layers.iter().map(|layer| Scope::new(*layer, &given)).collect::<Result<Vec<_>, _>>()?;
    let viewer = caller.actor.clone().or_else(|| caller.identifiers.user_id.clone());
    Ok(Visible::grant(caller.tenant.clone(), Reach::Scopes(scopes), categories, viewer))
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
        _ => Error::new(ErrorKind::MissingIdentifier, "no identifier says whose memory this is")
            .at("identifiers")
            .hint("give userId (--user NAME), or one of projectId, teamId, orgId, companyId (--project …)"),
    }
}

/// Visibility of exactly one scope, in these categories only.
#[expect(clippy::disallowed_methods, reason = "the policy is what decides")]
pub(crate) fn visible_scope(caller: &Caller, scope: &Scope, categories: Option<BTreeSet<String>>) -> Visible {
    let viewer = caller.actor.clone().or_else(|| caller.identifiers.user_id.clone());
    let categories = intersect_categories(categories, caller.categories.as_ref());
    Visible::grant(caller.tenant.clone(), Reach::Scopes(vec![scope.clone()]), categories, viewer)
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
/// other identifiers cannot access it.
pub(crate) fn working_key(caller: &Caller) -> Result<WorkingKey, Error> {
    let user = own_user(caller)?;
    let agent = caller.identifiers.agent_id.clone().unwrap_or_default();
    let session = caller.identifiers.session_id.clone();
    Ok(WorkingKey { tenant: caller.tenant.name().to_owned(), agent, user, session })
}

/// The key of the session of this name.
pub(crate) fn session_key(caller: &Caller, session: &str) -> Result<SessionKey, Error> {
    let user = own_user(caller)?;
    let named = Identifiers { session_id: Some(session.to_owned()), ..Identifiers::default() };
    named.validate()?;
    let agent = caller.identifiers.agent_id.clone().unwrap_or_default();
    Ok(SessionKey { tenant: caller.tenant.name().to_owned(), agent, user, session: session.to_owned() })
}

/// The user whose tiers the caller may access. Their content has no category, so a credential with categories is
/// refused.
fn own_user(caller: &Caller) -> Result<String, Error> {
    caller.identifiers.validate()?;
    if caller.identifiers.pool_id.is_some() && !caller.pool_implied {
        return Err(Error::invalid("poolId", "what an agent has before it lies in no pool").hint("leave poolId out"));
    }
    if caller.categories.is_some() {
        let message = "this credential sees only some categories, and what an agent has before it has none";
        return Err(Error::new(ErrorKind::Unauthorized, message).hint("use a credential without categories"));
    }
    caller.identifiers.user_id.clone().ok_or_else(|| {
        Error::new(ErrorKind::MissingIdentifier, "no userId says whose working memory this is")
            .at("userId")
            .hint("give userId (--user NAME), and agentId or sessionId as you like")
    })
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
    Err(Error::new(ErrorKind::Unauthorized, format!("only the operator of the store {what}")))
}

/// Refuses a caller who does not operate the whole store: its operators belong to the tenant `default`.
pub(crate) fn require_store_operator(caller: &Caller, what: &str) -> Result<(), Error> {
    require_operator(caller, what)?;
    if is_store_operator(caller) {
        return Ok(());
    }
    let message = format!("only an admin of the tenant `{}` {what}", Tenant::default().name());
    Err(Error::new(ErrorKind::Unauthorized, message).at("tenant"))
}

/// Returns true if the caller operates the whole store and not only a tenant of it.
pub fn is_store_operator(caller: &Caller) -> bool {
    caller.operator && caller.tenant == Tenant::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(given: &[(&str, &str)]) -> Caller {
        let object = given.iter().map(|(field, value)| ((*field).to_owned(), (*value).into())).collect();
        Caller::new(serde_json::from_value(serde_json::Value::Object(object)).unwrap())
    }

    #[test]
    fn identifiers_open_their_layers_and_no_others() {
        let check = |given: &[(&str, &str)], expect: &[&str]| {
            let visible = visible(&caller(given), None).unwrap();
            let Reach::Scopes(scopes) = visible.reach() else { panic!("whole") };
            assert_eq!(scopes.iter().map(ToString::to_string).collect::<Vec<_>>(), expect);
        };
        check(&[("userId", "u")], &["user u"]);
        check(&[("userId", "u"), ("agentId", "a")], &["agent a / u", "user u"]);
        check(&[("userId", "u"), ("sessionId", "s")], &["user u", "session u / s"]);
        check(&[("companyId", "c"), ("sessionId", "s")], &["company c"]);
    }

    #[test]
    fn a_credential_meets_what_is_asked() {
        let check = |allows: serde_json::Value, asked: &[(&str, &str)], expect: Result<&[(&str, &str)], &str>| {
            let mut grant = serde_json::json!({ "tenant": "acme", "role": "writer" });
            grant["bounds"] = allows.clone();
            let grant: Grant = serde_json::from_value(grant).unwrap();
            let made = Caller::admitted(&grant, "k", caller(asked).identifiers);
            match expect {
                Ok(given) => assert_eq!(made.unwrap().identifiers, caller(given).identifiers, "{allows} {asked:?}"),
                Err(field) => {
                    let error = made.unwrap_err();
                    assert_eq!((error.kind(), error.field()), (ErrorKind::Unauthorized, Some(field)));
                }
            }
        };
        let ann = serde_json::json!({ "users": ["ann"], "agents": ["planner"] });
        check(ann.clone(), &[], Ok(&[("userId", "ann"), ("agentId", "planner")]));
        check(ann.clone(), &[("userId", "ann")], Ok(&[("userId", "ann")]));
        check(ann.clone(), &[("sessionId", "s")], Ok(&[("sessionId", "s"), ("userId", "ann")]));
        check(ann.clone(), &[("userId", "bob")], Err("userId"));
        check(ann.clone(), &[("userId", "ann"), ("projectId", "p")], Err("projectId"));
        check(ann, &[("userId", "*")], Err("userId"));
        check(serde_json::json!({}), &[("userId", "bob")], Ok(&[("userId", "bob")]));
        check(serde_json::json!({ "users": ["*"] }), &[], Ok(&[]));
        check(serde_json::json!({ "users": ["*"] }), &[("agentId", "a")], Err("agentId"));
    }

    #[test]
    fn only_an_admin_without_bounds_sees_the_whole_tenant() {
        let whole = Caller::admitted(&Grant::whole(Tenant::default()), "k", Identifiers::default()).unwrap();
        assert_eq!(*visible(&whole, None).unwrap().reach(), Reach::Whole);
        for role in [Role::Reader, Role::Writer] {
            let grant = Grant { role, ..Grant::whole(Tenant::default()) };
            let caller = Caller::admitted(&grant, "k", Identifiers::default()).unwrap();
            assert_eq!(visible(&caller, None).unwrap_err().kind(), ErrorKind::MissingIdentifier);
            assert_eq!(require_writer(&caller).is_ok(), role == Role::Writer);
        }
    }

    #[test]
    fn categories_meet_and_never_widen() {
        let set = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>());
        let check = |one, other: Option<BTreeSet<String>>, expect| {
            assert_eq!(intersect_categories(one, other.as_ref()), expect)
        };
        check(None, None, None);
        check(set(&["a"]), None, set(&["a"]));
        check(None, set(&["a"]), set(&["a"]));
        check(set(&["a", "b"]), set(&["b", "c"]), set(&["b"]));
        check(set(&["a"]), set(&["c"]), set(&[]));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "nobody is asked here")]
    fn a_pool_is_refused_without_a_membership_of_it() {
        let mut operator = Caller::operator();
        operator.identifiers.pool_id = Some("p".into());
        let callers = [
            caller(&[("poolId", "p")]),
            caller(&[("poolId", "p"), ("userId", "u")]),
            caller(&[("poolId", "p"), ("userId", "u"), ("agentId", "a")]),
            operator,
        ];
        for caller in &callers {
            for (membership, opens) in
                [(Membership::NONE, false), (Membership::of("q"), false), (Membership::of("p"), true)]
            {
                let seen = visible_in(caller, &membership, None, None).map(|visible| visible.spaces());
                let pool = visible_in(caller, &membership, Some(&[Layer::Pool]), None).map(|visible| visible.spaces());
                let written = target_in(caller, &membership, Some(Layer::Pool)).map(|_| None);
                for outcome in [seen, pool, written] {
                    match outcome {
                        Ok(_) => assert!(opens, "{caller:?} {membership:?}"),
                        Err(error) => {
                            assert!(!opens, "{caller:?} {membership:?}: {error}");
                            assert_eq!((error.kind(), error.field()), (ErrorKind::Unauthorized, Some("poolId")));
                        }
                    }
                }
            }
            // Naming another layer does not bypass the check.
            assert!(visible(caller, Some(&[Layer::User])).is_err() && target(caller, Some(Layer::User)).is_err());
        }
    }

    #[test]
    fn a_pool_that_only_the_credential_names_is_left_out_for_who_is_not_in_it() {
        let bounds = serde_json::json!({ "users": ["u"], "agents": ["a"], "pools": ["p"] });
        let grant: Grant =
            serde_json::from_value(serde_json::json!({ "tenant": "t", "role": "writer", "bounds": bounds })).unwrap();
        let implied = Caller::admitted(&grant, "k", Identifiers::default()).unwrap();
        let Reach::Scopes(scopes) = visible(&implied, None).unwrap().reach().clone() else { panic!("whole") };
        assert_eq!(scopes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["agent a / u", "user u"]);
        assert_eq!(visible(&implied, Some(&[Layer::Pool])).unwrap_err().field(), Some("poolId"));
        let named = caller(&[("agentId", "a"), ("poolId", "p")]).identifiers;
        let named = Caller::admitted(&grant, "k", named).unwrap();
        assert_eq!(visible(&named, None).unwrap_err().kind(), ErrorKind::Unauthorized);
    }

    #[test]
    fn it_fails_closed() {
        for given in [&[][..], &[("agentId", "a")], &[("sessionId", "s")]] {
            assert_eq!(visible(&caller(given), None).unwrap_err().kind(), ErrorKind::MissingIdentifier);
        }
        let error = visible(&caller(&[("userId", "u")]), Some(&[Layer::User, Layer::Project])).unwrap_err();
        assert_eq!(error.field(), Some("projectId"));
        assert_eq!(visible(&caller(&[("userId", "")]), None).unwrap_err().field(), Some("userId"));
    }

    #[test]
    fn an_operator_with_identifiers_sees_only_those() {
        let mut operator = Caller::operator();
        assert_eq!(*visible(&operator, None).unwrap().reach(), Reach::Whole);
        operator.identifiers.user_id = Some("u".into());
        assert_ne!(*visible(&operator, None).unwrap().reach(), Reach::Whole);
    }

    #[test]
    fn a_new_memory_goes_to_the_most_specific_layer_open() {
        assert_eq!(target(&caller(&[("userId", "u"), ("agentId", "a")]), None).unwrap().layer(), Layer::Agent);
        assert_eq!(target(&caller(&[("userId", "u"), ("sessionId", "s")]), None).unwrap().layer(), Layer::User);
        assert_eq!(target(&caller(&[("teamId", "t")]), None).unwrap().layer(), Layer::Team);
        assert!(target(&caller(&[]), None).is_err());
    }
}
