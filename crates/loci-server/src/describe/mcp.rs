//! The Model Context Protocol over HTTP: JSON-RPC messages at `/mcp`, or at `/mcp/{profile}` for a given set of tools.
//!
//! The protocol has descriptions of its own (`tools/list`); here is only what an HTTP client needs to reach it.

use serde_json::{Value, json};
use utoipa::IntoResponses;

use super::object;
use crate::failure::Failures;
use crate::mcp::Profile;

/// Adds the paths and schemas of MCP.
pub(super) fn add(description: &mut Value) {
    let paths = object(description, "paths");
    paths.insert("/mcp".to_owned(), json!({ "post": operation("callMcp", None) }));
    paths.insert("/mcp/{profile}".to_owned(), json!({ "post": operation("callMcpProfile", Some(profile())) }));
    let schemas = object(&mut description["components"], "schemas");
    schemas.insert("JsonRpcRequest".to_owned(), request());
    schemas.insert("JsonRpcResponse".to_owned(), response());
    schemas.insert("JsonRpcError".to_owned(), error());
}

fn profile() -> Value {
    let names = Profile::ALL.map(Profile::name);
    json!({
        "name": "profile", "in": "path", "required": true, "description": "The set of tools that is offered.",
        "schema": { "type": "string", "enum": names }
    })
}

fn operation(id: &str, parameter: Option<Value>) -> Value {
    let version = json!({
        "name": "MCP-Protocol-Version", "in": "header", "required": false,
        "description": "The version of the protocol that was agreed on.",
        "schema": { "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }
    });
    let parameters: Vec<Value> = parameter.into_iter().chain([version]).collect();
    let mut responses = json!({
        "200": {
            "description": "The response to the request",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/JsonRpcResponse" } } }
        },
        "202": { "description": "A notification was accepted; it has no response" },
        "406": {
            "description": "The header `Accept` does not allow `application/json` and `text/event-stream`",
            "content": { "text/plain": { "schema": { "type": "string" } } }
        },
    });
    for (status, response) in Failures::responses() {
        responses[status] = serde_json::to_value(response).unwrap_or_default();
    }
    json!({
        "tags": ["mcp"],
        "summary": "Sends a message of the Model Context Protocol.",
        "description": "The server keeps no session: each message is answered by itself. The header `Accept` must \
                        allow `application/json` and `text/event-stream`. Which tools may be called \
                        depends on the role of the credential.",
        "operationId": id,
        "parameters": parameters,
        "requestBody": {
            "description": "A JSON-RPC 2.0 request or notification",
            "required": true,
            "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/JsonRpcRequest" },
                "example": { "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }
            } }
        },
        "responses": responses,
        "security": [{ "key": [] }]
    })
}

fn request() -> Value {
    json!({
        "type": "object",
        "description": "A JSON-RPC 2.0 request, or a notification if it has no id.",
        "required": ["jsonrpc", "method"],
        "properties": {
            "jsonrpc": { "type": "string", "enum": ["2.0"], "description": "The version of JSON-RPC." },
            "id": { "type": ["string", "integer"], "description": "The id that the response repeats." },
            "method": { "type": "string", "description": "The method, for example `tools/call`." },
            "params": { "type": "object", "description": "The parameters of the method.", "additionalProperties": true }
        }
    })
}

fn response() -> Value {
    json!({
        "type": "object",
        "description": "A JSON-RPC 2.0 response: either `result` or `error` is there.",
        "required": ["jsonrpc"],
        "properties": {
            "jsonrpc": { "type": "string", "enum": ["2.0"], "description": "The version of JSON-RPC." },
            "id": { "type": ["string", "integer"], "description": "The id of the request. Absent if it could not be read." },
            "result": { "type": "object", "description": "The result of the method.", "additionalProperties": true },
            "error": { "$ref": "#/components/schemas/JsonRpcError", "description": "The reason for a failure." }
        }
    })
}

fn error() -> Value {
    json!({
        "type": "object",
        "description": "A failure of a JSON-RPC method.",
        "required": ["code", "message"],
        "properties": {
            "code": { "type": "integer", "description": "The code of JSON-RPC, for example -32602." },
            "message": { "type": "string", "description": "A sentence for people." },
            "data": { "type": "object", "description": "More about the failure, by name.", "additionalProperties": true }
        }
    })
}
