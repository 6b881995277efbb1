//! The parameters of an operation: in the path, the query and the headers.

use super::{EXAMPLE_ID, schema_object};
use aide::openapi::{HeaderStyle, Parameter, ParameterData, ParameterSchemaOrContent, PathStyle, QueryStyle};
use indexmap::IndexMap;
use ledger_core::resource::list::{DEFAULT_PAGE_SIZE, MOST_PAGE_SIZE, MOST_TEXT, Parameter as Filter, Reads};
use ledger_core::resource::operation::{ResourceOperations, Verb};
use schemars::Schema;
use serde_json::{Value, json};

/// What a verb takes, whatever the dialect.
pub(super) fn verb_parameters(resource: &ResourceOperations, verb: Verb) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if verb == Verb::List {
        parameters.extend(list_parameters(resource));
    }
    if verb.writes() {
        let about = "`true` to have everything checked and computed, and nothing kept.";
        parameters.push(query_parameter("dryRun", about, json!({"type": "boolean", "default": false}), None));
        let about = "A key of your choice, 1 to 255 characters. A repeat with the same key within 24 hours is answered \
                     like the first request, in whichever dialect, and does nothing more.";
        parameters.push(header_parameter("Idempotency-Key", about, false, "order-4711"));
    }
    if verb.writes() && verb.names_record() {
        let about = "The `ETag` of the version this is based on; without it the last write wins.";
        parameters.push(header_parameter("If-Match", about, false, &format!("\"{EXAMPLE_ID}-1\"")));
    }
    if verb == Verb::Get {
        let about = "An `ETag`; if the record is still that version, the answer is 304.";
        parameters.push(header_parameter("If-None-Match", about, false, &format!("\"{EXAMPLE_ID}-1\"")));
    }
    parameters
}

fn list_parameters(resource: &ResourceOperations) -> Vec<Parameter> {
    let about = &resource.about;
    let sorts = format!(
        "Fields to sort by, separated by commas, each with `-` for descending: {}. Ties are broken by identifier.",
        about.sorts.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    );
    let one_sort = format!("-?({})", about.sorts.join("|"));
    let sort_pattern = format!("^{one_sort}(,{one_sort})*$");
    let page = json!({"type": "integer", "minimum": 1, "default": 1});
    let size = json!({"type": "integer", "minimum": 1, "maximum": MOST_PAGE_SIZE, "default": DEFAULT_PAGE_SIZE});
    let instant = json!({"type": "string", "format": "date-time"});
    let mut parameters = vec![
        query_parameter("page", "The page, from 1.", page, None),
        query_parameter("pageSize", "Records on a page.", size, None),
        query_parameter("sort", &sorts, json!({"type": "string", "pattern": sort_pattern}), None),
        query_parameter(
            "q",
            &format!("Words to look for in {}; all must occur.", about.searched),
            json!({"type": "string", "maxLength": MOST_TEXT}),
            None,
        ),
        query_parameter("updatedSince", "Only records changed at or after this time.", instant, None),
    ];
    parameters.extend(resource.parameters.iter().map(filter_parameter));
    parameters
}

fn filter_parameter(filter: &Filter) -> Parameter {
    let (schema, explode) = match filter.reads {
        Reads::Text => (json!({"type": "string", "minLength": 1, "maxLength": MOST_TEXT}), None),
        Reads::Flag => (json!({"type": "boolean"}), None),
        Reads::AnyOf(values) => (json!({"type": "array", "items": {"type": "string", "enum": values}}), Some(false)),
    };
    query_parameter(filter.name, filter.about, schema, explode)
}

fn parameter_data(name: &str, description: &str, required: bool, schema: Value) -> ParameterData {
    ParameterData {
        name: name.into(),
        description: Some(description.into()),
        required,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(schema_object(Schema::try_from(schema).unwrap_or_default())),
        example: None,
        examples: IndexMap::new(),
        explode: None,
        extensions: IndexMap::new(),
    }
}

fn query_parameter(name: &str, description: &str, schema: Value, explode: Option<bool>) -> Parameter {
    let parameter_data = ParameterData { explode, ..parameter_data(name, description, false, schema) };
    Parameter::Query { parameter_data, allow_reserved: false, style: QueryStyle::Form, allow_empty_value: None }
}

pub(super) fn path_parameter(name: &str, description: &str, example: &str) -> Parameter {
    let parameter_data = ParameterData {
        example: Some(example.into()),
        ..parameter_data(name, description, true, json!({"type": "string"}))
    };
    Parameter::Path { parameter_data, style: PathStyle::Simple }
}

// An example of an optional header would be sent along by try-it-out, so only required ones carry theirs.
pub(super) fn header_parameter(name: &str, description: &str, required: bool, example: &str) -> Parameter {
    let description = if required { description.to_owned() } else { format!("{description} Such as `{example}`.") };
    Parameter::Header {
        parameter_data: parameter_data(name, &description, required, json!({"type": "string"})),
        style: HeaderStyle::Simple,
    }
}
