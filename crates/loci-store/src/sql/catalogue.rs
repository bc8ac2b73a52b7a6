//! Stores tenants, spaces and agents in the catalogue.
//!
//! A space is registered before the first write to it, so that a crash leaves no space without an entry.

use jiff::Timestamp;
use loci_types::{Space, Tenant};

use super::{Connection, OptionalExtension, Row, params};
use crate::{Agent, sql};

/// Registers a space, and the agent or pool it belongs to. A pool that is created here has no members.
pub(crate) fn register(
    connection: &dyn Connection,
    tenant: &Tenant,
    space: &Space,
    at: Timestamp,
) -> sql::SqlResult<()> {
    let (tenant, at) = (tenant.name(), at.as_microsecond());
    connection.execute(
        "INSERT INTO tenants (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![tenant, at],
    )?;
    connection.execute(
        "INSERT INTO spaces (tenant, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        params![tenant, space.name(), at],
    )?;
    let (sql, slug) = match space {
        Space::Agent(slug) => (
            "INSERT INTO agents (tenant, slug, config, created_at) VALUES (?1, ?2, '{}', ?3) ON CONFLICT DO NOTHING",
            slug,
        ),
        Space::Pool(slug) => {
            ("INSERT INTO pools (tenant, slug, name, created_at) VALUES (?1, ?2, ?2, ?3) ON CONFLICT DO NOTHING", slug)
        }
        Space::Shared | Space::Users(_) => return Ok(()),
    };
    connection.execute(sql, params![tenant, slug, at]).map(drop)
}

/// Notes that a space was written to. Only the first call writes.
pub(crate) fn note_written(connection: &dyn Connection, tenant: &Tenant, space: &Space) -> sql::SqlResult<()> {
    connection
        .execute(
            "UPDATE spaces SET written = TRUE WHERE tenant = ?1 AND name = ?2 AND NOT written",
            params![tenant.name(), space.name()],
        )
        .map(drop)
}

/// When a space was created, in microseconds; 0 if it does not exist.
pub(crate) fn created_at(connection: &dyn Connection, tenant: &Tenant, space: &Space) -> sql::SqlResult<i64> {
    let sql = "SELECT created_at FROM spaces WHERE tenant = ?1 AND name = ?2";
    let found = connection.query_row(sql, params![tenant.name(), space.name()], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(0))
}

/// Whether a space was ever written to.
pub(crate) fn was_written(connection: &dyn Connection, tenant: &Tenant, space: &Space) -> sql::SqlResult<bool> {
    let written = connection
        .query_row(
            "SELECT written FROM spaces WHERE tenant = ?1 AND name = ?2",
            params![tenant.name(), space.name()],
            |row| row.get(0),
        )
        .optional()?;
    Ok(written == Some(true))
}

/// The spaces of a tenant, sorted.
pub(crate) fn spaces(connection: &dyn Connection, tenant: &Tenant) -> sql::SqlResult<Vec<Space>> {
    let name = |row: &dyn Row| {
        row.get::<_, String>(0)?.parse().map_err(|error: loci_types::Error| sql::SqlError::unreadable(error))
    };
    let mut spaces: Vec<Space> =
        connection.query_map("SELECT name FROM spaces WHERE tenant = ?1", params![tenant.name()], name)?;
    spaces.sort();
    Ok(spaces)
}

/// Inserts an agent or replaces the configuration of an existing one. Returns whether it is new.
pub(crate) fn put_agent(connection: &dyn Connection, tenant: &Tenant, agent: &Agent) -> sql::SqlResult<bool> {
    let known = self::agent(connection, tenant, &agent.agent_id)?;
    register(connection, tenant, &Space::Agent(agent.agent_id.clone()), agent.created_at)?;
    connection.execute(
        "UPDATE agents SET config = ?3 WHERE tenant = ?1 AND slug = ?2",
        params![tenant.name(), &agent.agent_id, agent.settings.to_string()],
    )?;
    Ok(known.is_none())
}

/// The agents of a tenant, in the order of their slugs.
pub(crate) fn agents(connection: &dyn Connection, tenant: &Tenant) -> sql::SqlResult<Vec<Agent>> {
    connection.query_map(
        "SELECT slug, config, created_at FROM agents WHERE tenant = ?1 ORDER BY slug",
        params![tenant.name()],
        read_agent,
    )
}

/// One agent of a tenant.
pub(crate) fn agent(connection: &dyn Connection, tenant: &Tenant, slug: &str) -> sql::SqlResult<Option<Agent>> {
    connection
        .query_row(
            "SELECT slug, config, created_at FROM agents WHERE tenant = ?1 AND slug = ?2",
            params![tenant.name(), slug],
            read_agent,
        )
        .optional()
}

/// Deletes the entry of a space, with its agent or pool. Returns false if there was no such agent or pool. The
/// memberships are deleted too, so that a later agent of the same name is in no pool.
pub(crate) fn drop_space(connection: &dyn Connection, tenant: &Tenant, space: &Space) -> sql::SqlResult<bool> {
    let tenant = tenant.name();
    connection.execute("DELETE FROM spaces WHERE tenant = ?1 AND name = ?2", params![tenant, space.name()])?;
    let (members, owner, slug) = match space {
        Space::Agent(slug) => ("agent = ?2", "agents", slug),
        Space::Pool(slug) => ("pool = ?2", "pools", slug),
        Space::Shared | Space::Users(_) => return Ok(false),
    };
    connection.execute(&format!("DELETE FROM pool_members WHERE tenant = ?1 AND {members}"), params![tenant, slug])?;
    let sql = format!("DELETE FROM {owner} WHERE tenant = ?1 AND slug = ?2");
    connection.execute(&sql, params![tenant, slug]).map(|gone| gone > 0)
}

/// Deletes the keys of a tenant.
pub(crate) fn drop_keys(connection: &dyn Connection, tenant: &Tenant) -> sql::SqlResult<()> {
    connection.execute("DELETE FROM keys WHERE tenant = ?1", params![tenant.name()]).map(drop)
}

/// Deletes the entry of a tenant without spaces, with its agents and pools.
pub(crate) fn drop_tenant(connection: &dyn Connection, tenant: &Tenant) -> sql::SqlResult<()> {
    for table in ["pool_members", "pools", "agents"] {
        connection.execute(&format!("DELETE FROM {table} WHERE tenant = ?1"), params![tenant.name()])?;
    }
    let sql = "DELETE FROM tenants WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM spaces WHERE tenant = ?1)";
    connection.execute(sql, params![tenant.name()]).map(drop)
}

fn read_agent(row: &dyn Row) -> sql::SqlResult<Agent> {
    let config: String = row.get(1)?;
    Ok(Agent {
        agent_id: row.get(0)?,
        settings: serde_json::from_str(&config).unwrap_or_default(),
        created_at: row.get(2)?,
    })
}
