//! The description of the JSON interface, made from the types themselves.

use crate::operations::{OPERATIONS, Operation, Reply};
use crate::problem::Problem;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};

/// The OpenAPI document.
pub(crate) fn description() -> Json {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let described = described(operation, &mut generator);
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "dshap",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What each row of a dataset is worth to a model. Errors have the type Problem.",
        },
        "paths": paths,
        "components": { "schemas": generator.take_definitions(true) },
    })
}

fn described(operation: &Operation, generator: &mut SchemaGenerator) -> Json {
    let in_path = operation.path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(|name| {
        let kind = if name == "row" { "integer" } else { "string" };
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": kind } })
    });
    let in_query = operation.query.iter().map(|(name, kind, meaning)| {
        json!({ "name": name, "in": "query", "description": meaning, "schema": { "type": kind } })
    });
    let parameters: Vec<Json> = in_path.chain(in_query).collect();
    let (status, reply) = match &operation.reply {
        Reply::Json(status, schema) => (*status, content("application/json", schema(generator))),
        Reply::Nothing => (204, json!({ "description": "Done" })),
        Reply::File(content_type) => (200, content(content_type, Schema::default())),
    };
    let problem = content("application/json", generator.subschema_for::<Problem>());
    let mut described = json!({
        "summary": operation.summary,
        "parameters": parameters,
        "responses": { status.to_string(): reply, "default": problem },
    });
    if let Some(body) = operation.body {
        let mut body = content("application/json", body(generator));
        body["required"] = true.into();
        described["requestBody"] = body;
    } else if operation.path == "/api/tables" && operation.method == "post" {
        described["requestBody"] = content("application/octet-stream", Schema::default());
    }
    described
}

fn content(content_type: &str, schema: Schema) -> Json {
    json!({ "description": "", "content": { content_type: { "schema": schema } } })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name that a schema refers to.
    fn references(json: &Json, found: &mut Vec<String>) {
        match json {
            Json::Object(fields) => {
                if let Some(Json::String(name)) = fields.get("$ref") {
                    found.push(name.clone());
                }
                fields.values().for_each(|field| references(field, found));
            }
            Json::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_operation_is_described_and_every_name_is_defined() {
        let document = description();
        for operation in OPERATIONS {
            let described = &document["paths"][operation.path][operation.method];
            assert!(described["summary"].is_string(), "{} {}", operation.method, operation.path);
        }
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 20, "{found:?}");
        for name in found {
            let name = name.strip_prefix("#/components/schemas/").expect("all are defined in one place");
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
        let request = &document["components"]["schemas"]["RunRequest"];
        assert_eq!(request["required"], json!(["table"]));
    }
}
