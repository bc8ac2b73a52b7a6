//! Which part of the memory is meant by a layer?
//!
//! A type is one of the layers, or a name of the storage view that knowledge providers share:
//! `working, session, episodic, semantic, procedural, user, organization, archival`. Those are not
//! places of their own but views: filters on layer, kind and state. Types of one sort are united,
//! types of different sorts narrow each other.

use loci_engine::Caller;
use loci_types::{Class, Error, ErrorKind, Filter, Identifiers, Kinds, Layer, State};

/// Declares what a caller sends together with whose memories are meant.
macro_rules! with_identifiers {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $sort:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct $name {
            $($(#[$doc])* pub(super) $field: $sort,)*
            /// The agent.
            pub(super) agent_id: Option<String>,
            /// The user.
            pub(super) user_id: Option<String>,
            /// The session.
            pub(super) session_id: Option<String>,
            /// The project.
            pub(super) project_id: Option<String>,
            /// The team.
            pub(super) team_id: Option<String>,
            /// The organization.
            pub(super) org_id: Option<String>,
            /// The company.
            pub(super) company_id: Option<String>,
            /// The pool.
            pub(super) pool_id: Option<String>,
        }

        impl $name {
            /// Whose memories are meant.
            pub(super) fn identifiers(&self) -> loci_types::Identifiers {
                loci_types::Identifiers {
                    agent_id: self.agent_id.clone(),
                    user_id: self.user_id.clone(),
                    session_id: self.session_id.clone(),
                    project_id: self.project_id.clone(),
                    team_id: self.team_id.clone(),
                    org_id: self.org_id.clone(),
                    company_id: self.company_id.clone(),
                    pool_id: self.pool_id.clone(),
                }
            }
        }
    };
}
pub(super) use with_identifiers;

with_identifiers!(
    /// Which layers, and whose.
    #[derive(PartialEq, utoipa::ToSchema)]
    #[schema(as = OpenSpecLayer)]
    Where {
        /// The one layer, for a new entry.
        #[serde(rename = "type")]
        #[schema(rename = "type")]
        sort: Option<String>,
        /// The layers to look in; none: all that the identifiers open.
        types: Vec<String>,
    }
);

with_identifiers!(
    /// Whose entries are meant.
    #[derive(utoipa::IntoParams)]
    #[into_params(parameter_in = Query)]
    Whose {}
);

/// What is looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Meant {
    layers: Vec<Layer>,
    classes: Vec<Class>,
    archived: bool,
}

impl Meant {
    /// What these types mean together.
    pub(super) fn of<'a>(types: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let mut meant = Self::default();
        for sort in types {
            match sort {
                // The turns of the conversation under way.
                "working" => {
                    meant.layers.push(Layer::Session);
                    meant.classes.push(Class::Episodic);
                }
                "episodic" => meant.classes.push(Class::Episodic),
                "semantic" => meant.classes.extend([Class::Semantic, Class::Opinion]),
                "procedural" => meant.classes.push(Class::Procedural),
                "archival" => meant.archived = true,
                other => meant.layers.push(layer(other)?),
            }
        }
        meant.layers.sort();
        meant.layers.dedup();
        Ok(meant)
    }

    /// Narrows a filter, and returns the layers to look in; none: all that the identifiers open.
    ///
    /// Whoever sees the whole tenant names nobody, so for them a layer is only a filter.
    pub(super) fn narrow(self, filter: &mut Filter, kinds: &Kinds, caller: &Caller) -> Option<Vec<Layer>> {
        let of_class = kinds.iter().filter(|kind| self.classes.contains(&kind.class));
        filter.kinds = of_class.map(|kind| kind.name.clone()).collect();
        if self.archived {
            filter.states = vec![State::Archived];
        }
        if self.layers.is_empty() {
            return None;
        }
        if caller.operator && caller.identifiers == Identifiers::default() {
            filter.layers = self.layers;
            return None;
        }
        Some(self.layers)
    }
}

/// The layer and perhaps the kind of a new entry.
pub(super) fn target(place: &Where) -> Result<(Option<Layer>, Option<&'static str>), Error> {
    if !place.types.is_empty() {
        return Err(Error::invalid("options.layer.types", "a new entry lies in one layer")
            .hint("name it as options.layer.type"));
    }
    match place.sort.as_deref() {
        None => Ok((None, None)),
        Some("working") => Ok((Some(Layer::Session), Some("episodic"))),
        Some("episodic") => Ok((None, Some("episodic"))),
        Some("semantic") => Ok((None, Some("fact"))),
        Some("procedural") => Ok((None, Some("procedural"))),
        Some("archival") => Err(Error::new(ErrorKind::InvalidLayer, "nothing is new in the archive")
            .at("options.layer.type")
            .hint("entries come there when they are no longer used")),
        Some(other) => Ok((Some(layer(other)?), None)),
    }
}

fn layer(name: &str) -> Result<Layer, Error> {
    if name == "organization" {
        return Ok(Layer::Org);
    }
    name.parse().map_err(|_| {
        Error::new(ErrorKind::InvalidLayer, format!("`{name}` is not a layer")).at("layer").hint(
            "use one of agent, user, session, project, team, org, company, pool, working, episodic, semantic, \
             procedural, organization, archival",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_views_on_layer_kind_and_state() {
        let check = |types: &[&str], layers: &[Layer], kinds: &[&str], states: &[State]| {
            let mut filter = Filter::at(jiff::Timestamp::UNIX_EPOCH);
            let user = Identifiers { user_id: Some("ann".into()), ..Identifiers::default() };
            let meant = Meant::of(types.iter().copied()).unwrap();
            let found = meant.clone().narrow(&mut filter, &Kinds::default(), &Caller::new(user)).unwrap_or_default();
            let kind = |kind: &&str| filter.kinds.iter().any(|one| one == kind);
            assert_eq!(found, layers, "{types:?}");
            assert!(kinds.iter().all(kind) && filter.kinds.is_empty() == kinds.is_empty(), "{types:?} {filter:?}");
            assert_eq!(filter.states, states, "{types:?}");
            let mut whole = Filter::at(jiff::Timestamp::UNIX_EPOCH);
            assert_eq!(meant.narrow(&mut whole, &Kinds::default(), &Caller::operator()), None);
            assert_eq!(whole.layers, layers, "{types:?}");
        };
        let live = [State::Active, State::Decayed];
        check(&[], &[], &[], &live);
        check(&["company", "user"], &[Layer::User, Layer::Company], &[], &live);
        check(&["working"], &[Layer::Session], &["episodic"], &live);
        check(&["session", "session"], &[Layer::Session], &[], &live);
        check(&["episodic", "procedural"], &[], &["episodic", "procedural"], &live);
        check(&["semantic"], &[], &["fact", "preference", "opinion"], &live);
        check(&["organization"], &[Layer::Org], &[], &live);
        check(&["archival", "user"], &[Layer::User], &[], &[State::Archived]);
        assert_eq!(Meant::of(["galaxy"]).unwrap_err().kind(), ErrorKind::InvalidLayer);
    }

    #[test]
    fn a_new_entry_lies_in_one_place() {
        let at = |sort: &str| target(&Where { sort: Some(sort.into()), ..Where::default() });
        assert_eq!(at("team").unwrap(), (Some(Layer::Team), None));
        assert_eq!(at("procedural").unwrap(), (None, Some("procedural")));
        assert_eq!(at("organization").unwrap(), (Some(Layer::Org), None));
        for wrong in ["archival", "galaxy", ""] {
            assert_eq!(at(wrong).unwrap_err().kind(), ErrorKind::InvalidLayer, "{wrong}");
        }
        assert!(target(&Where { types: vec!["user".into()], ..Where::default() }).is_err());
    }
}
