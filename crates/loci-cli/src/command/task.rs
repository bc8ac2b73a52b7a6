//! Long work of the API: waiting for a task, with its progress.

use std::time::Duration;

use anyhow::Result;
use loci_types::{Error, ErrorKind};
use serde_json::Value;

use crate::api::{Api, Call, reported};
use crate::output;

/// Time between two looks at a task.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits until a task has ended, and returns its result.
pub(super) async fn wait(api: &Api, mut task: Value) -> Result<Value> {
    let id = task["id"].as_str().unwrap_or_default().to_owned();
    let bar = output::progress(0, task["progress"]["unit"].as_str().unwrap_or_default());
    loop {
        match task["status"].as_str() {
            Some("succeeded") => {
                bar.finish_and_clear();
                return Ok(task["result"].take());
            }
            Some("failed") => {
                bar.finish_and_clear();
                return Err(reported(&task["error"]).into());
            }
            Some("cancelled") => {
                bar.finish_and_clear();
                return Err(Error::new(ErrorKind::Conflict, format!("the task {id} was cancelled")).into());
            }
            _ => {}
        }
        if let Some(total) = task["progress"]["total"].as_u64() {
            bar.set_length(total);
        }
        bar.set_position(task["progress"]["done"].as_u64().unwrap_or(0));
        tokio::time::sleep(PAUSE).await;
        task = api.call(Call::get(&["v1", "admin", "tasks", &id])).await?;
    }
}
