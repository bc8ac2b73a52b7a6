//! `loci key`: keys of callers.

use anyhow::Result;
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use loci_engine::parse_instant;
use loci_types::{Bounds, Error, Right, Role};
use serde_json::{Value, json};

use super::print_page;
use crate::api::Call;
use crate::arguments::PageFlags;
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with keys.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci key create --name ops --role admin
  loci key create --name planner --agent planner --user ann --user bob
  loci key create --name reports --role reader --project atlas --category tasks --expires-at 90d
  loci key list
  loci key rotate k3vq2m7abcdefg --grace 24h
  loci key revoke k3vq2m7abcdefg --yes

The secret of a key is shown once. A key without bounds gives access to the whole tenant; a key with users, agents or \
projects gives access to those only (`*` stands for all). Once the first key exists, `loci serve` requires one of every \
caller.")]
pub(crate) struct KeyArgs {
    /// Tenant of the keys [default: the tenant of the caller]
    #[arg(long, global = true, value_name = "TENANT")]
    tenant: Option<String>,
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Create a key and show its secret, once
    Create(Box<KeyCreateArgs>),
    /// List keys, oldest first, without their secrets
    List {
        #[command(flatten)]
        page: PageFlags,
    },
    /// Revoke a key
    Revoke {
        /// Id of the key
        id: String,
        /// Confirm
        #[arg(short, long)]
        yes: bool,
    },
    /// Create a key with the same permissions, and revoke the old one after a grace period
    Rotate {
        /// Id of the old key
        id: String,
        /// Grace period, such as 24h [default: none]
        #[arg(long, value_name = "DURATION")]
        grace: Option<String>,
        /// Confirm a rotation without a grace period
        #[arg(short, long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
struct KeyCreateArgs {
    /// Name of the key
    #[arg(long)]
    name: String,
    /// Role: reader, writer or admin
    #[arg(long, default_value = "writer")]
    role: String,
    /// Agent that the key gives access to; may be repeated, as may the others
    #[arg(short, long, value_name = "SLUG")]
    agent: Vec<String>,
    /// User that the key gives access to
    #[arg(short, long, value_name = "NAME")]
    user: Vec<String>,
    /// Session that the key gives access to [default: all sessions of its users]
    #[arg(long, value_name = "NAME")]
    session: Vec<String>,
    /// Project that the key gives access to
    #[arg(long, value_name = "NAME")]
    project: Vec<String>,
    /// Team that the key gives access to
    #[arg(long, value_name = "NAME")]
    team: Vec<String>,
    /// Organization that the key gives access to
    #[arg(long, value_name = "NAME")]
    org: Vec<String>,
    /// Company that the key gives access to
    #[arg(long, value_name = "NAME")]
    company: Vec<String>,
    /// Pool that the key gives access to
    #[arg(long, value_name = "SLUG")]
    pool: Vec<String>,
    /// Category that the key gives access to [default: all]
    #[arg(long, value_name = "NAME")]
    category: Vec<String>,
    /// Right beside those of the role: hard_delete, erase or consent; may be repeated [default: none; admins have all]
    #[arg(long, value_name = "RIGHT")]
    right: Vec<String>,
    /// Expiry: an instant, a day, or a time from now such as 90d [default: never]
    #[arg(long, alias = "expires", value_name = "TIME")]
    expires_at: Option<String>,
}

/// Runs the command.
pub(crate) async fn run(context: &Context, args: KeyArgs) -> Result<()> {
    let of_tenant = |call: Call| call.param("tenant", args.tenant.as_ref());
    match args.command {
        KeyCommand::Create(create) => {
            let call = of_tenant(create.call(context.now())?);
            print_secret(context, &context.api(Model::Skip).await?.call(call).await?);
        }
        KeyCommand::List { page } => {
            let call = of_tenant(page.of(Call::get(&["v1", "keys"])));
            let answer = context.api(Model::Skip).await?.call(call).await?;
            let head = ["key", "name", "role", "bounds", "created", "state"];
            let empty = "No keys. `loci key create --name NAME` creates one.";
            print_page(context, &answer, &head, row, empty);
        }
        KeyCommand::Revoke { id, yes } => {
            context.confirm(&format!("revokes the key {id}"), yes)?;
            let call = of_tenant(Call::delete(&["v1", "keys", &id]));
            context.api(Model::Skip).await?.call(call).await?;
            context.print(&json!({ "id": id, "revoked": true }), |_| output::line(&format!("{id} revoked")));
        }
        KeyCommand::Rotate { id, grace, yes } => {
            let grace = grace.as_deref().map(|text| duration("grace", text)).transpose()?.unwrap_or_default();
            if grace.is_zero() {
                context.confirm(&format!("revokes the key {id} at once (--grace 24h keeps it for a day)"), yes)?;
            }
            let call = Call::post(&["v1", "keys", &id, "rotate"]).field("graceSeconds", grace.as_secs());
            print_secret(context, &context.api(Model::Skip).await?.call(of_tenant(call)).await?);
        }
    }
    Ok(())
}

impl KeyCreateArgs {
    fn call(self, now: Timestamp) -> Result<Call> {
        let set = |values: Vec<String>| values.into_iter().collect();
        let bounds = Bounds {
            agents: set(self.agent),
            users: set(self.user),
            sessions: set(self.session),
            projects: set(self.project),
            teams: set(self.team),
            orgs: set(self.org),
            companies: set(self.company),
            pools: set(self.pool),
        };
        let rights = self.right.iter().map(|right| right.parse::<Right>()).collect::<Result<Vec<_>, _>>()?;
        let expires_at = self.expires_at.as_deref().map(|text| expiry(text, now)).transpose()?;
        Ok(Call::post(&["v1", "keys"])
            .field("name", self.name)
            .field("role", self.role.parse::<Role>()?)
            .field("bounds", bounds)
            .field("rights", rights)
            .field("categories", (!self.category.is_empty()).then_some(self.category))
            .field("expiresAt", expires_at))
    }
}

/// Prints a new key with its secret.
fn print_secret(context: &Context, answer: &Value) {
    context.print(answer, |answer| {
        output::line(answer["data"]["secret"].as_str().unwrap_or_default());
        output::note("The secret is shown once; only its hash is stored. Send it as `Authorization: Bearer SECRET`.");
        if let Some(note) = answer["data"]["note"].as_str() {
            output::warn(note, None);
        }
    });
}

/// The bounds of a key with its categories: `users ana, bo; categories work`.
fn bounds(key: &Value) -> String {
    let named = key["bounds"].as_object().into_iter().flatten();
    let named = named.map(|(kind, names)| (kind.as_str(), names)).chain([("categories", &key["categories"])]);
    let part = |(kind, names): (&str, &Value)| {
        let names: Vec<String> = names.as_array()?.iter().map(shape::plain).collect();
        (!names.is_empty()).then(|| format!("{kind} {}", names.join(", ")))
    };
    let parts: Vec<String> = named.filter_map(part).collect();
    if parts.is_empty() { "whole tenant".to_owned() } else { parts.join("; ") }
}

fn row(key: &Value) -> Vec<String> {
    let state = match (key["active"] == true, key["revokedAt"].is_null()) {
        (true, _) => "active",
        (false, false) => "revoked",
        (false, true) => "expired",
    };
    let [id, name, role] = ["id", "name", "role"].map(|field| shape::cell(&key[field]));
    vec![id, name, role, bounds(key), shape::time(&key["createdAt"]), state.to_owned()]
}

/// Reads an instant, a day, or a time from now such as `90d`.
fn expiry(text: &str, now: Timestamp) -> Result<Timestamp> {
    if let Ok(at) = parse_instant(text) {
        return Ok(at);
    }
    let read = duration("expiresAt", text)
        .map_err(|error| error.hint("write an instant, a day such as 2026-12-31, or a time from now such as 90d"))?;
    Ok(now.saturating_add(read)?)
}

/// Reads a duration such as `90d`, `12h` or `30m`.
fn duration(field: &'static str, text: &str) -> Result<SignedDuration, Error> {
    let wrong = || Error::invalid(field, format!("`{text}` is not a time")).hint("write 30m, 24h or 90d");
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
