//! What of the catalogue goes along?
//!
//! Tenants, spaces, agents, and keys with the hashes of their secrets. Leases stay: whoever holds one
//! holds it where they are.

use super::line::Line;
use super::table::Sort::{self, Bytes, Number, Text};
use crate::sql::{self, Connection, Value, params};

/// A list of the catalogue.
pub(in crate::sql) struct List {
    pub(in crate::sql) name: &'static str,
    /// Which column names the tenant.
    tenant: &'static str,
    /// How many of the columns name an entry.
    key: usize,
    columns: &'static [(&'static str, Sort)],
}

/// Parents before children. Spaces are registered when their turn comes.
pub(in crate::sql) static LISTS: [List; 5] = [
    List { name: "tenants", tenant: "name", key: 1, columns: &[("name", Text), ("created_at", Number)] },
    List {
        name: "agents",
        tenant: "tenant",
        key: 1,
        columns: &[("slug", Text), ("tenant", Text), ("config", Text), ("created_at", Number)],
    },
    List {
        name: "keys",
        tenant: "tenant",
        key: 1,
        columns: &[
            ("id", Text),
            ("tenant", Text),
            ("name", Text),
            ("hash", Bytes),
            ("allows", Text),
            ("created_at", Number),
            ("expires_at", Number),
            ("revoked_at", Number),
        ],
    },
    List {
        name: "pools",
        tenant: "tenant",
        key: 1,
        columns: &[("slug", Text), ("tenant", Text), ("name", Text), ("created_at", Number)],
    },
    List {
        name: "pool_members",
        tenant: "tenant",
        key: 2,
        columns: &[("pool", Text), ("agent", Text), ("tenant", Text), ("joined_at", Number)],
    },
];

/// The spaces of a tenant.
pub(in crate::sql) static SPACES: List = List {
    name: "spaces",
    tenant: "tenant",
    key: 1,
    columns: &[("name", Text), ("tenant", Text), ("created_at", Number), ("written", Number)],
};

/// A list by its name.
pub(in crate::sql) fn list(name: &str) -> Option<&'static List> {
    LISTS.iter().chain([&SPACES]).find(|list| list.name == name)
}

impl List {
    /// How many values an entry has.
    pub(in crate::sql) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The value of a column of an entry.
    pub(in crate::sql) fn value_mut<'v>(&self, entry: &'v mut [Value], column: &str) -> Option<&'v mut Value> {
        self.columns.iter().position(|(name, _)| *name == column).and_then(|place| entry.get_mut(place))
    }

    /// The text in a column of an entry.
    pub(in crate::sql) fn text<'v>(&self, entry: &'v [Value], column: &str) -> Option<&'v str> {
        let place = self.columns.iter().position(|(name, _)| *name == column)?;
        match entry.get(place) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether there is an entry with the names of this one.
    pub(in crate::sql) fn has(&self, connection: &dyn Connection, entry: &[Value]) -> sql::Result<bool> {
        let mut asked: Vec<String> =
            self.columns.iter().take(self.key).map(|(name, _)| format!("{name} = ?")).collect();
        let mut values: Vec<Value> = entry.iter().take(self.key).cloned().collect();
        asked.push(format!("{} = ?", self.tenant));
        values.extend(self.text(entry, self.tenant).map(Value::from));
        let sql = format!("SELECT 1 FROM {} WHERE {}", self.name, asked.join(" AND "));
        connection.prepare_cached(&sql)?.exists(values)
    }

    /// Whether an entry is of this tenant.
    pub(in crate::sql) fn is_of(&self, entry: &[Value], tenant: &str) -> bool {
        let place = self.columns.iter().position(|(name, _)| *name == self.tenant);
        matches!(place.and_then(|place| entry.get(place)), Some(Value::Text(name)) if name == tenant)
    }

    /// The entries of a tenant.
    pub(in crate::sql) fn lines(&self, connection: &dyn Connection, tenant: &str) -> sql::Result<Vec<Line>> {
        let columns = self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        connection
            .prepare_cached(&format!("SELECT {columns} FROM {} WHERE {} = ?1", self.name, self.tenant))?
            .query_map(params![tenant], |row| Line::read(row, self.columns, self.key, false))?
            .collect()
    }

    /// Adds the entries that are missing. Returns how many were.
    pub(in crate::sql) fn put(&self, connection: &dyn Connection, lines: &[Line]) -> sql::Result<u64> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
            self.name,
            names.join(", "),
            vec!["?"; names.len()].join(", ")
        );
        lines.iter().try_fold(0, |added, line| Ok(added + connection.execute(&sql, line.values.clone())? as u64))
    }
}

/// A tenant or a space is as old as in the source, also if the target knew one of this name.
pub(in crate::sql) fn date(
    connection: &dyn Connection,
    list: &List,
    tenant: &str,
    name: &str,
    at: i64,
) -> sql::Result<()> {
    let sql = format!(
        "UPDATE {} SET created_at = ?3 WHERE {} = ?1 AND name = ?2 AND created_at <> ?3",
        list.name, list.tenant
    );
    connection.execute(&sql, params![tenant, name, at]).map(drop)
}
