//! How does Loci let someone else's machine read and write?
//!
//! [`RemoteChat`] speaks the OpenAI-compatible `/chat/completions` call and wants JSON of a given
//! shape back. What comes is held against the shape; what does not fit is sent back once with the
//! complaint, in the same conversation, and then it is a failure. Texts are someone's: no error and no
//! log line quotes one.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};

use super::call::{Retries, Service, never_empty};
use super::reply::{End, Reply};
use super::shape;
use crate::chat::{Chat, ChatAnswer, ChatQuestion};
use crate::error::Error;
use crate::secret::Secret;

/// Fields that not every service takes. One that refuses a field by name is asked without it, and
/// from then on never sent it again.
const OPTIONAL: &[&str] = &["response_format", "temperature", "max_tokens"];

/// What a conversation costs beyond its texts: roles, separators, the words of a complaint.
const OVERHEAD_TOKENS: u64 = 100;

/// Answers of up to so many tokens have the usual time.
const USUAL_TOKENS: u32 = 400;

/// What must be known to reach a chat service.
#[derive(Debug, Clone)]
pub struct ChatConfig {
    /// The address below which `/chat/completions` lies, such as `https://host/v1`.
    pub base_url: String,
    /// The model's name at the service.
    pub model: String,
    /// The key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// How long one call may take that is answered in up to 400 tokens; a longer answer gets longer in proportion.
    /// A question is at most two calls, each repeated as `retries` says.
    pub timeout: Duration,
    /// How often and how patiently a call is repeated.
    pub retries: Retries,
    /// What a million tokens cost that are read, for the log.
    pub price_in_per_million: f64,
    /// What a million tokens cost that are written, for the log.
    pub price_out_per_million: f64,
    /// The most bytes of an answer; a longer one is refused without being read to its end.
    pub most_bytes: usize,
}

impl ChatConfig {
    /// The usual settings for `model` at `base_url`.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            timeout: Duration::from_secs(60),
            retries: Retries::default(),
            price_in_per_million: 0.0,
            price_out_per_million: 0.0,
            most_bytes: 1 << 20,
        }
    }
}

/// A language model behind an OpenAI-compatible address.
#[derive(Debug)]
pub struct RemoteChat {
    service: Service,
    model: String,
    timeout: Duration,
    price_in_per_million: f64,
    price_out_per_million: f64,
    /// The fields that the service is known to refuse, a bit for each of [`OPTIONAL`].
    without: AtomicU8,
}

/// One thing said.
#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// One call.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

/// What a question has cost so far.
#[derive(Debug, Default)]
struct TokenUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    repaired: bool,
}

impl RemoteChat {
    /// Prepares the service, without calling it.
    pub fn new(config: ChatConfig) -> Result<Self, Error> {
        Self::prepare(config).map_err(|error| Error::of_chat(error, 0))
    }

    fn prepare(config: ChatConfig) -> Result<Self, Error> {
        let wrong = |field, problem: &str| Err(Error::Setting { field, problem: problem.to_owned() });
        if config.model.trim().is_empty() {
            return wrong("model", "the name of the model is empty");
        }
        if config.timeout.is_zero() {
            return wrong("timeout", "no service can answer in no time");
        }
        if config.most_bytes == 0 {
            return wrong("most_bytes", "an answer has at least one byte");
        }
        let prices = [
            ("price_in_per_million", config.price_in_per_million),
            ("price_out_per_million", config.price_out_per_million),
        ];
        for (field, price) in prices {
            if !(price.is_finite() && price >= 0.0) {
                return wrong(field, "a price is a number from 0 upwards");
            }
        }
        let service =
            Service::new(&config.base_url, "chat/completions", config.api_key, config.timeout, config.retries)?
                .discreet()
                .bounded(config.most_bytes)
                .with_optional(OPTIONAL);
        Ok(Self {
            service,
            model: config.model,
            timeout: config.timeout,
            price_in_per_million: config.price_in_per_million,
            price_out_per_million: config.price_out_per_million,
            without: AtomicU8::new(0),
        })
    }

    /// Asks, and asks once more where the answer has not the shape.
    async fn converse(&self, question: &ChatQuestion, bill: &mut TokenUsage) -> Result<Value, Error> {
        let first = self.hear(question, &[], bill).await?;
        let problem = match self.judge(question, &first)? {
            Ok(value) => return Ok(value),
            Err(problem) => problem,
        };
        bill.repaired = true;
        let complaint = format!(
            "This answer cannot be used: {problem}. Send the whole answer again, corrected, as one JSON object and \
             nothing else."
        );
        let since = [("assistant", never_empty(&first.text)), ("user", complaint.as_str())];
        let second = self.hear(question, &since, bill).await?;
        self.judge(question, &second)?.map_err(|problem| Error::BadAnswer { model: self.model.clone(), problem })
    }

    /// The value that was asked for, or what to complain of; a failure where complaining cannot help.
    fn judge(&self, question: &ChatQuestion, reply: &Reply) -> Result<Result<Value, String>, Error> {
        let model = || self.model.clone();
        match (shape::read(&reply.text, &question.schema), reply.end) {
            (Err(_), End::CutShort) => Err(Error::CutShort { model: model(), max_tokens: question.max_tokens }),
            (Err(_), End::Declined) => Err(Error::Declined { model: model() }),
            (outcome, _) => Ok(outcome),
        }
    }

    /// One reply, with what it cost put on the bill.
    async fn hear(
        &self,
        question: &ChatQuestion,
        since: &[(&'static str, &str)],
        bill: &mut TokenUsage,
    ) -> Result<Reply, Error> {
        let answer = self.send(question, since).await?;
        let reply = Reply::read(&answer).map_err(|problem| self.service.nonsense(problem.to_owned()))?;
        let sent = || since.iter().map(|(_, text)| count(text)).sum::<u64>() + sent_tokens(question);
        bill.prompt_tokens += reply.usage.0.unwrap_or_else(sent);
        bill.completion_tokens += reply.usage.1.unwrap_or_else(|| count(&reply.text));
        Ok(reply)
    }

    /// One answer of the service, asked without the fields that it refuses.
    async fn send(&self, question: &ChatQuestion, since: &[(&'static str, &str)]) -> Result<Value, Error> {
        let mut without = self.without.load(Ordering::Relaxed);
        loop {
            let system = instructions(question, without);
            let body = self.body(question, &system, since, without);
            match self.service.post_within(&body, self.patience(question)).await {
                Ok(answer) => {
                    // Only now is it known that the field was the trouble.
                    self.without.fetch_or(without, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(Error::Unsupported { field, .. }) if without | bit(field) != without => without |= bit(field),
                Err(error) => return Err(error),
            }
        }
    }

    /// How long the service may take for an answer of this length.
    fn patience(&self, question: &ChatQuestion) -> Duration {
        self.timeout.mul_f64((f64::from(question.max_tokens) / f64::from(USUAL_TOKENS)).max(1.0))
    }

    fn body<'a>(
        &'a self,
        question: &'a ChatQuestion,
        system: &'a str,
        since: &[(&'static str, &'a str)],
        without: u8,
    ) -> Body<'a> {
        let opening = [("system", system), ("user", question.input.as_str())];
        let messages = opening.iter().chain(since).map(|&(role, content)| Message { role, content }).collect();
        let takes = |field| without & bit(field) == 0;
        let limit = Some(question.max_tokens);
        Body {
            model: &self.model,
            messages,
            temperature: takes("temperature").then_some(0),
            max_tokens: limit.filter(|_| takes("max_tokens")),
            // The newer name of the same field.
            max_completion_tokens: limit.filter(|_| !takes("max_tokens")),
            response_format: takes("response_format").then(|| {
                let schema = shape::without_bounds(&question.schema);
                let named = json!({ "name": question.purpose, "strict": true, "schema": schema });
                json!({ "type": "json_schema", "json_schema": named })
            }),
        }
    }

    /// One line for every question, without a word of it.
    fn log(&self, question: &ChatQuestion, bill: &TokenUsage, took: Duration, failure: Option<&Error>) {
        let price = |tokens: u64, per_million: f64| tokens as f64 / 1e6 * per_million;
        let cost = price(bill.prompt_tokens, self.price_in_per_million)
            + price(bill.completion_tokens, self.price_out_per_million);
        tracing::info!(
            purpose = question.purpose,
            model = self.model,
            prompt_version = question.prompt_version,
            prompt_tokens = bill.prompt_tokens,
            completion_tokens = bill.completion_tokens,
            cost,
            milliseconds = took.as_millis() as u64,
            repaired = bill.repaired,
            failure = failure.map(tracing::field::display),
            "a language model was asked"
        );
    }
}

#[async_trait]
impl Chat for RemoteChat {
    fn model(&self) -> &str {
        &self.model
    }

    /// What it costs if the answer must be repaired: the question twice, the first answer written and
    /// then read, the second one written.
    fn estimate(&self, question: &ChatQuestion) -> u64 {
        2 * sent_tokens(question) + 3 * u64::from(question.max_tokens) + OVERHEAD_TOKENS
    }

    async fn ask(&self, question: &ChatQuestion) -> Result<ChatAnswer, Error> {
        let start = Instant::now();
        let mut bill = TokenUsage::default();
        let outcome = self.converse(question, &mut bill).await;
        self.log(question, &bill, start.elapsed(), outcome.as_ref().err());
        let TokenUsage { prompt_tokens, completion_tokens, .. } = bill;
        match outcome {
            Ok(value) => Ok(ChatAnswer { value, prompt_tokens, completion_tokens }),
            Err(cause) => Err(Error::of_chat(cause, prompt_tokens + completion_tokens)),
        }
    }
}

/// What the model is told; with the shape in words where the service does not take it as a field.
fn instructions(question: &ChatQuestion, without: u8) -> String {
    if without & bit("response_format") == 0 {
        return question.system.clone();
    }
    format!(
        "{}\n\nAnswer with one JSON object and nothing else. It must be valid under this JSON schema:\n{}",
        question.system, question.schema
    )
}

/// The bit of an optional field; none for a field that is not optional.
fn bit(field: &str) -> u8 {
    OPTIONAL.iter().position(|optional| *optional == field).map_or(0, |place| 1 << place)
}

/// Tokens of a question as it is sent.
fn sent_tokens(question: &ChatQuestion) -> u64 {
    count(&question.system) + count(&question.input) + count(&question.schema.to_string()) + OVERHEAD_TOKENS
}

/// An estimate of the tokens of a text, for services that do not report their use: four bytes each, as in English.
/// Other scripts have more bytes per character, so the estimate is rather too high for them than too low.
fn count(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}
