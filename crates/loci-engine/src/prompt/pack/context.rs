//! Fills a model's context window.
//!
//! The system prompt, the tools and the input are never cut: if they do not fit, the error says by how much. Memories
//! are packed into their budget, and the conversation fills the rest, newest first. **Invariant:** the parts never
//! exceed the window minus the reserve for the answer.

use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use super::delta::Delta;
use super::line::fold;
use super::shorten::shorten;
use super::tokens::count_tokens;
use super::{Format, PackBudget, PackItem, PackedText, block_tokens, data_block, pack};

/// Number of tokens that chat models add to each message for its start and its role.
const MESSAGE_TOKENS: usize = 4;
/// What stands before the summary of older turns.
const SUMMARY: &str = "[Previous context summary]: ";
/// The most tokens of that summary.
const SUMMARY_TOKENS: usize = 2_000;

/// A model's window, and how it is divided.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The tokens of the whole.
    pub tokens: usize,
    /// What is kept for the system prompt.
    pub system: Reserve,
    /// What is kept for the answer.
    pub output: Reserve,
    /// What one tool's description is expected to take.
    pub tool_tokens: usize,
    /// The part of the window for memory, in per cent.
    pub memory_percent: usize,
    /// Whether memories and turns that do not fit are summarized.
    pub summarize: bool,
}

/// A part of the window, up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserve {
    /// The part, in per cent.
    pub percent: usize,
    /// The most tokens it comes to.
    pub most: usize,
}

impl Default for Window {
    /// 128,000 tokens: 5 % for the system prompt and 10 % for the answer, each at most 4,000; 500 for a
    /// tool; 70 % for memory; the rest for the input.
    fn default() -> Self {
        Self {
            tokens: 128_000,
            system: Reserve { percent: 5, most: 4_000 },
            output: Reserve { percent: 10, most: 4_000 },
            tool_tokens: 500,
            memory_percent: 70,
            summarize: false,
        }
    }
}

impl Window {
    /// A window of this number of tokens, with the default shares.
    pub fn of(tokens: usize) -> Self {
        Self { tokens, ..Self::default() }
    }
}

/// How the tokens of a window are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Budgets {
    /// All of them.
    pub total: usize,
    /// For the system prompt.
    pub system: usize,
    /// For the descriptions of tools.
    pub tools: usize,
    /// For memory.
    pub memory: usize,
    /// For the input, and for the conversation before it.
    pub input: usize,
    /// For the answer.
    pub output: usize,
}

/// Divides a window for an agent with this number of tools.
///
/// The parts add up to the window exactly. Memory and input share what system prompt, answer and
/// tools leave; many tools make both of them smaller, in proportion.
pub fn budgets(window: &Window, tools: usize) -> Budgets {
    let total = window.tokens;
    let reserve = |reserve: Reserve| percent(total, reserve.percent).min(reserve.most);
    let output = reserve(window.output);
    let system = reserve(window.system).min(total - output);
    let rest = total - output - system;
    let tools = tools.saturating_mul(window.tool_tokens).min(rest);
    let rest = rest - tools;
    let wished = percent(total, window.memory_percent);
    let shared = 100_usize.saturating_sub(window.system.percent).saturating_sub(window.output.percent).max(1);
    let memory = wished.min(part(rest, window.memory_percent.min(shared), shared));
    Budgets { total, system, tools, memory, input: rest - memory, output }
}

fn percent(total: usize, percent: usize) -> usize {
    part(total, percent.min(100), 100)
}

/// `total · share / whole`, rounded down, without overflow; `share` is at most `whole`, which is at most 100.
fn part(total: usize, share: usize, whole: usize) -> usize {
    total / whole * share + total % whole * share / whole
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Message {
    /// The role of the author: `system`, `user`, `assistant`.
    pub role: String,
    /// What it says.
    pub content: String,
}

impl Message {
    /// A message of `role`.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }

    fn tokens(&self) -> usize {
        count_tokens(&self.content) + MESSAGE_TOKENS
    }
}

/// What a context is built from.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextParts<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The descriptions of the tools, which are sent beside the messages.
    pub tools: &'a [String],
    /// What was recalled, best first.
    pub memories: &'a [PackItem],
    /// What has changed in memory.
    pub delta: Option<&'a Delta>,
    /// The conversation so far, the oldest first.
    pub history: &'a [Message],
    /// What the user says now.
    pub input: &'a str,
}

/// The tokens of each part of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextTokens {
    /// Of the system prompt.
    pub system: usize,
    /// Of the tools.
    pub tools: usize,
    /// Of memory.
    pub memory: usize,
    /// Of the conversation, with the summary of its older part.
    pub history: usize,
    /// Of the input.
    pub input: usize,
}

impl ContextTokens {
    /// All that is sent.
    pub fn sum(&self) -> usize {
        self.system + self.tools + self.memory + self.history + self.input
    }
}

/// A filled window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// System prompt, memory, summary of older turns, newer turns, input.
    pub messages: Vec<Message>,
    /// What each part takes.
    pub tokens: ContextTokens,
    /// How the window was divided.
    pub budgets: Budgets,
    /// What was packed.
    pub memory: PackedText,
    /// How many of the older turns are not there with all their words.
    pub older_turns: usize,
}

/// Fills a window.
///
/// What the system prompt or the tools need beyond their budget is taken from memory; what they
/// leave goes to the conversation.
pub fn build(parts: &ContextParts<'_>, window: &Window, format: Format) -> Result<Context, Error> {
    let budgets = budgets(window, parts.tools.len());
    let mut room = Room(budgets.total - budgets.output);
    let mut tokens = ContextTokens {
        system: room.must_take("system", message_tokens(parts.system))?,
        tools: room.must_take("tools", parts.tools.iter().map(|tool| count_tokens(tool)).sum())?,
        input: room.must_take("query", message_tokens(parts.input))?,
        ..ContextTokens::default()
    };
    let (memory, memory_messages) = remember(parts, budgets.memory.min(room.0), window.summarize, format);
    tokens.memory = memory_messages.iter().map(Message::tokens).sum();
    room.0 -= tokens.memory;
    let (older_turns, history) = converse(parts.history, room.0, window.summarize);
    tokens.history = history.iter().map(Message::tokens).sum();

    let own = |role: &str, content: &str| (!content.is_empty()).then(|| Message::new(role, content));
    let messages = own("system", parts.system)
        .into_iter()
        .chain(memory_messages)
        .chain(history)
        .chain(own("user", parts.input))
        .collect();
    Ok(Context { messages, tokens, budgets, memory, older_turns })
}

/// The tokens still free.
struct Room(usize);

impl Room {
    fn must_take(&mut self, part: &'static str, tokens: usize) -> Result<usize, Error> {
        self.0 = self.0.checked_sub(tokens).ok_or_else(|| {
            let (over, left) = (tokens - self.0, self.0);
            let message = format!("{part} is {over} tokens too long: it has {tokens}, and the window has {left} left");
            Error::new(ErrorKind::ContentTooLong, message)
                .at(part)
                .hint(format!("shorten {part}, or use a model with a larger window"))
        })?;
        Ok(tokens)
    }
}

/// The tokens of a message with this content; nothing is sent for none.
fn message_tokens(content: &str) -> usize {
    if content.is_empty() { 0 } else { count_tokens(content) + MESSAGE_TOKENS }
}

/// Packs the memories, and converts them to messages that cost at most `room`.
fn remember(parts: &ContextParts<'_>, room: usize, summarize: bool, format: Format) -> (PackedText, Vec<Message>) {
    // Messages bring the block of data themselves.
    let frame = if format == Format::Messages { 0 } else { block_tokens() };
    let mut tokens = room.saturating_sub(MESSAGE_TOKENS + frame);
    loop {
        let packed = pack(parts.memories, parts.delta, format, &PackBudget { summarize, ..PackBudget::of(tokens) });
        let messages = match format {
            Format::Messages => serde_json::from_str(&packed.text).unwrap_or_default(),
            _ if packed.text.is_empty() || packed.text == "[]" => Vec::new(),
            _ => vec![Message::new("user", data_block(&packed.text))],
        };
        let taken: usize = messages.iter().map(Message::tokens).sum();
        if taken <= room {
            return (packed, messages);
        }
        // An array of messages has more signs than the messages by themselves, so this is rare.
        tokens = tokens.saturating_sub(taken - room);
    }
}

/// The newest turns that fit into `room`, and a summary of those before them if that is wished
/// and there is room; also how many turns are not there in full.
fn converse(history: &[Message], room: usize, summarize: bool) -> (usize, Vec<Message>) {
    let all: usize = history.iter().map(Message::tokens).sum();
    if all <= room {
        return (0, history.to_vec());
    }
    // A fifth is kept for the summary; otherwise turns that fit just so would leave none.
    let kept = if summarize { (room / 5).min(SUMMARY_TOKENS) } else { 0 };
    let mut left = room - kept;
    let mut newer = 0;
    for turn in history.iter().rev() {
        let Some(rest) = left.checked_sub(turn.tokens()) else { break };
        left = rest;
        newer += 1;
    }
    let (older, newer) = history.split_at(history.len() - newer);
    if !summarize {
        return (older.len(), newer.to_vec());
    }
    match summary(older, (kept + left).min(SUMMARY_TOKENS)) {
        Some(summary) => (older.len(), [&[summary], newer].concat()),
        None => converse(history, room, false),
    }
}

fn summary(turns: &[Message], room: usize) -> Option<Message> {
    let lines: Vec<String> =
        turns.iter().map(|turn| format!("{}: {}", fold(&turn.role), fold(&turn.content))).collect();
    let mut tokens = room.checked_sub(MESSAGE_TOKENS + count_tokens(SUMMARY))?;
    loop {
        let message = Message::new("system", format!("{SUMMARY}{}", shorten(&lines.join("\n"), tokens)?));
        match message.tokens().checked_sub(room) {
            None | Some(0) => return Some(message),
            Some(over) => tokens = tokens.checked_sub(over)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Share;
    use super::super::block::PREAMBLE;
    use super::super::laws::item;
    use super::*;

    // Coverage: S4.10.
    #[test]
    fn windows_are_divided_as_agents_need_them() {
        // total, tools → system, tools, memory, input, output
        for (total, tools, expect) in [
            (128_000, 0, [4_000, 0, 89_600, 30_400, 4_000]),
            (128_000, 10, [4_000, 5_000, 89_600, 25_400, 4_000]),
            (8_000, 0, [400, 0, 5_600, 1_200, 800]),
            (8_000, 8, [400, 4_000, 2_305, 495, 800]),
            (8_000, 99, [400, 6_800, 0, 0, 800]),
            (7, 0, [0, 0, 4, 3, 0]),
            (0, 3, [0, 0, 0, 0, 0]),
        ] {
            let b = budgets(&Window::of(total), tools);
            assert_eq!([b.system, b.tools, b.memory, b.input, b.output], expect, "{total} {tools}");
        }
    }

    fn tools(given: &[&str]) -> Vec<String> {
        given.iter().map(|&tool| tool.to_owned()).collect()
    }

    fn turns(given: &[(&str, &str)]) -> Vec<Message> {
        given.iter().map(|(role, content)| Message::new(*role, *content)).collect()
    }

    #[test]
    fn the_order_is_system_memory_history_input() {
        let memories = [item(1, Share::Facts, "Ana likes tea", 1.0)];
        let history = turns(&[("user", "Hello"), ("assistant", "Hello Ana")]);
        let parts = ContextParts {
            system: "Be kind.",
            tools: &tools(&["{}"]),
            memories: &memories,
            history: &history,
            input: "What do I like?",
            ..ContextParts::default()
        };
        for format in Format::ALL {
            let context = build(&parts, &Window::of(1_000), *format).unwrap();
            let roles: Vec<&str> = context.messages.iter().map(|message| message.role.as_str()).collect();
            assert_eq!(roles, ["system", "user", "user", "assistant", "user"], "{format}");
            let block = &context.messages[1].content;
            assert!(block.starts_with(PREAMBLE) && block.ends_with("</memories>"), "{format}: {block}");
            assert!(context.messages[1].content.contains("Ana likes tea"), "{format}");
            let sum: usize = context.messages.iter().map(Message::tokens).sum();
            assert_eq!(context.tokens.sum(), sum + context.tokens.tools, "{format}");
            assert_eq!(context.memory.cited, [memories[0].id]);
        }
    }

    // Coverage: S4.10.
    #[test]
    fn what_must_not_be_cut_is_named_when_it_does_not_fit() {
        let (short, long) = ("word", "word ".repeat(200));
        for (system, tool, input, expect) in [
            (&*long, short, short, "system is 115 tokens too long: it has 205, and the window has 90 left"),
            (short, &*long, short, "tools is 116 tokens too long: it has 201, and the window has 85 left"),
            (short, short, &*long, "query is 121 tokens too long: it has 205, and the window has 84 left"),
        ] {
            let parts = ContextParts { system, tools: &tools(&[tool]), input, ..ContextParts::default() };
            let error = build(&parts, &Window::of(100), Format::Markdown).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.kind()), (expect, ErrorKind::ContentTooLong));
            assert_eq!(error.field(), expect.split(' ').next());
        }
    }

    // Coverage: S4.11.
    #[test]
    fn older_turns_go_first_and_leave_a_summary_when_asked() {
        let history: Vec<Message> = (0..40)
            .map(|n| Message::new("user", format!("Turn number {n} says that the parcel {n} went to Lisbon.")))
            .collect();
        let parts = ContextParts { history: &history, input: "Where?", ..ContextParts::default() };
        for summarize in [false, true] {
            let window = Window { summarize, ..Window::of(400) };
            let context = build(&parts, &window, Format::Markdown).unwrap();
            let newest = context.messages.iter().rev().skip(1).take(3);
            assert!(newest.eq(history.iter().rev().take(3)));
            assert_eq!(context.messages[0].content.starts_with(SUMMARY), summarize);
            let recent_turns = context.messages.len() - 1 - usize::from(summarize);
            assert_eq!(context.older_turns, history.len() - recent_turns);
            assert!(context.tokens.sum() <= 360);
        }
    }

    proptest! {
        #[test]
        fn budgets_add_up(
            tokens: usize, tools in 0_usize..10_000, tool_tokens in 0_usize..5_000, memory_percent in 0_usize..200,
            system in (0_usize..200, 0_usize..9_000), output in (0_usize..200, 0_usize..9_000),
        ) {
            let reserve = |(percent, most)| Reserve { percent, most };
            let (system, output) = (reserve(system), reserve(output));
            let window = Window { tokens, system, output, tool_tokens, memory_percent, summarize: false };
            let b = budgets(&window, tools);
            prop_assert_eq!(b.system as u128 + b.tools as u128 + b.memory as u128 + b.input as u128 + b.output as u128, tokens as u128);
        }

        // Coverage: S4.10.
        #[test]
        fn a_context_leaves_room_for_the_answer(
            tokens in 0_usize..3_000, summarize: bool, format in prop::sample::select(Format::ALL),
            system in "\\PC{0,80}", input in "\\PC{0,80}", tool in "\\PC{0,40}",
            items in prop::collection::vec(super::super::laws::items(), 0..6),
            history in prop::collection::vec((prop::sample::select(&["user", "assistant"][..]), super::super::laws::text()), 0..12),
        ) {
            let history: Vec<Message> = history.into_iter().map(|(role, content)| Message::new(role, content)).collect();
            let tools = [tool];
            let parts = ContextParts { system: &system, tools: &tools, memories: &items, history: &history, input: &input, delta: None };
            let window = Window { summarize, ..Window::of(tokens) };
            match build(&parts, &window, format) {
                Ok(context) => {
                    let sent: usize = context.messages.iter().map(Message::tokens).sum();
                    prop_assert_eq!(sent + context.tokens.tools, context.tokens.sum());
                    prop_assert!(context.tokens.sum() + context.budgets.output <= tokens);
                    prop_assert!(context.tokens.memory <= context.budgets.memory);
                }
                Err(error) => {
                    let needed = message_tokens(&system) + message_tokens(&input) + count_tokens(&tools[0]);
                    prop_assert!(needed + budgets(&window, 1).output > tokens, "{error}");
                }
            }
        }
    }
}
