//! Embeds texts: makes the vectors of memories and queries.
//!
//! A long note is embedded in parts, because a model reads only the beginning of a long text and the mean over many
//! topics represents none of them. A text that the model cannot read is embedded by the multilingual model, if there
//! is one. **Invariant:** every memory has one vector, stored under the name of the model that made it.

use std::sync::atomic::Ordering;

use loci_models::projection::Projection;
use loci_models::{Detail, Embedder, Embedding};
use loci_types::{Addition, Error, ErrorKind, Memory, Vector};
use tracing::Instrument;

use crate::recall::{NotePart, in_known_script, late_interaction, pack_parts, parts_of, readable};
use crate::text::embedding_text;
use crate::write::remember::Embed;
use crate::{Engine, Result};

/// How a memory is read.
enum Encoding {
    /// By the model, whole; its place among the texts.
    Whole(usize),
    /// The model embeds it in parts: the index of the first part among the texts, and the byte ranges of the parts.
    Parts(usize, Vec<std::ops::Range<usize>>),
    /// By the model for other languages; its place among those texts.
    Other(usize),
}

/// How the caller waits for a model outside of this process.
#[derive(Debug, Clone, Copy)]
enum EmbedHaste {
    /// For a request: see [`Embedder::embed_soon`].
    Soon,
    /// For background work: with the whole timeout and retries.
    Patiently,
}

impl EmbedHaste {
    async fn embed(
        self,
        embedder: &dyn Embedder,
        texts: &[String],
        detail: Detail,
    ) -> std::result::Result<Vec<Embedding>, loci_models::Error> {
        match self {
            Self::Soon => embedder.embed_soon(texts, detail).await,
            Self::Patiently => embedder.embed(texts, detail).await,
        }
    }
}

impl Engine {
    /// Embeds a query. `None` without a model, or if it fails.
    pub(crate) async fn embed_question(&self, text: &str) -> Option<(Vector, Embedding)> {
        let embedder = self.embedder.as_ref()?;
        let made = embedder.embed_questions(&[text.to_owned()], self.detail()).instrument(span(1)).await;
        let made = made.inspect_err(report).ok()?.pop()?;
        let model = embedder.model().name.clone();
        Some((Vector { model, values: made.vector.clone(), token_states: None }, made))
    }

    /// What the model for other languages sees in a question.
    pub(crate) async fn embed_in_languages(&self, text: &str) -> Option<Vector> {
        let embedder = self.languages.as_ref().filter(|_| in_known_script(text))?;
        let made = one(embedder.as_ref(), text, Detail::Sentence).await?;
        Some(Vector { model: embedder.model().name.clone(), values: made.vector, token_states: None })
    }

    /// Whether token states are kept beside the vectors.
    pub(crate) fn keeps_tokens(&self) -> bool {
        self.config.retrieval.late_interaction
            && self.model().is_some_and(|model| Projection::of(&model.name).is_some())
    }

    fn detail(&self) -> Detail {
        if self.keeps_tokens() { Detail::Tokens } else { Detail::Sentence }
    }

    /// The vector that a caller gives with a memory, checked against the model of this engine.
    pub(crate) fn given_vector(&self, given: Option<Vec<f32>>, model: Option<&str>) -> Result<Option<Vector>> {
        let Some(values) = given else {
            return match model {
                Some(_) => Err(Error::invalid("embeddingModel", "embeddingModel is given without embedding").into()),
                None => Ok(None),
            };
        };
        let Some(known) = self.model() else {
            return Err(Error::invalid("embedding", "embedding is given, but no embedding model is configured")
                .hint("leave it out, or configure the model that made it")
                .into());
        };
        if let Some(name) = model.filter(|name| *name != known.name) {
            let message = format!("embeddingModel is `{name}`, but the model of this server is `{}`", known.name);
            return Err(Error::invalid("embeddingModel", message)
                .hint("leave the embedding out, so that it is computed")
                .into());
        }
        if known.dimensions == 0 {
            let message = "the embedding service has not answered yet, so the size of its vectors is not known";
            return Err(Error::new(ErrorKind::EmbeddingFailed, message)
                .at("embedding")
                .hint("leave it out, so that it is computed later, or set embeddings.dimensions")
                .into());
        }
        let finite = values.iter().all(|value| value.is_finite()) && values.iter().any(|value| *value != 0.0);
        if values.len() != known.dimensions || !finite {
            let (length, expect) = (values.len(), known.dimensions);
            let message = format!("embedding has {length} numbers, but must have {expect}, all finite and not all 0");
            return Err(Error::invalid("embedding", message).hint("leave it out, so that it is computed").into());
        }
        Ok(Some(Vector { model: known.name.clone(), values, token_states: None }))
    }

    /// The vector of a text that is not stored as a memory. `None` without a model, or if it fails.
    pub(crate) async fn embed_text(&self, text: &str) -> Option<Vec<f32>> {
        Some(one(self.embedder.as_ref()?.as_ref(), text, Detail::Sentence).await?.vector)
    }

    /// The vector of a memory. `None` without a model, or if it fails: then the memory is stored and its vector
    /// follows.
    pub(crate) async fn embed_one(&self, memory: &Memory) -> Option<Vector> {
        self.embed_or_wait(&[memory]).await?.pop()
    }

    /// Embeds an addition that has no vector, or adds the job that does it later.
    pub(crate) async fn embed_addition(&self, addition: &mut Addition, embed: Embed) {
        if embed == Embed::Now && addition.vector.is_none() {
            addition.vector = self.embed_one(&addition.memory).await;
        }
        if addition.vector.is_none() {
            addition.jobs.extend(self.embed_jobs(addition.memory.id, addition.memory.created_at));
        }
    }

    /// The vectors of several memories, for a request that waits. `None` without a model, or if it fails.
    pub(crate) async fn embed_or_wait(&self, memories: &[&Memory]) -> Option<Vec<Vector>> {
        self.embed_with(memories, EmbedHaste::Soon).await.unwrap_or_else(|error| {
            match &error {
                crate::Error::Model(error) => report(error),
                error => tracing::warn!(%error, "the embedding model failed"),
            }
            None
        })
    }

    /// The vectors of several memories, for background work. `None` without a model.
    pub(crate) async fn embed(&self, memories: &[&Memory]) -> Result<Option<Vec<Vector>>> {
        self.embed_with(memories, EmbedHaste::Patiently).await
    }

    async fn embed_with(&self, memories: &[&Memory], how: EmbedHaste) -> Result<Option<Vec<Vector>>> {
        let Some(embedder) = &self.embedder else { return Ok(None) };
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        let encodings: Vec<Encoding> =
            memories.iter().map(|memory| self.encoding_of(memory, &mut texts, &mut others)).collect();
        let name = &embedder.model().name;
        let embedding = async {
            let made =
                if texts.is_empty() { Vec::new() } else { how.embed(embedder.as_ref(), &texts, self.detail()).await? };
            Ok::<_, crate::Error>((made, self.embed_others(embedder.as_ref(), &others, how).await?))
        };
        let (made, (other_name, other)) = embedding.instrument(span(texts.len() + others.len())).await?;
        let states =
            |made: &Embedding| if made.tokens.is_empty() { None } else { late_interaction::packed_states(name, made) };
        let vector = |encoding: &Encoding| match encoding {
            Encoding::Whole(at) => {
                Vector { model: name.clone(), values: made[*at].vector.clone(), token_states: states(&made[*at]) }
            }
            Encoding::Parts(first, ranges) => {
                let of = |(place, range): (usize, &std::ops::Range<usize>)| {
                    let made = &made[first + place];
                    NotePart::new(range.clone(), &made.vector, states(made).unwrap_or_default())
                };
                let parts: Vec<NotePart> = ranges.iter().enumerate().map(of).collect();
                let values = mean(&made[*first..first + ranges.len()]);
                Vector { model: name.clone(), values, token_states: Some(pack_parts(&parts)) }
            }
            Encoding::Other(at) => {
                Vector { model: other_name.clone(), values: other[*at].vector.clone(), token_states: None }
            }
        };
        Ok(Some(encodings.iter().map(vector).collect()))
    }

    /// Embeds texts that the main model cannot read, and returns the name of the model that did it. If the multilingual model
    /// fails, the main one does it: its vectors are of little use, but nothing waits for a damaged file, and
    /// `reembed` replaces them.
    async fn embed_others(
        &self,
        main: &dyn Embedder,
        texts: &[String],
        how: EmbedHaste,
    ) -> Result<(String, Vec<Embedding>)> {
        let Some(languages) = self.languages.as_ref().filter(|_| !texts.is_empty()) else {
            return Ok((String::new(), Vec::new()));
        };
        match how.embed(languages.as_ref(), texts, Detail::Sentence).await {
            Ok(made) => {
                self.has_multilingual_vectors.store(true, Ordering::Relaxed);
                Ok((languages.model().name.clone(), made))
            }
            Err(error) => {
                tracing::warn!(%error, "the multilingual model failed; the main model is used instead");
                Ok((main.model().name.clone(), how.embed(main, texts, Detail::Sentence).await?))
            }
        }
    }

    /// Whether a vector is what this memory would get today.
    pub(crate) fn is_whole(&self, memory: &Memory, vector: &Vector) -> bool {
        if self.left_to_languages(memory) {
            return self.languages.as_ref().is_some_and(|one| one.model().name == vector.model);
        }
        let in_parts =
            vector.token_states.as_deref().is_some_and(|states| crate::recall::unpack_parts(states).is_some());
        match &vector.token_states {
            None => !self.keeps_tokens(),
            Some(_) => in_parts || !self.keeps_tokens() || parts_of(&memory.content, self.is_note(memory)).is_empty(),
        }
    }

    fn left_to_languages(&self, memory: &Memory) -> bool {
        self.languages.is_some() && !readable(&memory.content) && in_known_script(&memory.content)
    }

    fn is_note(&self, memory: &Memory) -> bool {
        self.keeps_tokens() && embedding_text(memory) == memory.content && !crate::text::is_utterance(memory)
    }

    fn encoding_of(&self, memory: &Memory, texts: &mut Vec<String>, others: &mut Vec<String>) -> Encoding {
        let text = embedding_text(memory);
        if self.left_to_languages(memory) {
            others.push(text);
            return Encoding::Other(others.len() - 1);
        }
        let parts = parts_of(&memory.content, self.is_note(memory));
        let first = texts.len();
        if parts.is_empty() {
            texts.push(text);
            return Encoding::Whole(first);
        }
        texts.extend(parts.iter().map(|part| memory.content[part.clone()].to_owned()));
        Encoding::Parts(first, parts)
    }
}

async fn one(embedder: &dyn Embedder, text: &str, detail: Detail) -> Option<Embedding> {
    let made = embedder.embed_soon(&[text.to_owned()], detail).instrument(span(1)).await;
    made.inspect_err(report).ok()?.pop()
}

/// Logs a failure of a model. A service that is away was reported when it failed first.
fn report(error: &loci_models::Error) {
    match error {
        loci_models::Error::Away { .. } => tracing::debug!(%error, "the embedding model was not called"),
        error => tracing::warn!(%error, "the embedding model failed"),
    }
}

/// The span of a call to an embedding model. It holds the number of texts and never a text.
fn span(texts: usize) -> tracing::Span {
    tracing::debug_span!(target: "loci::stage", "embed", texts)
}

/// The direction in which all of them point together.
fn mean(made: &[Embedding]) -> Vec<f32> {
    let mut sum = vec![0.0_f32; made.first().map_or(0, |one| one.vector.len())];
    for one in made {
        sum.iter_mut().zip(&one.vector).for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.iter_mut().for_each(|value| *value /= length);
    sum
}
