//! Which tenants, spaces and agents are there?
//!
//! A space is registered before anything is written to it, so that one without an entry cannot be
//! left behind by a crash.

use jiff::Timestamp;
use loci_types::{Space, Tenant};

use super::{Connection, OptionalExtension, Row, params};
use crate::{Agent, sql};

/// Registers a space, and the agent whose it is.
pub(crate) fn register(connection: &Connection<'_>, tenant: &Tenant, space: &Space, at: Timestamp) -> sql::Result<()> {
    let (tenant, at) = (tenant.name(), at.as_microsecond());
    connection.execute(
        "INSERT INTO tenants (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![tenant, at],
    )?;
    connection.execute(
        "INSERT INTO spaces (tenant, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        params![tenant, space.name(), at],
    )?;
    if let Space::Agent(slug) = space {
        connection.execute(
            "INSERT INTO agents (tenant, slug, config, created_at) VALUES (?1, ?2, '{}', ?3) ON CONFLICT DO NOTHING",
            params![tenant, slug, at],
        )?;
    }
    Ok(())
}

/// Notes that something was written to a space; only the first time costs a write.
pub(crate) fn note_written(connection: &Connection<'_>, tenant: &Tenant, space: &Space) -> sql::Result<()> {
    connection
        .execute(
            "UPDATE spaces SET written = TRUE WHERE tenant = ?1 AND name = ?2 AND NOT written",
            params![tenant.name(), space.name()],
        )
        .map(drop)
}

/// When a space was made, in microseconds; 0 if there is none.
pub(crate) fn created_at(connection: &Connection<'_>, tenant: &Tenant, space: &Space) -> sql::Result<i64> {
    let sql = "SELECT created_at FROM spaces WHERE tenant = ?1 AND name = ?2";
    let found = connection.query_row(sql, params![tenant.name(), space.name()], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(0))
}

/// Whether something was ever written to a space.
pub(crate) fn was_written(connection: &Connection<'_>, tenant: &Tenant, space: &Space) -> sql::Result<bool> {
    let written = connection
        .query_row(
            "SELECT written FROM spaces WHERE tenant = ?1 AND name = ?2",
            params![tenant.name(), space.name()],
            |row| row.get(0),
        )
        .optional()?;
    Ok(written == Some(true))
}

/// The names of a tenant's spaces.
pub(crate) fn spaces(connection: &Connection<'_>, tenant: &Tenant) -> sql::Result<Vec<Space>> {
    let name = |row: &Row<'_>| {
        row.get::<_, String>(0)?.parse().map_err(|error: loci_types::Error| sql::Error::unreadable(error))
    };
    let mut spaces: Vec<Space> = connection
        .prepare_cached("SELECT name FROM spaces WHERE tenant = ?1")?
        .query_map(params![tenant.name()], name)?
        .collect::<sql::Result<_>>()?;
    spaces.sort();
    Ok(spaces)
}

/// Adds an agent or gives a known one its configuration; true if it is new.
pub(crate) fn put_agent(connection: &Connection<'_>, tenant: &Tenant, agent: &Agent) -> sql::Result<bool> {
    let known = self::agent(connection, tenant, &agent.slug)?;
    register(connection, tenant, &Space::Agent(agent.slug.clone()), agent.created_at)?;
    connection.execute(
        "UPDATE agents SET config = ?3 WHERE tenant = ?1 AND slug = ?2",
        params![tenant.name(), &agent.slug, agent.config.to_string()],
    )?;
    Ok(known.is_none())
}

/// The agents of a tenant, by name.
pub(crate) fn agents(connection: &Connection<'_>, tenant: &Tenant) -> sql::Result<Vec<Agent>> {
    connection
        .prepare_cached("SELECT slug, config, created_at FROM agents WHERE tenant = ?1 ORDER BY slug")?
        .query_map(params![tenant.name()], read_agent)?
        .collect()
}

/// One agent of a tenant.
pub(crate) fn agent(connection: &Connection<'_>, tenant: &Tenant, slug: &str) -> sql::Result<Option<Agent>> {
    connection
        .query_row(
            "SELECT slug, config, created_at FROM agents WHERE tenant = ?1 AND slug = ?2",
            params![tenant.name(), slug],
            read_agent,
        )
        .optional()
}

/// Takes an agent and its space out; false if it was not there.
pub(crate) fn drop_agent(connection: &Connection<'_>, tenant: &Tenant, slug: &str) -> sql::Result<bool> {
    let space = Space::Agent(slug.to_owned()).name();
    connection.execute("DELETE FROM spaces WHERE tenant = ?1 AND name = ?2", params![tenant.name(), space])?;
    connection
        .execute("DELETE FROM agents WHERE tenant = ?1 AND slug = ?2", params![tenant.name(), slug])
        .map(|gone| gone > 0)
}

fn read_agent(row: &Row<'_>) -> sql::Result<Agent> {
    let config: String = row.get(1)?;
    Ok(Agent {
        slug: row.get(0)?,
        config: serde_json::from_str(&config).unwrap_or_default(),
        created_at: Timestamp::from_microsecond(row.get(2)?).unwrap_or_default(),
    })
}
