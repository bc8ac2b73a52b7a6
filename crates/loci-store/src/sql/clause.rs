//! Translates a [`Visible`] and a [`Filter`] into an SQL condition.
//!
//! Every read of memories must go through this module. Values are always bound as parameters, never written into the
//! SQL text.

use jiff::Timestamp;
use loci_types::{Filter, Reach, Scope, Space, TimeRange, Visible};

use super::{Connection, Dialect, Value, params_from_iter};
use crate::sql;

/// A condition on `memories m`, with its values.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    /// The condition as SQL.
    pub(crate) sql: String,
    /// The values of its parameters, in order.
    pub(crate) values: Vec<Value>,
    /// The numbers of the visible scopes. None if the whole space is visible, or if `keys` is set.
    pub(crate) scopes: Option<Vec<i64>>,
    /// The keys of the visible scopes, on a server: the statement itself looks up their numbers, which saves a round
    /// trip.
    pub(crate) keys: Option<Vec<String>>,
    /// Whether only some categories are visible.
    pub(crate) category_limited: bool,
    /// Whether, of what belongs to a session, only that of some sessions is visible.
    session_limited: bool,
    dialect: &'static Dialect,
}

impl Clause {
    /// The memories that are visible in this space, in any state. None if the database is SQLite and none
    /// of the scopes exists.
    pub(crate) fn visible(
        connection: &dyn Connection,
        space: &Space,
        visible: &Visible,
    ) -> sql::SqlResult<Option<Self>> {
        let mut clause = Self {
            sql: "TRUE".to_owned(),
            values: Vec::new(),
            scopes: None,
            keys: None,
            category_limited: false,
            session_limited: false,
            dialect: connection.dialect(),
        };
        if let Some(scopes) = visible.scopes_in(space) {
            let keys: Vec<String> = scopes.into_iter().map(Scope::key).collect();
            if connection.dialect().lists_are_values {
                clause.keys = Some(keys);
            } else {
                let numbers = numbers(connection, keys)?;
                if numbers.is_empty() {
                    return Ok(None);
                }
                clause.scopes = Some(numbers);
            }
            let (condition, values) = clause.scope_condition("m.scope");
            clause.and(&condition);
            clause.values.extend(values);
        }
        if let Some(categories) = visible.categories() {
            clause.category_limited = true;
            clause.any("m.category", categories.iter().cloned());
        }
        if let Some(sessions) = visible.sessions() {
            clause.session_limited = true;
            clause.within_sessions(sessions.iter().cloned().collect());
        }
        if *visible.reach() != Reach::Whole {
            clause.and("(m.access_policy NOT IN ('private', 'restricted') OR coalesce(m.actor_id, m.user_id) = ?)");
            clause.values.push(visible.viewer().map_or(Value::Null, |viewer| Value::Text(viewer.to_owned())));
        }
        Ok(Some(clause))
    }

    /// The memories that are visible and match the filter.
    pub(crate) fn of(
        connection: &dyn Connection,
        space: &Space,
        visible: &Visible,
        filter: &Filter,
    ) -> sql::SqlResult<Option<Self>> {
        let Some(mut clause) = Self::visible(connection, space, visible)? else { return Ok(None) };
        clause.add_filter(filter);
        Ok(Some(clause))
    }

    /// The condition on `ledger l LEFT JOIN memories m` for entries that may be read. An entry without a memory, or
    /// about a removed one, has neither scope nor category, so only a caller who sees everything may read it.
    pub(crate) fn ledger_condition(&self) -> String {
        let gone = if self.is_whole() && !self.is_partial() { "TRUE" } else { "FALSE" };
        format!("((m.row IS NULL AND {gone}) OR (m.row IS NOT NULL AND {}))", self.sql)
    }

    /// Whether all scopes of the space are visible.
    pub(crate) fn is_whole(&self) -> bool {
        self.scopes.is_none() && self.keys.is_none()
    }

    /// Whether only some memories of its scopes are visible, by their category or their session.
    pub(crate) fn is_partial(&self) -> bool {
        self.category_limited || self.session_limited
    }

    /// Adds that a memory belongs to one of these sessions or to none. A turn without a session is of the session that
    /// its thread names.
    fn within_sessions(&mut self, sessions: Vec<String>) {
        const SESSION: &str = "coalesce(m.session_id, m.thread_id)";
        if self.dialect.lists_are_values {
            self.and(&format!("({SESSION} IS NULL OR {SESSION} = ANY(?))"));
            self.values.push(Value::Texts(sessions));
            return;
        }
        self.and(&format!("({SESSION} IS NULL OR {SESSION} IN ({}))", places(sessions.len())));
        self.values.extend(sessions.into_iter().map(Value::Text));
    }

    /// Whether one of its scopes exists. If none does, nothing can match.
    pub(crate) fn has_scopes(&self, connection: &dyn Connection) -> sql::SqlResult<bool> {
        // Scope numbers were looked up when the clause was created.
        let Some(keys) = &self.keys else { return Ok(true) };
        connection.exists("SELECT 1 FROM scopes WHERE key = ANY(?) LIMIT 1", vec![Value::Texts(keys.clone())])
    }

    /// The condition that a column holds the number of a visible scope, with its values.
    pub(crate) fn scope_condition(&self, column: &str) -> (String, Vec<Value>) {
        match (&self.keys, &self.scopes) {
            (Some(keys), _) => (
                format!("{column} = ANY(ARRAY(SELECT k.scope FROM scopes k WHERE k.key = ANY(?)))"),
                vec![Value::Texts(keys.clone())],
            ),
            (None, Some(scopes)) => one_of(self.dialect, column, scopes),
            (None, None) => ("TRUE".to_owned(), Vec::new()),
        }
    }

    fn add_filter(&mut self, filter: &Filter) {
        self.any("m.state", filter.states.iter().map(|state| state.name().to_owned()));
        self.time(filter);
        if !filter.ids.is_empty() {
            self.and(&format!("m.id IN (SELECT j.value FROM {})", self.dialect.ids));
            self.values.push(super::read::wanted(&filter.ids));
        }
        for (column, wanted) in [
            ("m.kind", &filter.kinds),
            ("m.category", &filter.categories),
            ("m.source_type", &filter.source_types),
            ("m.source_role", &filter.source_roles),
            ("m.user_id", &filter.users),
            ("m.agent_id", &filter.agents),
            ("m.session_id", &filter.sessions),
            ("m.run_id", &filter.runs),
            ("m.actor_id", &filter.actors),
            ("m.role", &filter.roles),
            ("m.thread_id", &filter.threads),
        ] {
            if !wanted.is_empty() {
                self.any(column, wanted.iter().cloned());
            }
        }
        if !filter.layers.is_empty() {
            self.any("m.layer", filter.layers.iter().map(|layer| layer.name().to_owned()));
        }
        if !filter.access_policies.is_empty() {
            self.any("m.access_policy", filter.access_policies.iter().map(|one| one.name().to_owned()));
        }
        if !filter.tags.is_empty() {
            self.and(&format!("m.row IN (SELECT memory FROM tags WHERE tag IN {})", self.dialect.texts));
            self.values.push(Value::Texts(filter.tags.clone()));
        }
        if let Some(has) = filter.has_knowledge_pointer {
            self.and(if has { "m.knowledge_pointer IS NOT NULL" } else { "m.knowledge_pointer IS NULL" });
        }
        if let Some(pinned) = filter.pinned {
            self.compare("m.pinned = ?", Value::Integer(pinned.into()));
        }
        for (condition, bound) in [
            ("m.importance >= ?", filter.importance_min),
            ("m.importance <= ?", filter.importance_max),
            ("m.confidence >= ?", filter.confidence_min),
            ("m.confidence <= ?", filter.confidence_max),
        ] {
            if let Some(bound) = bound {
                self.compare(condition, Value::Real(bound));
            }
        }
        self.range("m.event_time", filter.event);
        self.range("coalesce(m.event_time, m.said_at, m.created_at)", filter.happened);
        self.range("m.created_at", filter.created);
        self.range("m.updated_at", filter.updated);
        if let Some(entity) = filter.about {
            // Includes the entities that were united with this one.
            let spoken = "m.row IN (WITH RECURSIVE family(member) AS (SELECT entity FROM entities WHERE id = ? UNION \
                          SELECT e.entity FROM family f JOIN entities e ON e.united_with = f.member) \
                          SELECT t.memory FROM mentions t JOIN family f ON t.entity = f.member)";
            self.compare(spoken, Value::Blob(entity.as_bytes().to_vec()));
        }
        if let Some(claim) = filter.claim {
            self.compare("m.claim = ?", Value::Blob(claim.0.to_vec()));
        }
        if let Some(twin) = filter.twin {
            self.compare("m.unless = ?", Value::Blob(twin.0.to_vec()));
        }
        for (key, value) in &filter.metadata {
            let has = self.dialect.metadata;
            self.and(has);
            self.values.push(Value::Text(key.clone()));
            self.values.push(Value::Text(value.to_string()));
        }
    }

    fn time(&mut self, filter: &Filter) {
        let micros = |at: Timestamp| Value::Integer(at.as_microsecond());
        if let Some(then) = filter.as_of {
            // Must agree with `Memory::holds_since`.
            self.and(
                "coalesce(m.valid_from, CASE WHEN m.event_time < coalesce(m.said_at, m.created_at) THEN m.event_time END, \
                 m.said_at, m.created_at) <= ?",
            );
            self.and("(m.valid_until IS NULL OR ? < m.valid_until)");
            self.values.extend([micros(then), micros(then)]);
        } else if filter.judges_time() {
            self.and("m.superseded_by_id IS NULL");
            self.and("(m.valid_from IS NULL OR m.valid_from <= ?)");
            self.and("(m.valid_until IS NULL OR ? < m.valid_until)");
            // One that expired is soft-deleted for that, and is listed as such until it is purged.
            self.and("(m.state = 'soft_deleted' OR m.expires_at IS NULL OR ? < m.expires_at)");
            self.values.extend([micros(filter.now), micros(filter.now), micros(filter.now)]);
        }
    }

    fn range(&mut self, column: &str, range: TimeRange) {
        if let Some(from) = range.from {
            self.compare(&format!("{column} >= ?"), Value::Integer(from.as_microsecond()));
        }
        if let Some(until) = range.until {
            self.compare(&format!("{column} < ?"), Value::Integer(until.as_microsecond()));
        }
    }

    fn compare(&mut self, condition: &str, value: Value) {
        self.and(condition);
        self.values.push(value);
    }

    /// Adds the condition that a column has one of these texts.
    fn any(&mut self, column: &str, wanted: impl IntoIterator<Item = String>) {
        let wanted: Vec<String> = wanted.into_iter().collect();
        if self.dialect.lists_are_values {
            return self.compare(&format!("{column} = ANY(?)"), Value::Texts(wanted));
        }
        self.and(&format!("{column} IN ({})", places(wanted.len())));
        self.values.extend(wanted.into_iter().map(Value::Text));
    }

    fn and(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }
}

/// The numbers of the scopes with these keys. Runs with every query, so it binds single values instead of a JSON list
/// that SQLite would have to parse.
fn numbers(connection: &dyn Connection, keys: Vec<String>) -> sql::SqlResult<Vec<i64>> {
    let sql = format!("SELECT scope FROM scopes WHERE key IN ({}) ORDER BY scope", places(keys.len()));
    connection.query_map(&sql, params_from_iter(keys), |row| row.get(0))
}

/// The condition that a column holds one of these numbers, with its values.
pub(crate) fn one_of(dialect: &Dialect, column: &str, numbers: &[i64]) -> (String, Vec<Value>) {
    match dialect.lists_are_values {
        true => (format!("{column} = ANY(?)"), vec![Value::Integers(numbers.to_vec())]),
        false => (format!("{column} IN ({})", places(numbers.len())), params_from_iter(numbers)),
    }
}

/// A limit as an SQL value; `usize::MAX` means no limit.
pub(crate) fn limit(limit: usize) -> Value {
    Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))
}

/// `?, ?, ?`
fn places(count: usize) -> String {
    vec!["?"; count].join(", ")
}
