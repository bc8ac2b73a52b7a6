//! The role that each route requires.
//!
//! It is read from the published description, where it is the scope of each operation's security, so that what is published
//! is what is enforced. An operation that declares no role is for admins only.

use std::collections::HashMap;

use axum::http::Method;
use loci_types::Role;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::Operation;

/// The roles of all routes.
#[derive(Debug, Default)]
pub(crate) struct Access {
    routes: HashMap<(Method, String), (Requirement, String)>,
}

/// What a route requires of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// No credential.
    Nothing,
    /// A credential of any role; the handler decides what it may do.
    Credential,
    /// At least this role.
    Role(Role),
}

impl Access {
    /// Reads the roles from a description.
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

    /// Registers a route that requires a credential of any role.
    pub(crate) fn require_credential(&mut self, method: Method, path: &str, operation: &str) {
        self.routes.insert((method, path.to_owned()), (Requirement::Credential, operation.to_owned()));
    }

    /// Registers the routes under a prefix under another prefix as well.
    pub(crate) fn alias(&mut self, prefix: &str, other: &str) {
        let known: Vec<_> = self.routes.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        for ((method, path), value) in known {
            if let Some(rest) = path.strip_prefix(prefix) {
                self.routes.insert((method, format!("{other}{rest}")), value);
            }
        }
    }

    /// What this route requires. Unknown paths and methods require a credential, so that others cannot probe for routes.
    pub(crate) fn of(&self, method: &Method, route: Option<&str>) -> Requirement {
        let Some(route) = route else { return Requirement::Credential };
        let method = if *method == Method::HEAD { Method::GET } else { method.clone() };
        match self.routes.get(&(method, route.to_owned())) {
            Some((needed, _)) => *needed,
            // The router refuses an unknown method of a known path. Any other route is for admins only.
            None if self.routes.keys().any(|(_, path)| path == route) => Requirement::Credential,
            None => Requirement::Role(Role::Admin),
        }
    }

    /// Whether the route has this method.
    pub(crate) fn knows(&self, method: &Method, route: Option<&str>) -> bool {
        route.is_some_and(|route| self.routes.contains_key(&(method.clone(), route.to_owned())))
    }

    /// The `operationId` of the route, or `request` if it is unknown.
    pub(crate) fn operation(&self, method: &Method, route: Option<&str>) -> String {
        let known = route.and_then(|route| self.routes.get(&(method.clone(), route.to_owned())));
        known.map_or_else(|| "request".to_owned(), |(_, name)| name.clone())
    }
}

/// The requirement of an operation. One that declares no role is for admins only.
fn needed(operation: &Operation) -> Requirement {
    let Some(security) = &operation.security else { return Requirement::Role(Role::Admin) };
    if security.is_empty() {
        return Requirement::Nothing;
    }
    let written = serde_json::to_value(security).unwrap_or_default();
    let names = written.as_array().into_iter().flatten().filter_map(|one| one.as_object()).flat_map(|one| one.values());
    let roles = names.filter_map(|scopes| scopes.get(0)).filter_map(|scope| scope.as_str());
    match roles.filter_map(|role| role.parse::<Role>().ok()).max() {
        Some(role) => Requirement::Role(role),
        None if written == serde_json::json!([{}]) => Requirement::Nothing,
        None => Requirement::Role(Role::Admin),
    }
}
