//! Which role does a route ask for?
//!
//! The published description says it, as the scope of each operation's security, and what it says
//! is what is enforced. An operation that says nothing lets nobody in.

use std::collections::HashMap;

use axum::http::Method;
use loci_types::Role;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::Operation;

/// The roles of all routes.
#[derive(Debug, Default)]
pub(crate) struct Access {
    routes: HashMap<(Method, String), (Needed, String)>,
}

/// What a route asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needed {
    /// Nothing: anyone may call it.
    Nothing,
    /// A credential, whatever its role; what it may do is decided further in.
    Someone,
    /// At least this role.
    Role(Role),
}

impl Access {
    /// Reads the roles out of a description.
    pub(crate) fn of_description(description: &OpenApi) -> Self {
        let mut access = Self::default();
        for (path, item) in &description.paths.paths {
            let operations = [
                (Method::GET, &item.get),
                (Method::POST, &item.post),
                (Method::PUT, &item.put),
                (Method::PATCH, &item.patch),
                (Method::DELETE, &item.delete),
            ];
            for (method, operation) in operations {
                if let Some(operation) = operation {
                    let name = operation.operation_id.clone().unwrap_or_default();
                    access.routes.insert((method, path.clone()), (needed(operation), name));
                }
            }
        }
        access
    }

    /// Lets everyone with a credential through to a route that decides further in.
    pub(crate) fn someone(&mut self, method: Method, path: &str, operation: &str) {
        self.routes.insert((method, path.to_owned()), (Needed::Someone, operation.to_owned()));
    }

    /// A second name for what lies under a prefix.
    pub(crate) fn alias(&mut self, prefix: &str, other: &str) {
        let known: Vec<_> = self.routes.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        for ((method, path), value) in known {
            if let Some(rest) = path.strip_prefix(prefix) {
                self.routes.insert((method, format!("{other}{rest}")), value);
            }
        }
    }

    /// What this route asks for. Unknown paths and methods are told apart only to those who are known.
    pub(crate) fn of(&self, method: &Method, route: Option<&str>) -> Needed {
        let Some(route) = route else { return Needed::Someone };
        let method = if *method == Method::HEAD { Method::GET } else { method.clone() };
        match self.routes.get(&(method, route.to_owned())) {
            Some((needed, _)) => *needed,
            // Another method of a known path is refused by the router; anything else by its role.
            None if self.routes.keys().any(|(_, path)| path == route) => Needed::Someone,
            None => Needed::Role(Role::Admin),
        }
    }

    /// Whether the route has this method.
    pub(crate) fn knows(&self, method: &Method, route: Option<&str>) -> bool {
        route.is_some_and(|route| self.routes.contains_key(&(method.clone(), route.to_owned())))
    }

    /// What the route does, in a word.
    pub(crate) fn operation(&self, method: &Method, route: Option<&str>) -> String {
        let known = route.and_then(|route| self.routes.get(&(method.clone(), route.to_owned())));
        known.map_or_else(|| "request".to_owned(), |(_, name)| name.clone())
    }
}

/// The role that an operation names; one that names none is an admin's.
fn needed(operation: &Operation) -> Needed {
    let Some(security) = &operation.security else { return Needed::Role(Role::Admin) };
    if security.is_empty() {
        return Needed::Nothing;
    }
    let written = serde_json::to_value(security).unwrap_or_default();
    let names = written.as_array().into_iter().flatten().filter_map(|one| one.as_object()).flat_map(|one| one.values());
    let roles = names.filter_map(|scopes| scopes.get(0)).filter_map(|scope| scope.as_str());
    match roles.filter_map(|role| role.parse::<Role>().ok()).max() {
        Some(role) => Needed::Role(role),
        None if written == serde_json::json!([{}]) => Needed::Nothing,
        None => Needed::Role(Role::Admin),
    }
}
