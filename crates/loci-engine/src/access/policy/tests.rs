//! Tests of the policy.

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

// Coverage: SPEC-4.2.
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
    check(serde_json::json!({}), &[("userId", "bob")], Ok(&[("userId", "bob")]));
    check(serde_json::json!({ "users": ["*"] }), &[], Ok(&[]));
    check(serde_json::json!({ "users": ["*"] }), &[("agentId", "a")], Err("agentId"));
}

/// `"identifiers": {}` of an admin read everybody (issue 22, SPEC 4).
#[test]
fn only_an_admin_who_says_everyone_sees_the_whole_tenant() {
    let whole = Grant::whole(Tenant::default());
    let empty = RequestScope::default();
    for caller in [Caller::admitted(&whole, "k", empty.clone()).unwrap(), Caller::owner(empty).unwrap()] {
        let error = visible(&caller, None).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::MissingIdentifier, Some("identifiers")));
        assert!(target(&caller, None).is_err());
        // One thing by its id is found wherever it is.
        assert_eq!(*visible(&caller.by_id(), None).unwrap().reach(), Reach::Whole);
    }
    let everyone = RequestScope::everyone();
    for caller in [Caller::admitted(&whole, "k", everyone.clone()).unwrap(), Caller::owner(everyone).unwrap()] {
        assert_eq!(*visible(&caller, None).unwrap().reach(), Reach::Whole);
        assert!(target(&caller, None).is_err(), "a write has an owner");
    }
    let both = RequestScope { everyone: true, ..caller(&[("userId", "u")]).identifiers.into() };
    assert_eq!(Caller::admitted(&whole, "k", both.clone()).unwrap_err().field(), Some("everyone"));
    assert_eq!(Caller::owner(both).unwrap_err().field(), Some("everyone"));
    for role in [Role::Reader, Role::Writer] {
        let grant = Grant { role, ..whole.clone() };
        let error = Caller::admitted(&grant, "k", RequestScope::everyone()).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Unauthorized, Some("everyone")));
        let caller = Caller::admitted(&grant, "k", Identifiers::default()).unwrap();
        assert!(visible(&caller.by_id(), None).is_err(), "nor by an id");
    }
}

/// attack B5: the session bound of a key was passed by naming the session in the path.
#[test]
fn a_session_bound_holds_for_names_in_paths_and_for_what_is_read() {
    let bounds = serde_json::json!({ "users": ["ann"], "sessions": ["monday", "Cafe\u{301}"] });
    let grant: Grant =
        serde_json::from_value(serde_json::json!({ "tenant": "t", "role": "writer", "bounds": bounds })).unwrap();
    let bound = Caller::admitted(&grant, "k", caller(&[("userId", "ann")]).identifiers).unwrap();
    assert_eq!(session_named(&bound, "monday").unwrap(), "monday");
    assert_eq!(session_named(&bound, "Cafe\u{301}").unwrap(), "Caf\u{e9}", "in its one spelling");
    for outcome in [session_named(&bound, "tuesday").map(drop), session_key(&bound, "tuesday").map(drop)] {
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Unauthorized, Some("sessionId")));
    }
    let expect = Some(BTreeSet::from(["monday".to_owned(), "Caf\u{e9}".to_owned()]));
    assert_eq!(visible(&bound, None).unwrap().sessions().cloned(), expect);
    let scope = target(&bound, None).unwrap();
    assert_eq!(visible_scope(&bound, &scope, None).sessions().cloned(), expect);
    let any = Caller::new(caller(&[("userId", "ann")]).identifiers);
    assert_eq!((session_named(&any, "tuesday").is_ok(), visible(&any, None).unwrap().sessions()), (true, None));
}

/// doors H6, H9: the role writer was enough to delete for good and to consent.
#[test]
fn rights_are_asked_for_by_name() {
    let granted = |rights: &[Right]| Grant {
        role: Role::Writer,
        bounds: serde_json::from_value(serde_json::json!({ "users": ["ann"] })).unwrap(),
        rights: rights.iter().copied().collect(),
        ..Grant::whole(Tenant::default())
    };
    let plain = Caller::admitted(&granted(&[]), "k", Identifiers::default()).unwrap();
    for right in Right::ALL {
        let error = require_right(&plain, right).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Unauthorized, Some("rights")));
        let with = Caller::admitted(&granted(&[right]), "k", Identifiers::default()).unwrap();
        assert!(require_right(&with, right).is_ok());
        assert_eq!(require_erasure(&with, "ann").is_ok(), right == Right::Erase);
        assert!(require_erasure(&with, "bob").is_err());
        assert!(require_right(&Caller::operator(), right).is_ok());
    }
}

#[test]
fn a_role_alone_sees_no_tenant() {
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
    let check =
        |one, other: Option<BTreeSet<String>>, expect| assert_eq!(intersect_categories(one, other.as_ref()), expect);
    check(None, None, None);
    check(set(&["a"]), None, set(&["a"]));
    check(None, set(&["a"]), set(&["a"]));
    check(set(&["a", "b"]), set(&["b", "c"]), set(&["b"]));
    check(set(&["a"]), set(&["c"]), set(&[]));
}

// Coverage: SPEC-4.1.
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
