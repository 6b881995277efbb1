//! The parameters of an operation: in the path, the query and the headers.

use super::{EXAMPLE_ID, EXAMPLE_TAG, schema_object};
use crate::request::{MOST_KEY, NUMBERS, TEXTS};
use aide::openapi::{HeaderStyle, Parameter, ParameterData, ParameterSchemaOrContent, PathStyle, QueryStyle};
use indexmap::IndexMap;
use ledger_core::money::Money;
use ledger_core::resource::Scope;
use ledger_core::resource::expand::Path;
use ledger_core::resource::extra::Media;
use ledger_core::resource::list::{
    DEFAULT_PAGE_SIZE, LAST_PAGE, LAST_PLACE, MOST_PAGE_SIZE, MOST_TEXT, Offer, PAGES, Parameter as Filter, Reads,
    VIEWS,
};
use ledger_core::resource::named;
use ledger_core::resource::operation::{ResourceOperations, Verb};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// What a verb takes, whatever the dialect.
pub(super) fn verb_parameters(resource: &ResourceOperations, verb: Verb) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    let offer = resource.offer(verb);
    if offer.paged {
        let page = json!({"type": "integer", "minimum": 1, "maximum": LAST_PAGE});
        let size = json!({"type": "integer", "minimum": 1, "maximum": MOST_PAGE_SIZE, "default": DEFAULT_PAGE_SIZE});
        // Programs send a default that is said, and a walk by `cursor` takes no page.
        parameters
            .extend(PAGES.iter().zip([page, size]).map(|((name, about), says)| query_parameter(name, about, says)));
    }
    if offer.sorts.is_some() {
        parameters.extend(list_parameters(resource));
    }
    if offer.by_key {
        let about = "Empty to begin a walk along the list, then the `nextCursor` of the page before: the next page begins behind \
                     the last record that was answered, whatever came and went since. The order stays, and there is no `page`.";
        parameters.push(query_parameter(
            "cursor",
            about,
            json!({"type": "string", "maxLength": 8_000, "pattern": "^[0-9a-f]*$"}),
        ));
    }
    if offer.dated {
        let instant = json!({"type": "string", "format": "date-time"});
        let about = "Only records changed at or after this time.";
        parameters.push(query_parameter("updatedSince", about, instant));
    }
    if offer.in_time {
        let day = json!({"type": "string", "format": "date"});
        let instant = json!({"type": "string", "format": "date-time"});
        let about = "Balances at the end of this day; with everything that is posted when absent.";
        parameters.push(query_parameter("asOf", about, day));
        let about = "Balances from what was recorded by this time; from all that is known when absent.";
        parameters.push(query_parameter("knownAt", about, instant));
    }
    // Each form has a path of its own.
    let filters = offer.parameters.iter().filter(|filter| filter.name != "format" || resource.csv(verb).is_none());
    let operation = resource.operation_id(verb);
    parameters.extend(filters.map(|filter| {
        let mut parameter = filter_parameter(filter);
        parameter.parameter_data_mut().example = named::asked(&operation, filter.name).map(Into::into);
        parameter
    }));
    if offer.shows.is_some() {
        let about = "The members of a record that are answered, separated by commas; what is inside of one is named after a \
                     full stop, such as `lines.quantity`. `id` and `version` always are. The others are absent, though the \
                     schema has them as required.";
        parameters.push(narrowing(query_parameter("fields", about, json!({"type": "string", "minLength": 1}))));
    }
    if !offer.summary.is_empty() {
        let names: Vec<String> = offer.summary.iter().map(|name| format!("`{name}`")).collect();
        let about = format!("`summary` for less of each record, which is soonest read: {}.", names.join(", "));
        let views = json!({"type": "string", "enum": VIEWS, "default": VIEWS[0]});
        parameters.push(narrowing(query_parameter("view", &about, views)));
    }
    if !offer.expands.is_empty() {
        parameters.push(expand(&offer));
    }
    if resource.writes(verb) {
        let about = "`true` to have everything checked and computed, and nothing kept. The answer then has `postings`, the \
                     journal lines that would be made.";
        parameters.push(query_parameter("dryRun", about, json!({"type": "boolean", "default": false})));
        parameters.push(idempotency_key());
    }
    if resource.writes(verb) && resource.names_record(verb) {
        let about = "The `ETag` of the version this is based on, as it was read or written; without it the last write wins. \
                     Its version is judged, and not what moved beside it, such as a balance.";
        parameters.push(tag_parameter("If-Match", about, &format!("{EXAMPLE_ID}-1")));
    }
    if verb == Verb::Upsert {
        let about = "`*` to make the record, and to be refused (412) where there is one already.";
        parameters.push(header_parameter("If-None-Match", about, json!({"type": "string", "enum": ["*"]})));
    }
    if resource.awaited(verb).is_some() {
        let about = "With `Accept: text/event-stream`: the last event that the client had, which it goes on behind, whatever \
                     `after` says.";
        parameters.push(header_parameter(
            "Last-Event-ID",
            about,
            json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": LAST_PLACE}),
        ));
    }
    if verb == Verb::Get {
        let about = "An `ETag` that a read gave; if the same would be said once more, the answer is 304.";
        parameters.push(tag_parameter("If-None-Match", about, EXAMPLE_TAG));
    }
    if resource.media(verb).first() == Some(&Media::Json) {
        parameters.push(decimal_format());
    }
    if resource.scope == Scope::Business {
        parameters.push(at_least_sequence());
    }
    parameters
}

fn at_least_sequence() -> Parameter {
    let about = "The `X-Ledger-Sequence` of an earlier answer, to be answered with no less than was known then: whoever wrote \
                 reads what they wrote, whichever copy of the books answers. More than any answer said is refused (400).";
    let sequence = json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": LAST_PLACE});
    header_parameter("X-At-Least-Sequence", about, sequence)
}

fn expand(offer: &Offer<'_>) -> Parameter {
    let names: Vec<String> = offer.expands.iter().map(Path::text).collect();
    let about = format!(
        "Records that are answered beside those that name them, separated by commas, at most 5: {}. The answer then has \
         `expanded`, with a list of each resource in which each record stands once; what names them stays as it is. To see \
         them needs their own permission.",
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    );
    let one = format!("({})", names.join("|").replace('.', "\\."));
    query_parameter("expand", &about, json!({"type": "string", "pattern": format!("^{one}(,{one})*$")}))
}

/// What the header is called, by which decimals are answered as texts.
pub(super) const DECIMAL_FORMAT: &str = "X-Decimal-Format";

fn decimal_format() -> Parameter {
    let about = "`string` to have every decimal of the answer as a text with the same digits, such as `\"10.10\"`, where the \
                 schema has a `number`: for programs that read numbers into binary floats. Whole numbers stay as they are.";
    let formats = json!({"type": "string", "enum": [NUMBERS, TEXTS], "default": NUMBERS});
    header_parameter(DECIMAL_FORMAT, about, formats)
}

/// Said in the document as well: whoever holds an answer against its schema is to know that members may be missing.
fn narrowing(mut parameter: Parameter) -> Parameter {
    parameter.parameter_data_mut().extensions.insert("x-narrows-answer".into(), Value::Bool(true));
    parameter
}

pub(super) fn idempotency_key() -> Parameter {
    let about = "A key of your choice, 1 to 255 characters. A repeat with the same key within 24 hours is answered like the \
                 first request, in whichever dialect, and does nothing more. Such as `order-4711`.";
    let key = json!({"type": "string", "minLength": 1, "maxLength": MOST_KEY, "pattern": "^[!-~]([ -~]*[!-~])?$"});
    header_parameter("Idempotency-Key", about, key)
}

fn list_parameters(resource: &ResourceOperations) -> Vec<Parameter> {
    let about = &resource.about;
    let sorts = format!(
        "Fields to sort by, separated by commas, each with `-` for descending: {}. Ties are broken by identifier.",
        about.sorts.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    );
    let one_sort = format!("-?({})", about.sorts.join("|"));
    let sort_pattern = format!("^{one_sort}(,{one_sort})*$");
    vec![
        query_parameter("sort", &sorts, json!({"type": "string", "pattern": sort_pattern})),
        query_parameter(
            "q",
            &format!("Words to look for in {}; all must occur.", about.searched),
            json!({"type": "string", "maxLength": MOST_TEXT}),
        ),
    ]
}

fn filter_parameter(filter: &Filter) -> Parameter {
    let schema = match filter.reads {
        Reads::Text => json!({"type": "string", "minLength": 1, "maxLength": MOST_TEXT}),
        Reads::Flag => json!({"type": "boolean"}),
        Reads::Day => json!({"type": "string", "format": "date"}),
        Reads::Time => json!({"type": "string", "format": "date-time"}),
        Reads::Amount => {
            Money::json_schema(&mut SchemaSettings::default().for_deserialize().into_generator()).to_value()
        }
        Reads::Whole(least, most) => json!({"type": "integer", "format": "int64", "minimum": least, "maximum": most}),
        Reads::Identifier | Reads::Party => json!({"type": "string", "minLength": 1}),
        Reads::Letter => json!({"type": "string", "pattern": "^[A-Z]$"}),
        Reads::OneOf(values) => json!({"type": "string", "enum": values}),
        // Sent as most programs do, each word for itself; separated by commas they are taken as well.
        Reads::AnyOf(values) => {
            json!({"type": "array", "items": {"type": "string", "enum": values}, "minItems": 1, "uniqueItems": true})
        }
    };
    let mut parameter = query_parameter(filter.name, filter.about, schema);
    parameter.parameter_data_mut().required = filter.required;
    parameter
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

fn query_parameter(name: &str, description: &str, schema: Value) -> Parameter {
    let parameter_data = parameter_data(name, description, false, schema);
    Parameter::Query { parameter_data, allow_reserved: false, style: QueryStyle::Form, allow_empty_value: None }
}

pub(super) fn path_parameter(name: &str, description: &str, example: &str) -> Parameter {
    let parameter_data = ParameterData {
        example: Some(example.into()),
        ..parameter_data(name, description, true, json!({"type": "string"}))
    };
    Parameter::Path { parameter_data, style: PathStyle::Simple }
}

fn tag_parameter(name: &str, about: &str, such_as: &str) -> Parameter {
    let about = format!("{about} Such as `\"{such_as}\"`.");
    header_parameter(name, &about, json!({"type": "string"}))
}

// An example would be sent along by try-it-out, so none carries one.
fn header_parameter(name: &str, description: &str, schema: Value) -> Parameter {
    Parameter::Header { parameter_data: parameter_data(name, description, false, schema), style: HeaderStyle::Simple }
}
