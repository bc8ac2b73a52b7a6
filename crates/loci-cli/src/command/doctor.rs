//! `loci store doctor`: finds damage in the store and the model, and repairs what can be repaired.
//!
//! Damage is an answer and not a failure: every file that can be read is checked, whatever is wrong with the others. The exit
//! code is that of damaged data if something was found and not repaired.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use loci_engine::Caller;
use loci_models::local::{Weights, look, verify};
use loci_store::Finding;
use loci_types::ErrorKind;
use serde_json::{Value, json};

use crate::context::Context;
use crate::settings::Provider;
use crate::{output, wiring};

/// Whether to repair.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store doctor
  loci store doctor --repair
  loci store doctor --json

What can be derived from the records is repaired; damaged pages are only reported. Exit codes: 0 nothing is wrong any \
more; 22 something is.")]
pub(crate) struct DoctorArgs {
    /// Repair what can be repaired
    #[arg(long)]
    repair: bool,
}

/// Checks the store and the model, and prints what was found.
pub(crate) async fn run(context: &Context, args: &DoctorArgs) -> Result<ExitCode> {
    context.require_local("store doctor")?;
    let mut findings = check_store(context, args.repair).await?;
    let (model, damaged) = check_model(context).await;
    findings.extend(damaged);
    context.print(&json!({ "findings": findings, "model": model }), |_| print(&findings, &model));
    let healthy = findings.iter().all(|finding| finding.repaired);
    Ok(ExitCode::from(if healthy { 0 } else { ErrorKind::Corrupt.row().exit }))
}

async fn check_store(context: &Context, repair: bool) -> Result<Vec<Finding>> {
    let checked = match context.engine().await {
        Ok(engine) => engine.doctor(&Caller::operator(), repair).await.map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    match checked {
        Ok(findings) => Ok(findings),
        Err(error) => match error.downcast_ref::<loci_engine::Error>() {
            Some(loci_engine::Error::Store(store)) if store.kind() == ErrorKind::Corrupt => {
                let problem = store.problem("doctor");
                let file = problem.details.get("file").and_then(Value::as_str).unwrap_or_default().to_owned();
                Ok(vec![Finding { file, check: "open".to_owned(), problem: problem.message, repaired: false }])
            }
            _ => Err(error),
        },
    }
}

/// The state of the model, and a finding if its files are damaged.
async fn check_model(context: &Context) -> (Value, Option<Finding>) {
    match context.settings.embeddings.provider {
        Provider::None => return (json!({ "status": "off" }), None),
        Provider::Openai | Provider::Cohere => {
            let embeddings = &context.settings.embeddings;
            return (json!({ "status": "remote", "model": embeddings.model, "baseUrl": embeddings.base_url }), None);
        }
        Provider::Local => {}
    }
    let places = wiring::places(&context.settings);
    let folder = match look(&places) {
        Ok(folder) => folder,
        Err(error) => {
            return (json!({ "status": "missing", "problem": error.to_string(), "hint": error.hint() }), None);
        }
    };
    let shown = folder.display().to_string();
    let weights = {
        let folder = folder.clone();
        tokio::task::spawn_blocking(move || verify(&folder)).await
    };
    let finding = |problem: String| Finding {
        file: folder.join("model.safetensors").display().to_string(),
        check: "model".to_owned(),
        problem,
        repaired: false,
    };
    match weights {
        Ok(Ok(Weights::Original | Weights::Half)) => (json!({ "status": "ok", "folder": shown }), None),
        // A folder that the settings name may have a model that Loci does not know; then it must load.
        Ok(Ok(Weights::Other { sha256 })) if places.explicit.is_some() => {
            let loaded = tokio::task::spawn_blocking(move || loci_models::Local::load(&folder).map(drop)).await;
            match loaded {
                Ok(Err(error)) => {
                    let file = shown.clone();
                    let finding =
                        Finding { file, check: "model".to_owned(), problem: error.to_string(), repaired: false };
                    (json!({ "status": "damaged", "folder": shown }), Some(finding))
                }
                _ => (json!({ "status": "other", "folder": shown, "sha256": sha256 }), None),
            }
        }
        Ok(Ok(Weights::Other { sha256 })) => {
            let finding = finding(format!("the weights are damaged: their sha256 is {sha256}; run `loci model fetch`"));
            (json!({ "status": "damaged", "folder": shown }), Some(finding))
        }
        Ok(Err(error)) => (json!({ "status": "damaged", "folder": shown }), Some(finding(error.to_string()))),
        Err(error) => (json!({ "status": "damaged", "folder": shown }), Some(finding(error.to_string()))),
    }
}

fn print(findings: &[Finding], model: &Value) {
    for finding in findings {
        let mark = if finding.repaired { "repaired" } else { "damaged" };
        output::line(&format!("{mark}: {}", output::strong(&finding.problem)));
        output::line(&format!("  {}", output::muted(&format!("{} · {}", finding.check, finding.file))));
    }
    if findings.is_empty() {
        output::line("Store: no damage found.");
    } else if findings.iter().any(|finding| !finding.repaired) {
        output::line("What was not repaired needs a backup; `loci export --everyone` saves what can still be read.");
    }
    let text = |name: &str| model[name].as_str().unwrap_or_default();
    match text("status") {
        "ok" => output::line(&format!("Model: no damage found ({}).", text("folder"))),
        "off" => output::line("Model: off."),
        "remote" => output::line(&format!("Model: {} at {}.", text("model"), text("baseUrl"))),
        "missing" => output::line(&format!("Model: {}; {}.", text("problem"), text("hint"))),
        "other" => output::line(&format!("Model: unknown to Loci, but it loads ({}).", text("folder"))),
        _ => output::line("Model: damaged."),
    }
}
