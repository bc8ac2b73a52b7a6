//! Restores a verified chain of backups: selects the spaces, adds missing entries of the catalogue, and loads each space.

use std::collections::{BTreeSet, HashSet};
use std::mem::discriminant;
use std::path::Path;
use std::sync::Arc;

use loci_types::{Scope, Space, Tenant};

use super::backup::{Backup, RestoreOutcome, RestorePlan};
use super::catalogue;
use super::frame::{FrameKind, FrameReader};
use super::load::{SpaceLoad, occupied};
use super::table::TableSpec;
use super::verify::{self, VerifiedBackup};
use crate::sql::{Backend, Value, blocking, feed};
use crate::{Error, Result};

/// Restores what the plan selects.
pub(super) async fn restore<B: Backend>(
    to: &Arc<B>,
    plan: &RestorePlan,
    chain: &[VerifiedBackup],
) -> Result<Vec<RestoreOutcome>> {
    let Some(last) = chain.last() else { return Ok(Vec::new()) };
    let selected = select(plan, &last.backup)?;
    if plan.until.is_some() && selected.len() != 1 {
        return Err(loci_types::Error::invalid("space", "entries are numbered by space")
            .hint("name the one space that is to go back: --agent, --pool, or --space shared or users_21")
            .into());
    }
    let mut loads = Vec::new();
    for (tenant, space) in selected {
        let targets = match &plan.rename {
            Some(rename) => BTreeSet::from([rename.clone()]),
            None => targets(plan, chain, &tenant, &space)?,
        };
        loads.extend(targets.into_iter().map(|target| (tenant.clone(), space.clone(), target)));
    }
    if !plan.replace {
        for (tenant, _, target) in &loads {
            let (backend, open) = (to.clone(), to.open(tenant, target));
            let end = blocking(move || backend.read(&open, |connection| feed::end(connection))).await?;
            if end.unwrap_or(0) > 0 {
                return Err(occupied(tenant.name(), target).into());
            }
        }
    }
    if plan.space.is_none() {
        let (backend, path, plan) = (to.clone(), last.path.clone(), plan.clone());
        // Only the last backup of the chain is used: an earlier one would restore what was revoked since.
        blocking(move || restore_catalogue(&*backend, &path, &plan)).await?;
    }
    let mut restored = Vec::new();
    for (tenant, space, target) in loads {
        restored.push(restore_space(to, plan, chain, tenant, space, target).await?);
    }
    Ok(restored)
}

/// The spaces that the rows of a space belong to. Only `shared` can have rows of others, from before user shards.
fn targets(plan: &RestorePlan, chain: &[VerifiedBackup], tenant: &Tenant, space: &Space) -> Result<BTreeSet<Space>> {
    let mut targets = BTreeSet::from([space.clone()]);
    let parts = chain.iter().filter(|_| *space == Space::Shared);
    for backup in parts {
        let Some((_, position)) = backup.space(tenant.name(), &space.name()) else { continue };
        let mut reader = FrameReader::open_at(&backup.path, plan.key.as_ref(), position)?;
        reader.next()?;
        loop {
            let (kind, bytes) = reader.next()?;
            match kind {
                FrameKind::Changed => continue,
                FrameKind::Rows => {}
                _ => break,
            }
            let (table, rows) = verify::unpack(&reader, kind, &bytes)?;
            // Scopes come first.
            if table.name != "scopes" {
                break;
            }
            for row in rows {
                targets.insert(Scope::from_key(table.text(&row, "key").unwrap_or_default())?.space());
            }
        }
    }
    Ok(targets)
}

/// The spaces to restore.
fn select(plan: &RestorePlan, last: &Backup) -> Result<Vec<(Tenant, Space)>> {
    let mut selected = Vec::new();
    for held in &last.spaces {
        let (tenant, space) = (Tenant::new(&held.tenant)?, held.space.parse::<Space>()?);
        if plan.tenant.as_ref().is_none_or(|wanted| *wanted == tenant)
            && plan.space.as_ref().is_none_or(|wanted| *wanted == space)
        {
            selected.push((tenant, space));
        }
    }
    if selected.is_empty() && (plan.space.is_some() || plan.tenant.is_some()) {
        let held: Vec<String> = last.spaces.iter().map(|held| format!("{}/{}", held.tenant, held.space)).collect();
        return Err(loci_types::Error::invalid("space", "the backup does not have the named tenant or space")
            .hint(format!("it holds {}", held.join(", ")))
            .into());
    }
    if let Some(rename) = &plan.rename {
        let fits = matches!(&selected[..], [(_, space)] if discriminant(space) == discriminant(rename));
        if !fits || !matches!(rename, Space::Agent(_) | Space::Pool(_)) {
            return Err(loci_types::Error::invalid("as", "only one agent can become another, and one pool another")
                .hint("name the agent of the backup with --agent, and the one it becomes with --as")
                .into());
        }
    }
    Ok(selected)
}

/// Adds the entries of the catalogue that are missing. A pool that exists keeps its present members, so that a backup
/// admits nobody who has left.
fn restore_catalogue<B: Backend>(to: &B, path: &Path, plan: &RestorePlan) -> Result<()> {
    let mut reader = FrameReader::open(path, plan.key.as_ref())?;
    let tenant = plan.tenant.as_ref();
    let mut entries: Vec<(&'static TableSpec, Vec<Value>)> = Vec::new();
    loop {
        let (kind, bytes) = reader.next()?;
        match kind {
            FrameKind::End => break,
            FrameKind::Catalogue => {
                let (table, mut rows) = verify::unpack(&reader, kind, &bytes)?;
                rows.retain(|row| tenant.is_none_or(|tenant| table.text(row, table.lead) == Some(tenant.name())));
                entries.extend(rows.into_iter().map(|row| (table, row)));
            }
            _ => {}
        }
    }
    let pool = |table: &TableSpec, row: &[Value], column: &str| {
        (table.text(row, "tenant").map(str::to_owned), table.text(row, column).map(str::to_owned))
    };
    to.write_catalogue(|connection| {
        let mut existing = HashSet::new();
        for (table, row) in entries.iter().filter(|(table, _)| table.name == "pools") {
            if catalogue::has(connection, table, row)? {
                existing.insert(pool(table, row, "slug"));
            }
        }
        for (table, mut row) in entries {
            if table.name == "pool_members" && existing.contains(&pool(table, &row, "pool")) {
                continue;
            }
            // A space counts as written once its rows are loaded.
            if let Some(written) = table.value_mut(&mut row, "written") {
                *written = Value::Integer(0);
            }
            catalogue::add(connection, table, row)?;
        }
        Ok(())
    })
}

async fn restore_space<B: Backend>(
    to: &Arc<B>,
    plan: &RestorePlan,
    chain: &[VerifiedBackup],
    tenant: Tenant,
    space: Space,
    target: Space,
) -> Result<RestoreOutcome> {
    let open = to.open(&tenant, &target);
    let (mut parts, mut written, mut latest) = (Vec::new(), false, None);
    for backup in chain {
        if let Some((held, position)) = backup.space(tenant.name(), &space.name()) {
            parts.push((backup.path.clone(), position));
            written |= held.rows > 0;
            latest = Some(held);
        }
    }
    let (created_at, numbers) = latest.map(|held| (held.created_at, held.numbers.clone())).unwrap_or_default();
    let (backend, owner, place) = (to.clone(), tenant.clone(), open.clone());
    blocking(move || catalogue::register_space(&*backend, &owner, &place, created_at)).await?;
    let load = SpaceLoad {
        parts,
        key: plan.key.clone(),
        tenant: tenant.name().to_owned(),
        space,
        target,
        replace: plan.replace,
        until: plan.until,
        at: plan.at,
        derive: plan.derive.clone(),
        numbers,
        analyser: to.analyser().clone(),
    };
    let path = B::place_of(&open).to_owned();
    let restored = to
        .write_long(&open, move |connection| {
            connection.without_timeout().map_err(|error| Error::sql(&path, error))?;
            load.run(connection).map_err(|failure| failure.at(&path))
        })
        .await?;
    if written {
        let backend = to.clone();
        // The rows are durable, so a failure here is only logged. The next change notes the write again.
        if let Err(error) = blocking(move || backend.note_written(&tenant, &open)).await {
            tracing::warn!(%error, "the catalogue could not record that a space was restored");
        }
    }
    Ok(restored)
}
