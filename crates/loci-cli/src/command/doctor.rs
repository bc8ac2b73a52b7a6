//! `loci doctor`: is everything as it should be?
//!
//! Damage is an answer here and not a failure: the files that can be looked at are looked at,
//! whatever became of the others. It ends with the exit code of damaged data when something is
//! wrong and was not mended.

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

/// Whether to mend.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci doctor
  loci doctor --repair
  loci doctor --json

What can be made again from the records is mended; damaged pages are only reported. Exit code 0
means that nothing is wrong any more, 22 that something is.")]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended
    #[arg(long)]
    repair: bool,
}

/// Looks through the store and the model, and prints what was found.
pub(crate) async fn run(context: &Context, args: &DoctorArgs) -> Result<ExitCode> {
    let mut findings = look_through(context, args.repair).await?;
    let (model, damaged) = examine_model(context).await;
    findings.extend(damaged);
    if context.json {
        output::json(&json!({ "findings": findings, "model": model }));
    } else {
        print(&findings, &model);
    }
    let healthy = findings.iter().all(|finding| finding.repaired);
    Ok(ExitCode::from(if healthy { 0 } else { ErrorKind::Corrupt.row().exit }))
}

async fn look_through(context: &Context, repair: bool) -> Result<Vec<Finding>> {
    let looked = match context.engine().await {
        Ok(engine) => engine.doctor(&Caller::operator(), repair).await.map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    match looked {
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

/// What is said of the model, and whether its files are damaged.
async fn examine_model(context: &Context) -> (Value, Option<Finding>) {
    match context.settings.embeddings.provider {
        Provider::None => return (json!({ "status": "off" }), None),
        Provider::Openai => {
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
        // Whoever names a folder may well have a model that Loci has never seen: it must load.
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
            let told = finding(format!("the weights are damaged: their sha256 is {sha256}; run `make model`"));
            (json!({ "status": "damaged", "folder": shown }), Some(told))
        }
        Ok(Err(error)) => (json!({ "status": "damaged", "folder": shown }), Some(finding(error.to_string()))),
        Err(error) => (json!({ "status": "damaged", "folder": shown }), Some(finding(error.to_string()))),
    }
}

fn print(findings: &[Finding], model: &Value) {
    for finding in findings {
        let mark = if finding.repaired { "mended" } else { "wrong" };
        output::line(&format!("{mark}: {}", output::strong(&finding.problem)));
        output::line(&format!("  {}", output::muted(&format!("{} · {}", finding.check, finding.file))));
    }
    if findings.is_empty() {
        output::line("The store: nothing found, all is well.");
    } else if findings.iter().any(|finding| !finding.repaired) {
        output::line("What is not mended needs a backup: `loci export` saves what can still be read.");
    }
    let text = |name: &str| model[name].as_str().unwrap_or_default();
    match text("status") {
        "ok" => output::line(&format!("The model: its files are sound ({}).", text("folder"))),
        "off" => output::line("The model: switched off."),
        "remote" => output::line(&format!("The model: {} at {}.", text("model"), text("baseUrl"))),
        "missing" => output::line(&format!("The model: {}; {}.", text("problem"), text("hint"))),
        "other" => output::line(&format!("The model: one that Loci does not know, but it loads ({}).", text("folder"))),
        _ => output::line("The model: damaged."),
    }
}
