//! Writes the vectors of the example sentences of each intent.
//!
//! `cargo run --release -p loci-engine --example exemplars -- MODEL_FOLDER OUT` writes the vectors of
//! the sentences in `plan/intent/exemplars.rs`, a signed byte a number, so that a single question
//! need not wait until eighty sentences are embedded.

use std::path::Path;

use loci_engine::plan::intent::EXEMPLARS;
use loci_models::{Detail, Local};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, out] = arguments.as_slice() else { return Err("give MODEL_FOLDER and OUT".into()) };
    let model = Local::load(Path::new(folder))?;
    let texts: Vec<String> =
        EXEMPLARS.iter().flat_map(|(_, sentences)| sentences.iter().map(|text| (*text).to_owned())).collect();
    let mut bytes = Vec::new();
    for embedding in model.embed_blocking(&texts, Detail::Sentence)? {
        let loudest = embedding.vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        bytes.extend(embedding.vector.iter().map(|x| ((x / loudest * 127.0).round() as i8).cast_unsigned()));
    }
    std::fs::write(out, bytes)?;
    Ok(())
}
