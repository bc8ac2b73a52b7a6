//! Which rows may be seen, and which are meant?
//!
//! The one place where a [`Visible`] and a [`Filter`] become SQL. Every read of memories goes
//! through it. Values are always bound, never written into the text.

use jiff::Timestamp;
use loci_types::{Filter, Reach, Space, TimeRange, Visible};
use rusqlite::Connection;
use rusqlite::types::Value;

/// A condition on `memories m`, with its values.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    /// The condition.
    pub(super) sql: String,
    /// Its values, in order.
    pub(super) values: Vec<Value>,
    /// The numbers of the scopes it is bound to; none: the whole space.
    pub(super) scopes: Option<Vec<i64>>,
    /// Whether only some categories are seen.
    pub(super) narrowed: bool,
}

impl Clause {
    /// What is visible in this space, in whatever state. `None` when nothing can be.
    pub(super) fn visible(connection: &Connection, space: &Space, visible: &Visible) -> rusqlite::Result<Option<Self>> {
        let mut clause = Self { sql: "1".to_owned(), values: Vec::new(), scopes: None, narrowed: false };
        if let Some(scopes) = visible.scopes_in(space) {
            let mut numbers = Vec::with_capacity(scopes.len());
            for scope in scopes {
                let mut statement = connection.prepare_cached("SELECT scope FROM scopes WHERE key = ?1")?;
                let mut rows = statement.query([scope.key()])?;
                if let Some(row) = rows.next()? {
                    numbers.push(row.get::<_, i64>(0)?);
                }
            }
            // A scope named twice is one scope.
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.is_empty() {
                return Ok(None);
            }
            clause.any("m.scope", numbers.iter().map(|number| Value::Integer(*number)));
            clause.scopes = Some(numbers);
        }
        if let Some(categories) = visible.categories() {
            clause.narrowed = true;
            clause.any("m.category", categories.iter().map(|category| Value::Text(category.clone())));
        }
        if *visible.reach() != Reach::Whole {
            clause.and("(m.access_policy NOT IN ('private', 'restricted') OR coalesce(m.actor_id, m.user_id) = ?)");
            clause.values.push(visible.viewer().map_or(Value::Null, |viewer| Value::Text(viewer.to_owned())));
        }
        Ok(Some(clause))
    }

    /// What is visible and meant.
    pub(super) fn of(
        connection: &Connection,
        space: &Space,
        visible: &Visible,
        filter: &Filter,
    ) -> rusqlite::Result<Option<Self>> {
        let Some(mut clause) = Self::visible(connection, space, visible)? else { return Ok(None) };
        clause.meant(filter);
        Ok(Some(clause))
    }

    /// The condition on `ledger l LEFT JOIN memories m` for lines that may be told. What is about no
    /// memory, or about one that is gone, has neither scope nor category to be judged by.
    pub(super) fn told(&self) -> String {
        let gone = if self.scopes.is_none() && !self.narrowed { "1" } else { "0" };
        format!("((m.row IS NULL AND {gone}) OR (m.row IS NOT NULL AND {}))", self.sql)
    }

    fn meant(&mut self, filter: &Filter) {
        let text = |values: &[String]| values.iter().map(|value| Value::Text(value.clone())).collect::<Vec<_>>();
        self.any("m.state", filter.states.iter().map(|state| Value::Text(state.name().to_owned())));
        self.time(filter);
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
                self.any(column, text(wanted));
            }
        }
        if !filter.layers.is_empty() {
            self.any("m.layer", filter.layers.iter().map(|layer| Value::Text(layer.name().to_owned())));
        }
        if !filter.access_policies.is_empty() {
            self.any("m.access_policy", filter.access_policies.iter().map(|one| Value::Text(one.name().to_owned())));
        }
        if !filter.tags.is_empty() {
            self.and(&format!("m.row IN (SELECT memory FROM tags WHERE tag IN ({}))", places(filter.tags.len())));
            self.values.extend(text(&filter.tags));
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
        self.range("m.created_at", filter.created);
        self.range("m.updated_at", filter.updated);
        if let Some(claim) = filter.claim {
            self.compare("m.claim = ?", Value::Blob(claim.0.to_vec()));
        }
        if let Some(twin) = filter.twin {
            self.compare("m.unless = ?", Value::Blob(twin.0.to_vec()));
        }
        for (key, value) in &filter.metadata {
            // Compared as JSON text: `->` gives the canonical form of the field.
            self.and("(m.metadata -> ('$.' || json_quote(?))) = json(?)");
            self.values.push(Value::Text(key.clone()));
            self.values.push(Value::Text(value.to_string()));
        }
    }

    fn time(&mut self, filter: &Filter) {
        let micros = |at: Timestamp| Value::Integer(at.as_microsecond());
        if let Some(then) = filter.as_of {
            self.and("coalesce(m.valid_from, m.event_time, m.created_at) <= ?");
            self.and("(m.valid_until IS NULL OR ? < m.valid_until)");
            self.values.extend([micros(then), micros(then)]);
        } else if filter.judges_time() {
            self.and("m.superseded_by_id IS NULL");
            self.and("(m.valid_from IS NULL OR m.valid_from <= ?)");
            self.and("(m.valid_until IS NULL OR ? < m.valid_until)");
            self.and("(m.expires_at IS NULL OR ? < m.expires_at)");
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

    fn any(&mut self, column: &str, wanted: impl IntoIterator<Item = Value>) {
        let before = self.values.len();
        self.values.extend(wanted);
        let condition = format!("{column} IN ({})", places(self.values.len() - before));
        self.and(&condition);
    }

    fn and(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }
}

/// A limit as the database takes it: the greatest is no limit.
pub(super) fn limit(limit: usize) -> Value {
    Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))
}

/// `?, ?, ?`
pub(super) fn places(count: usize) -> String {
    vec!["?"; count].join(", ")
}
