//! `loci key`: who may ask from afar?

use anyhow::Result;
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use loci_engine::{ApiKey, ApiKeyWithSecret, Caller, IssuedKey, NewKey, parse_instant};
use loci_types::{Bounds, Error, Grant, Key, Outcome, Role, Tenant};
use serde_json::json;

use crate::context::Context;
use crate::{output, shape};

/// What to do with keys.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci key create --name ops --role admin
  loci key create --name planner --agent planner --user ann --user bob
  loci key create --name reports --role reader --project atlas --category tasks --expires-at 90d
  loci key list
  loci key rotate k3vq2m7abcdefg --grace 24h
  loci key revoke k3vq2m7abcdefg

A key is shown once, when it is made. One that names nothing reaches its whole tenant; one that names
users, agents or projects reaches those and nothing else (`*` names all of a sort). As soon as the first
key is made, `loci serve` asks every caller for one.")]
pub(crate) struct KeyArgs {
    /// The tenant whose keys they are
    #[arg(long, global = true, value_name = "TENANT", default_value = "default")]
    tenant: String,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a key, and show it once
    Create(Box<CreateArgs>),
    /// List the keys, without their secrets
    List,
    /// Refuse a key from now on
    Revoke {
        /// Its id, as `loci key list` shows it
        id: String,
    },
    /// Make a key that allows the same, and refuse the old one when the grace is over
    Rotate {
        /// Its id
        id: String,
        /// How long the old one still counts, such as 24h [default: not at all]
        #[arg(long, value_name = "TIME")]
        grace: Option<String>,
    },
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// What it is for
    #[arg(long)]
    name: String,
    /// What it may do: reader, writer or admin
    #[arg(long, default_value = "writer")]
    role: String,
    /// An agent it may be; again for more
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// A user it may ask for; again for more
    #[arg(long, value_name = "NAME")]
    user: Vec<String>,
    /// A session it may ask for; none: any of its users
    #[arg(long, value_name = "NAME")]
    session: Vec<String>,
    /// A project it may ask for
    #[arg(long, value_name = "NAME")]
    project: Vec<String>,
    /// A team it may ask for
    #[arg(long, value_name = "NAME")]
    team: Vec<String>,
    /// An organization it may ask for
    #[arg(long, value_name = "NAME")]
    org: Vec<String>,
    /// A company it may ask for
    #[arg(long, value_name = "NAME")]
    company: Vec<String>,
    /// A pool it may ask for
    #[arg(long, value_name = "NAME")]
    pool: Vec<String>,
    /// A category it may see; none: all
    #[arg(long, value_name = "NAME")]
    category: Vec<String>,
    /// When it expires: an instant, a day, or a time from now such as 90d [default: never]
    #[arg(long, alias = "expires", value_name = "WHEN")]
    expires_at: Option<String>,
}

/// Looks after keys.
pub(crate) async fn run(context: &Context, args: KeyArgs) -> Result<()> {
    let engine = context.engine().await?;
    let tenant = Tenant::new(&args.tenant)?;
    let operator = Caller { tenant: tenant.clone(), ..Caller::operator() };
    match args.verb {
        Verb::Create(create) => {
            let expires_at = create.expires_at.as_deref().map(|text| when(text, engine.now())).transpose()?;
            let name = create.name.clone();
            let made =
                engine.create_key(&operator, NewKey { name, grant: grant(*create, tenant)?, expires_at }).await?;
            tell(context, made);
        }
        Verb::List => {
            let keys = engine.keys(&operator).await?;
            if context.json {
                let keys: Vec<ApiKey> = keys.into_iter().map(|key| ApiKey::new(key, engine.now())).collect();
                output::json(&json!({ "keys": keys }));
            } else if keys.is_empty() {
                output::line("No keys yet. `loci key create --name NAME` makes one.");
            } else {
                let rows = keys.iter().map(|key| row(key, engine.now()));
                output::line(&shape::table(&["key", "name", "role", "reaches", "since", "state"], rows.collect()));
            }
        }
        Verb::Revoke { id } => {
            engine.revoke_key(&operator, &id).await?;
            if context.json {
                output::json(&json!({ "id": id, "revoked": true }));
            } else {
                output::line(&format!("{id} is refused from now on"));
            }
        }
        Verb::Rotate { id, grace } => {
            let grace = grace.as_deref().map(|text| duration("grace", text)).transpose()?.unwrap_or_default();
            let made = engine.rotate_key(&operator, &id, grace).await?;
            tell(context, made);
        }
    }
    Ok(())
}

fn grant(args: CreateArgs, tenant: Tenant) -> Result<Grant> {
    let set = |values: Vec<String>| values.into_iter().collect();
    let bounds = Bounds {
        agents: set(args.agent),
        users: set(args.user),
        sessions: set(args.session),
        projects: set(args.project),
        teams: set(args.team),
        orgs: set(args.org),
        companies: set(args.company),
        pools: set(args.pool),
    };
    let categories = (!args.category.is_empty()).then(|| args.category.into_iter().collect());
    Ok(Grant { tenant, role: args.role.parse::<Role>()?, bounds, categories })
}

/// Shows a new key, for the only time. The JSON is what `POST /v1/keys` answers.
fn tell(context: &Context, made: IssuedKey) {
    if context.json {
        let made = ApiKeyWithSecret::from(made);
        output::json(&json!({
            "id": made.key.id, "event": Outcome::Created, "version": null, "redacted": [], "degraded": [], "data": made,
        }));
    } else {
        output::line(&made.secret);
        output::note("This is shown once; only its hash is kept. Send it as `Authorization: Bearer KEY`.");
    }
}

fn row(key: &Key, now: Timestamp) -> Vec<String> {
    let bounds = match key.grant.bounds.is_open() {
        true => "the whole tenant".to_owned(),
        false => json!(key.grant.bounds).to_string(),
    };
    let state = match (key.holds(now), key.revoked_at) {
        (true, _) => "active",
        (false, Some(_)) => "revoked",
        (false, None) => "expired",
    };
    let since = shape::instant(key.created_at);
    vec![key.id.clone(), key.name.clone(), key.grant.role.to_string(), bounds, since, state.to_owned()]
}

/// Reads an instant, a day, or a time from now such as `90d`.
fn when(text: &str, now: Timestamp) -> Result<Timestamp> {
    if let Ok(at) = parse_instant(text) {
        return Ok(at);
    }
    Ok(now.saturating_add(duration("expiresAt", text)?)?)
}

/// A time such as `90d`, `12h` or `30m`.
fn duration(field: &'static str, text: &str) -> Result<SignedDuration, Error> {
    let wrong = || Error::invalid(field, format!("`{text}` is no time")).hint("write 30m, 24h or 90d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let number: i64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let minutes = match unit {
        'm' => Some(number),
        'h' => number.checked_mul(60),
        'd' => number.checked_mul(24 * 60),
        _ => None,
    };
    minutes.filter(|minutes| (0..=52_560_000).contains(minutes)).map(SignedDuration::from_mins).ok_or_else(wrong)
}
