//! How is the protocol spoken?
//!
//! Translates between the protocol's types and ours, and decides nothing: tools, resources and
//! prompts are asked for what they say. A failed call is an answer; only a request that is no
//! request at all is a fault of the protocol.

use std::sync::Arc;

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

use super::answer::Told;
use super::asked::{Asked, House};
use super::profile::Profile;
use super::{prompts, resources, tool};
use crate::extract::params;
use crate::failure::Failure;
use crate::guard::Who;
use crate::{App, Options};

/// Serves one profile.
#[derive(Clone)]
pub(super) struct Handler {
    house: House,
    profile: Profile,
    over: Over,
    budget: usize,
}

/// Where requests come from.
#[derive(Clone)]
enum Over {
    /// Over HTTP: each brings who it is from.
    Http,
    /// On the streams of this process, which was started for these.
    Streams(Identifiers),
}

impl Handler {
    pub(super) fn over_http(app: Arc<App>, profile: Profile) -> Self {
        Self { budget: app.options.mcp.budget_tokens, house: House::open(app), profile, over: Over::Http }
    }

    pub(super) fn on_streams(house: House, profile: Profile, scope: Identifiers, options: &Options) -> Self {
        Self { house, profile, over: Over::Streams(scope), budget: options.mcp.budget_tokens }
    }

    /// Who asks, and of whose memories.
    fn who(&self, context: &RequestContext<RoleServer>) -> Result<(Who, Identifiers), Failure> {
        match &self.over {
            Over::Streams(scope) => Ok((Who::operator(), scope.clone())),
            Over::Http => {
                let missing = || Failure::unknown_caller("the request did not pass the guard", "send it over HTTP");
                let parts = context.extensions.get::<Parts>().ok_or_else(missing)?;
                let who = parts.extensions.get::<Who>().cloned().ok_or_else(missing)?;
                let whose: Identifiers = params(&parts.uri)?;
                Ok((who, whose))
            }
        }
    }

    async fn asked(&self, context: &RequestContext<RoleServer>) -> Result<Asked, Failure> {
        let (who, scope) = self.who(context)?;
        Ok(Asked { app: self.house.app().await?, who, scope })
    }

    fn speaks_memory(&self) -> bool {
        self.profile != Profile::Graph
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = match self.speaks_memory() {
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
        let (who, _) = self.who(&context).map_err(|failure| fault(&failure))?;
        let allowed = self.profile.tools().filter(|tool| who.role() >= tool.role);
        Ok(ListToolsResult::with_all_items(allowed.map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let told = match self.asked(&context).await {
            Ok(asked) => tool::call(&asked, self.profile, &request.name, arguments).await,
            Err(failure) => Told::failed(failure.problem(), !self.speaks_memory(), self.budget),
        };
        let blocks = told.texts.into_iter().map(ContentBlock::text).collect();
        let mut result = if told.failed { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
        result.structured_content = Some(told.value);
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
        let asked = self.asked(&context).await.map_err(|failure| fault(&failure))?;
        let read = resources::read(&asked, self.profile, &request.uri).await;
        let read = read.inspect_err(|failure| tool::audit(&asked, "read a resource", failure));
        let Some((mime, text)) = read.map_err(|failure| fault(&failure))? else {
            let uri: String = request.uri.chars().take(200).collect();
            return Err(ErrorData::resource_not_found(format!("there is no resource `{uri}`"), None));
        };
        let contents = ResourceContents::text(text, request.uri).with_mime_type(mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = prompts::PROMPTS.iter().filter(|_| self.speaks_memory()).map(|prompt| {
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
        let prompt = prompts::PROMPTS.iter().filter(|_| self.speaks_memory()).find(|one| one.name == request.name);
        let Some(prompt) = prompt else {
            let name: String = request.name.chars().take(64).collect();
            return Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None));
        };
        let asked = self.asked(&context).await.map_err(|failure| fault(&failure))?;
        let text = prompts::write(&asked, prompt, &request.arguments.unwrap_or_default()).await;
        let text = text.inspect_err(|failure| tool::audit(&asked, "get a prompt", failure));
        let text = text.map_err(|failure| fault(&failure))?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(prompt.description).into())
    }
}

/// A tool as clients are told of it.
fn described(tool: &tool::Tool) -> Tool {
    let object = |value: Value| -> Arc<JsonObject> {
        match value {
            Value::Object(fields) => Arc::new(fields),
            _ => Arc::default(),
        }
    };
    let (reads, destroys, repeats) = tool.effect.hints();
    let hints = ToolAnnotations::with_title(tool.title)
        .read_only(reads)
        .destructive(destroys)
        .idempotent(repeats)
        .open_world(false);
    let mut told =
        Tool::new(tool.name, tool.description, object((tool.input)())).with_title(tool.title).with_annotations(hints);
    told.output_schema = tool.output.map(|output| object(output()));
    told
}

/// A failure where the protocol has no place for one but its own.
fn fault(failure: &Failure) -> ErrorData {
    let problem: &Problem = failure.problem();
    let data = serde_json::to_value(problem).ok();
    let server = matches!(failure.code().as_u16(), 500..);
    match server {
        true => ErrorData::internal_error(problem.message.clone(), data),
        false => ErrorData::invalid_params(problem.message.clone(), data),
    }
}
