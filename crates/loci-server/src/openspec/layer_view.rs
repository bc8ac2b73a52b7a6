//! Translates OpenSpec layer types into filters.
//!
//! A type is one of the layers of Loci, or one of the storage views of OpenSpec: `working, session, episodic, semantic,
//! procedural, user, organization, archival`. A view is a filter on layer, kind and state. Types on the same property are
//! combined with OR, types on different properties with AND.

use loci_engine::Caller;
use loci_types::{Class, Error, ErrorKind, Filter, Kinds, Layer, State};

/// Declares a struct of request fields together with the identifiers of the scope.
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
            /// Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
            pub(super) everyone: bool,
        }

        impl $name {
            /// The scope of the request.
            pub(super) fn scope(&self) -> loci_types::RequestScope {
                let identifiers = loci_types::Identifiers {
                    agent_id: self.agent_id.clone(),
                    user_id: self.user_id.clone(),
                    session_id: self.session_id.clone(),
                    project_id: self.project_id.clone(),
                    team_id: self.team_id.clone(),
                    org_id: self.org_id.clone(),
                    company_id: self.company_id.clone(),
                    pool_id: self.pool_id.clone(),
                };
                loci_types::RequestScope { identifiers, everyone: self.everyone }
            }
        }
    };
}
pub(super) use with_identifiers;

with_identifiers!(
    /// Layers and identifiers.
    #[derive(PartialEq, utoipa::ToSchema)]
    #[schema(as = OpenSpecLayer)]
    LayerSelector {
        /// The layer of a new entry.
        #[serde(rename = "type")]
        #[schema(rename = "type")]
        sort: Option<String>,
        /// The layers to search. Default: all layers that the identifiers open.
        types: Vec<String>,
    }
);

with_identifiers!(
    /// The identifiers of the scope.
    #[derive(utoipa::IntoParams)]
    #[into_params(parameter_in = Query)]
    ScopeParams {}
);

/// The memories that a set of layer types selects.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LayerView {
    layers: Vec<Layer>,
    classes: Vec<Class>,
    archived: bool,
}

impl LayerView {
    /// The view that these types select together.
    pub(super) fn of<'a>(types: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let mut view = Self::default();
        for sort in types {
            match sort {
                // The turns of the present conversation.
                "working" => {
                    view.layers.push(Layer::Session);
                    view.classes.push(Class::Episodic);
                }
                "episodic" => view.classes.push(Class::Episodic),
                "semantic" => view.classes.extend([Class::Semantic, Class::Opinion]),
                "procedural" => view.classes.push(Class::Procedural),
                "archival" => view.archived = true,
                other => view.layers.push(layer(other)?),
            }
        }
        view.layers.sort();
        view.layers.dedup();
        Ok(view)
    }

    /// Narrows a filter, and returns the layers to search, or `None` for all layers that the identifiers open.
    ///
    /// An operator without identifiers sees the whole tenant, so for them a layer is a filter only.
    pub(super) fn narrow(self, filter: &mut Filter, kinds: &Kinds, caller: &Caller) -> Option<Vec<Layer>> {
        let of_class = kinds.iter().filter(|kind| self.classes.contains(&kind.class));
        filter.kinds = of_class.map(|kind| kind.name.clone()).collect();
        if self.archived {
            filter.states = vec![State::Archived];
        }
        if self.layers.is_empty() {
            return None;
        }
        if caller.everyone {
            filter.layers = self.layers;
            return None;
        }
        Some(self.layers)
    }
}

/// The layer and perhaps the kind of a new entry.
pub(super) fn target(place: &LayerSelector) -> Result<(Option<Layer>, Option<&'static str>), Error> {
    if !place.types.is_empty() {
        return Err(Error::invalid("options.layer.types", "a new entry has exactly one layer")
            .hint("give it as options.layer.type"));
    }
    match place.sort.as_deref() {
        None => Ok((None, None)),
        Some("working") => Ok((Some(Layer::Session), Some("episodic"))),
        Some("episodic") => Ok((None, Some("episodic"))),
        Some("semantic") => Ok((None, Some("fact"))),
        Some("procedural") => Ok((None, Some("procedural"))),
        Some("archival") => Err(Error::new(ErrorKind::InvalidLayer, "a new entry cannot be archived")
            .at("options.layer.type")
            .hint("leave the type out; unused entries are archived by maintenance")),
        Some(other) => Ok((Some(layer(other)?), None)),
    }
}

fn layer(name: &str) -> Result<Layer, Error> {
    if name == "organization" {
        return Ok(Layer::Org);
    }
    name.parse().map_err(|_| {
        Error::new(ErrorKind::InvalidLayer, format!("unknown layer `{name}`")).at("layer").hint(
            "use one of agent, user, session, project, team, org, company, pool, working, episodic, semantic, \
             procedural, organization, archival",
        )
    })
}

#[cfg(test)]
mod tests {
    use loci_types::Identifiers;

    use super::*;

    #[test]
    fn types_are_views_on_layer_kind_and_state() {
        let check = |types: &[&str], layers: &[Layer], kinds: &[&str], states: &[State]| {
            let mut filter = Filter::at(jiff::Timestamp::UNIX_EPOCH);
            let user = Identifiers { user_id: Some("ann".into()), ..Identifiers::default() };
            let view = LayerView::of(types.iter().copied()).unwrap();
            let found = view.clone().narrow(&mut filter, &Kinds::default(), &Caller::new(user)).unwrap_or_default();
            let kind = |kind: &&str| filter.kinds.iter().any(|one| one == kind);
            assert_eq!(found, layers, "{types:?}");
            assert!(kinds.iter().all(kind) && filter.kinds.is_empty() == kinds.is_empty(), "{types:?} {filter:?}");
            assert_eq!(filter.states, states, "{types:?}");
            let mut whole = Filter::at(jiff::Timestamp::UNIX_EPOCH);
            assert_eq!(view.narrow(&mut whole, &Kinds::default(), &Caller::operator()), None);
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
        assert_eq!(LayerView::of(["galaxy"]).unwrap_err().kind(), ErrorKind::InvalidLayer);
    }

    #[test]
    fn a_new_entry_lies_in_one_place() {
        let at = |sort: &str| target(&LayerSelector { sort: Some(sort.into()), ..LayerSelector::default() });
        assert_eq!(at("team").unwrap(), (Some(Layer::Team), None));
        assert_eq!(at("procedural").unwrap(), (None, Some("procedural")));
        assert_eq!(at("organization").unwrap(), (Some(Layer::Org), None));
        for wrong in ["archival", "galaxy", ""] {
            assert_eq!(at(wrong).unwrap_err().kind(), ErrorKind::InvalidLayer, "{wrong}");
        }
        assert!(target(&LayerSelector { types: vec!["user".into()], ..LayerSelector::default() }).is_err());
    }
}
