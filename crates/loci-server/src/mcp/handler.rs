//! Translates between the types of the protocol and those of this module.
//!
//! It decides nothing: tools, resources and prompts answer. A failed call is an answer; only a malformed request is an
//! error of the protocol.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use loci_types::{Identifiers, Problem};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    Role, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tracing::Span;
use tracing::field::Empty;

use super::answer::ToolOutput;
use super::call::{Call, PendingApp};
use super::profile::Profile;
use super::tool::Effect;
use super::{CALL, prompts, resources, schema, tool};
use crate::extract::params;
use crate::failure::Failure;
use crate::guard::{Principal, RequestSpan};
use crate::metrics::Protocol;
use crate::{App, Options};

/// Serves one profile.
#[derive(Clone)]
pub(super) struct Handler {
    app: PendingApp,
    profile: Profile,
    over: Transport,
    budget: usize,
}

/// Where requests come from.
#[derive(Clone)]
enum Transport {
    /// Over HTTP: each brings who it is from.
    Http,
    /// On the streams of this process, which was started for these.
    Streams(Identifiers),
}

impl Handler {
    pub(super) fn over_http(app: Arc<App>, profile: Profile) -> Self {
        Self { budget: app.options.mcp.budget_tokens, app: PendingApp::ready(app), profile, over: Transport::Http }
    }

    pub(super) fn on_streams(app: PendingApp, profile: Profile, scope: Identifiers, options: &Options) -> Self {
        Self { app, profile, over: Transport::Streams(scope), budget: options.mcp.budget_tokens }
    }

    /// Returns the credential and the scope of a request.
    fn principal(&self, context: &RequestContext<RoleServer>) -> Result<(Principal, Identifiers), Failure> {
        match &self.over {
            Transport::Streams(scope) => Ok((Principal::operator(), scope.clone())),
            Transport::Http => {
                let missing = || Failure::unknown_caller("the request did not pass the guard", "send it over HTTP");
                let parts = context.extensions.get::<Parts>().ok_or_else(missing)?;
                let principal = parts.extensions.get::<Principal>().cloned().ok_or_else(missing)?;
                let identifiers: Identifiers = params(&parts.uri)?;
                Ok((principal, identifiers))
            }
        }
    }

    /// Makes the call of a method of the protocol. `tool` is the name of a known tool.
    async fn call(
        &self,
        context: &RequestContext<RoleServer>,
        method: &'static str,
        operation: &'static str,
        tool: Option<&'static str>,
    ) -> Result<Call, Failure> {
        let app = self.app.app().await.map_err(|failure| failure.operation(operation))?;
        match self.principal(context) {
            Ok((principal, scope)) => {
                let span = span(context, principal.request(), method, operation, tool);
                Ok(Call { app, principal, scope, operation, span })
            }
            Err(failure) => {
                let failure = failure.operation(operation);
                app.metrics.operation(Protocol::Mcp, operation, Some(&failure.problem().code), Duration::ZERO);
                Err(failure)
            }
        }
    }

    fn is_memory(&self) -> bool {
        self.profile != Profile::Graph
    }

    /// Describes a tool to clients. Every token of the default profile is paid in every conversation, so there rare
    /// arguments and bounds are left out.
    fn described(&self, tool: &tool::Tool) -> Tool {
        let input = match self.profile {
            Profile::Default => schema::brief((tool.input)(), tool.rare),
            Profile::Full | Profile::Graph => (tool.input)(),
        };
        let mut described = Tool::new(tool.name, tool.description, object(input))
            .with_title(tool.title)
            .with_annotations(annotations(self.profile, tool.effect));
        described.output_schema = tool.output.map(|output| object(output()));
        described
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = match self.is_memory() {
            true => ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build(),
            false => ServerCapabilities::builder().enable_tools().enable_resources().build(),
        };
        let server = Implementation::new("loci", env!("CARGO_PKG_VERSION")).with_title("Loci, long-term memory");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(self.profile.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (principal, _) = self.principal(&context).map_err(|failure| fault(&failure))?;
        let allowed = self.profile.tools().filter(|tool| principal.role() >= tool.role);
        Ok(ListToolsResult::with_all_items(allowed.map(|tool| self.described(tool)).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let tool = tool::find(self.profile, &request.name);
        let operation = tool.map_or(CALL, |tool| tool.operation);
        let output = match self.call(&context, "tools/call", operation, tool.map(|tool| tool.name)).await {
            Ok(call) => tool::run(&call, self.profile, &request.name, arguments).await,
            Err(failure) => ToolOutput::failed(failure.problem(), !self.is_memory(), self.budget),
        };
        let blocks = output.texts.into_iter().map(ContentBlock::text).collect();
        let mut result = if output.failed { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
        result.structured_content = Some(output.value);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::listed(self.profile).iter().map(|one| {
            Resource::new(one.uri, one.name)
                .with_title(one.title)
                .with_description(one.description)
                .with_mime_type(one.mime)
        });
        Ok(ListResourcesResult::with_all_items(listed.collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = resources::templates(self.profile).iter().map(|one| {
            ResourceTemplate::new(one.uri, one.name)
                .with_title(one.title)
                .with_description(one.description)
                .with_mime_type(one.mime)
        });
        Ok(ListResourceTemplatesResult::with_all_items(templates.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let operation = resources::operation(self.profile, &request.uri);
        let call = self.call(&context, "resources/read", operation, None).await.map_err(|failure| fault(&failure))?;
        let read = call.counted(resources::read(&call, self.profile, &request.uri)).await;
        let read = read.inspect_err(|failure| tool::audit(&call, failure));
        let (mime, text) = read.map_err(|failure| fault(&failure))?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type(mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = prompts::PROMPTS.iter().filter(|_| self.is_memory()).map(|prompt| {
            let (name, about, required) = prompt.argument;
            let argument = PromptArgument::new(name).with_description(about).with_required(required);
            Prompt::new(prompt.name, Some(prompt.description), Some(vec![argument])).with_title(prompt.title)
        });
        Ok(ListPromptsResult::with_all_items(listed.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::PROMPTS.iter().filter(|_| self.is_memory()).find(|one| one.name == request.name);
        let Some(prompt) = prompt else {
            let name: String = request.name.chars().take(64).collect();
            return Err(ErrorData::invalid_params(format!("unknown prompt `{name}`"), None));
        };
        let call = self.call(&context, "prompts/get", prompt.operation, None).await;
        let call = call.map_err(|failure| fault(&failure))?;
        let arguments = request.arguments.unwrap_or_default();
        let text = call.counted(prompts::write(&call, prompt, &arguments)).await;
        let text = text.inspect_err(|failure| tool::audit(&call, failure));
        let text = text.map_err(|failure| fault(&failure))?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(prompt.description).into())
    }
}

/// What a tool does, for clients. Hints that equal their default in the protocol are left out, except in the profile of
/// the official memory server, whose clients know all of them.
fn annotations(profile: Profile, effect: Effect) -> ToolAnnotations {
    let hints = ToolAnnotations::new().open_world(false);
    if profile == Profile::Graph {
        let (reads, destroys, repeats) = effect.hints();
        return hints.read_only(reads).destructive(destroys).idempotent(repeats);
    }
    match effect {
        Effect::Reads => hints.read_only(true),
        Effect::Adds => hints.destructive(false),
        Effect::Sets => hints.destructive(false).idempotent(true),
        Effect::Replaces => hints,
        Effect::Removes => hints.idempotent(true),
    }
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::default(),
    }
}

/// Turns a failure into an error of the protocol, where the protocol has no other place for it.
fn fault(failure: &Failure) -> ErrorData {
    let problem: &Problem = failure.problem();
    let data = serde_json::to_value(problem).ok();
    match failure.code().as_u16() {
        404 => ErrorData::resource_not_found(problem.message.clone(), data),
        500.. => ErrorData::internal_error(problem.message.clone(), data),
        _ => ErrorData::invalid_params(problem.message.clone(), data),
    }
}

/// Begins the span of a call, inside that of its HTTP request, which was answered by another task.
fn span(
    context: &RequestContext<RoleServer>,
    id: &str,
    method: &'static str,
    operation: &'static str,
    tool: Option<&'static str>,
) -> Span {
    let request = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<RequestSpan>());
    let parent = request.and_then(|request| request.span().id());
    tracing::info_span!(
        parent: parent,
        "mcp",
        id,
        mcp.method.name = method,
        gen_ai.tool.name = tool,
        loci.operation = operation,
        error.type = Empty,
    )
}
