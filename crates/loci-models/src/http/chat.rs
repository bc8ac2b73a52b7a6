//! A language model over HTTP.
//!
//! [`RemoteChat`] makes the OpenAI-compatible `/chat/completions` call and requires JSON that follows a schema. An
//! answer that does not match is sent back once, in the same conversation and with what is wrong; a second mismatch is
//! an error. Texts are private: no error and no log line quotes one.

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

/// Fields that not every service supports. If a service refuses a field by name, the call is repeated without it, and
/// later calls omit it.
const OPTIONAL: &[&str] = &["response_format", "temperature", "max_tokens"];

/// Estimated tokens of a conversation beyond its texts: roles, separators and the message about a mismatch.
const OVERHEAD_TOKENS: u64 = 100;

/// The token limit up to which an answer has the configured timeout. A longer one gets more time in proportion.
const USUAL_TOKENS: u32 = 400;

/// The settings of a chat service.
#[derive(Debug, Clone)]
pub struct ChatConfig {
    /// The base URL, to which `/chat/completions` is appended, such as `https://host/v1`.
    pub base_url: String,
    /// The name of the model at the service.
    pub model: String,
    /// The key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// The certificate authorities that are trusted, as PEM. Default: those of the system.
    pub authorities: Option<Vec<u8>>,
    /// Timeout of one call with a limit of up to 400 tokens; a higher limit extends it in proportion. Default: 60 s.
    /// A question is at most two calls, each with its own retries.
    pub timeout: Duration,
    /// How calls are retried.
    pub retries: Retries,
    /// Price of a million prompt tokens, for the log. Default: 0.
    pub price_in_per_million: f64,
    /// Price of a million completion tokens, for the log. Default: 0.
    pub price_out_per_million: f64,
    /// Maximum size of an answer in bytes. A longer one is refused without reading the rest. Default: 1 MiB.
    pub most_bytes: usize,
}

impl ChatConfig {
    /// Returns the default settings for `model` at `base_url`.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            authorities: None,
            timeout: Duration::from_secs(60),
            retries: Retries::default(),
            price_in_per_million: 0.0,
            price_out_per_million: 0.0,
            most_bytes: 1 << 20,
        }
    }
}

/// A language model that is called over an OpenAI-compatible API.
#[derive(Debug)]
pub struct RemoteChat {
    service: Service,
    model: String,
    timeout: Duration,
    price_in_per_million: f64,
    price_out_per_million: f64,
    /// The fields that the service refuses, one bit for each of [`OPTIONAL`].
    without: AtomicU8,
}

/// One message of the conversation.
#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// The body of a call.
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

/// The tokens that a question has used so far.
#[derive(Debug, Default)]
struct TokenUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    repaired: bool,
}

impl RemoteChat {
    /// Checks the settings, without a call.
    pub fn new(config: ChatConfig) -> Result<Self, Error> {
        Self::prepare(config).map_err(|error| Error::of_chat(error, 0))
    }

    fn prepare(config: ChatConfig) -> Result<Self, Error> {
        let wrong = |field, problem: &str| Err(Error::Setting { field, problem: problem.to_owned() });
        if config.model.trim().is_empty() {
            return wrong("model", "the name of the model is empty");
        }
        if config.timeout.is_zero() {
            return wrong("timeout", "the timeout must be longer than 0");
        }
        if config.most_bytes == 0 {
            return wrong("most_bytes", "the size must be at least 1");
        }
        let prices = [
            ("price_in_per_million", config.price_in_per_million),
            ("price_out_per_million", config.price_out_per_million),
        ];
        for (field, price) in prices {
            if !(price.is_finite() && price >= 0.0) {
                return wrong(field, "a price must be a number that is not negative");
            }
        }
        let authorities = config.authorities.as_deref();
        let service = Service::new(
            &config.base_url,
            "chat/completions",
            config.api_key,
            authorities,
            config.timeout,
            config.retries,
        )?
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

    /// Asks the model, and once more if the answer does not match the schema.
    async fn ask_with_repair(&self, question: &ChatQuestion, usage: &mut TokenUsage) -> Result<Value, Error> {
        let first = self.reply(question, &[], usage).await?;
        let problem = match self.check(question, &first)? {
            Ok(value) => return Ok(value),
            Err(problem) => problem,
        };
        usage.repaired = true;
        let complaint = format!(
            "This answer cannot be used: {problem}. Send the whole answer again, corrected, as one JSON object and \
             nothing else."
        );
        let since = [("assistant", never_empty(&first.text)), ("user", complaint.as_str())];
        let second = self.reply(question, &since, usage).await?;
        self.check(question, &second)?.map_err(|problem| Error::BadAnswer { model: self.model.clone(), problem })
    }

    /// Returns the value, or what does not match the schema. Returns an error if a repair cannot help, because the
    /// answer was cut off or declined.
    fn check(&self, question: &ChatQuestion, reply: &Reply) -> Result<Result<Value, String>, Error> {
        let model = || self.model.clone();
        match (shape::read(&reply.text, &question.schema), reply.end) {
            (Err(_), End::CutShort) => Err(Error::CutShort { model: model(), max_tokens: question.max_tokens }),
            (Err(_), End::Declined) => Err(Error::Declined { model: model() }),
            (outcome, _) => Ok(outcome),
        }
    }

    /// Makes one call and adds its tokens to `usage`.
    async fn reply(
        &self,
        question: &ChatQuestion,
        since: &[(&'static str, &str)],
        usage: &mut TokenUsage,
    ) -> Result<Reply, Error> {
        let answer = self.send(question, since).await?;
        let reply = Reply::read(&answer).map_err(|problem| self.service.nonsense(problem.to_owned()))?;
        let sent = || since.iter().map(|(_, text)| count(text)).sum::<u64>() + sent_tokens(question);
        usage.prompt_tokens += reply.usage.0.unwrap_or_else(sent);
        usage.completion_tokens += reply.usage.1.unwrap_or_else(|| count(&reply.text));
        Ok(reply)
    }

    /// Makes one call without the fields that the service refuses, and returns the body of the answer.
    async fn send(&self, question: &ChatQuestion, since: &[(&'static str, &str)]) -> Result<Value, Error> {
        let mut without = self.without.load(Ordering::Relaxed);
        loop {
            let system = instructions(question, without);
            let body = self.body(question, &system, since, without);
            match self.service.post_within(&body, self.timeout_of(question)).await {
                Ok(answer) => {
                    // The call succeeded without these fields, so they were the cause of the refusal.
                    self.without.fetch_or(without, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(Error::Unsupported { field, .. }) if without | bit(field) != without => without |= bit(field),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the timeout of a call, which grows with the token limit of the question.
    fn timeout_of(&self, question: &ChatQuestion) -> Duration {
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
            // This is the newer name of `max_tokens`.
            max_completion_tokens: limit.filter(|_| !takes("max_tokens")),
            response_format: takes("response_format").then(|| {
                let schema = shape::without_bounds(&question.schema);
                let named = json!({ "name": question.purpose, "strict": true, "schema": schema });
                json!({ "type": "json_schema", "json_schema": named })
            }),
        }
    }

    /// Logs one line for every question, without its text.
    fn log(&self, question: &ChatQuestion, usage: &TokenUsage, took: Duration, failure: Option<&Error>) {
        let price = |tokens: u64, per_million: f64| tokens as f64 / 1e6 * per_million;
        let cost = price(usage.prompt_tokens, self.price_in_per_million)
            + price(usage.completion_tokens, self.price_out_per_million);
        tracing::info!(
            purpose = question.purpose,
            model = self.model,
            prompt_version = question.prompt_version,
            prompt_tokens = usage.prompt_tokens,
            completion_tokens = usage.completion_tokens,
            cost,
            milliseconds = took.as_millis() as u64,
            repaired = usage.repaired,
            failure = failure.map(tracing::field::display),
            "language model call"
        );
    }
}

#[async_trait]
impl Chat for RemoteChat {
    fn model(&self) -> &str {
        &self.model
    }

    /// Estimates the tokens with a repair: the question is sent twice, the first answer is written and then read, and
    /// the second one is written.
    fn estimate(&self, question: &ChatQuestion) -> u64 {
        2 * sent_tokens(question) + 3 * u64::from(question.max_tokens) + OVERHEAD_TOKENS
    }

    async fn ask(&self, question: &ChatQuestion) -> Result<ChatAnswer, Error> {
        let start = Instant::now();
        let mut usage = TokenUsage::default();
        let outcome = self.ask_with_repair(question, &mut usage).await;
        self.log(question, &usage, start.elapsed(), outcome.as_ref().err());
        let TokenUsage { prompt_tokens, completion_tokens, .. } = usage;
        match outcome {
            Ok(value) => Ok(ChatAnswer { value, prompt_tokens, completion_tokens }),
            Err(cause) => Err(Error::of_chat(cause, prompt_tokens + completion_tokens)),
        }
    }
}

/// Returns the system message. It contains the schema if the service does not support `response_format`.
fn instructions(question: &ChatQuestion, without: u8) -> String {
    if without & bit("response_format") == 0 {
        return question.system.clone();
    }
    format!(
        "{}\n\nAnswer with one JSON object and nothing else. It must be valid under this JSON schema:\n{}",
        question.system, question.schema
    )
}

/// Returns the bit of an optional field, or 0 for any other field.
fn bit(field: &str) -> u8 {
    OPTIONAL.iter().position(|optional| *optional == field).map_or(0, |place| 1 << place)
}

/// Estimates the prompt tokens of a question.
fn sent_tokens(question: &ChatQuestion) -> u64 {
    count(&question.system) + count(&question.input) + count(&question.schema.to_string()) + OVERHEAD_TOKENS
}

/// Estimates the tokens of a text at four bytes each, as in English, for services that do not report usage. Other
/// scripts have more bytes per character, so for them the estimate tends to be too high.
fn count(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}
