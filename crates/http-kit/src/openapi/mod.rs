//! The OpenAPI documents, made from the same registry that the routes are made from.
//!
//! Owns: what each operation takes, answers and needs. A document describes one dialect or, with both added,
//! the whole installation. The model is 3.1; [`Documents`] also writes it down as 3.0.3 for client generators.

mod examples;
mod fault;
mod headers;
mod links;
mod once;
mod parameters;
mod plain;
mod signing_in;
mod words;

use crate::dialect::{CompanyIn, Dialect};
use crate::failure::Failure;
use crate::handler::{csv_path, message, paths};
use crate::openapi_30::down_convert;
pub use crate::pretty::pretty;
use aide::openapi::{
    ApiKeyLocation, Components, Info, License, MediaType, OpenApi, Operation, Parameter, PathItem, Paths, ReferenceOr,
    RequestBody, Response, Responses, SchemaObject, SecurityRequirement, SecurityScheme, Server, StatusCode, Tag,
};
use examples::Examples;
use fault::{Fault, faults};
use indexmap::IndexMap;
use ledger_core::clock::Instant;
use ledger_core::ledger::ReplyKind;
use ledger_core::resource::Scope;
use ledger_core::resource::entry::RehearsedLine;
use ledger_core::resource::expand::EXPANDED;
use ledger_core::resource::extra::{Does, Media, Reading};
use ledger_core::resource::list::{PAGES, Pagination};
use ledger_core::resource::named;
use ledger_core::resource::operation::{BodyNeed, DELETED_AT, Method, POSTINGS, ResourceOperations, Verb};
use ledger_core::resource::registry::{answering, registry};
use parameters::{DECIMAL_FORMAT, path_parameter, verb_parameters};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use words::{code, needed, success_words, words};

/// The label of the API's release.
pub const RELEASE: &str = "v2026";

/// What the schemes are called by which a request says who asks, and of which company.
const TOKEN: &str = "bearerAuth";
const COMPANY: &str = "business";
/// What is said of a read that can be asked for so.
const AS_CSV: &str = " With `.csv` behind the path, or with `format=csv`, it is answered as comma-separated values.";
/// Names the operation that a read stands for with `format=csv`.
const FORMAT_CSV: &str = "x-format-csv";

const EXAMPLE_ID: &str = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";
/// What another system may call it.
const EXAMPLE_ELSEWHERE: &str = "shop-4711";
/// What a read of it is told apart by.
const EXAMPLE_TAG: &str =
    "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02-1-6c1f4f0e9d3b7a2586e0c4d1b39f7a5e2d8c6b40f1a3957e8d2c4b6a09e1f375";

/// A document under construction.
pub struct Document {
    api: OpenApi,
    paths: Paths,
    components: Components,
    input: SchemaGenerator,
    output: SchemaGenerator,
    examples: Examples,
    /// With both dialects in one document, names carry the dialect's letter.
    lettered: bool,
}

impl Document {
    /// A document of one dialect, whose paths hang on the server's URL.
    pub fn of_one<D: Dialect>(base: &str) -> Value {
        let title = format!("Duet, dialect {}", D::LETTER);
        let mut document = Self::new(&title, D::DESCRIPTION, base, false);
        document.api.extensions.insert("x-wrapping".to_owned(), D::wrapping());
        document.add::<D>("");
        document.finish()
    }

    /// A document of the whole installation; dialects are added under their prefixes.
    pub fn of_installation() -> Self {
        let description = "One set of books, two ways to speak to it. Operations of both dialects do the same to the \
                           same records; their identifiers end in the dialect's letter.";
        Self::new("Duet", description, "/", true)
    }

    fn new(title: &str, description: &str, base: &str, lettered: bool) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.definitions_path = "/components/schemas".into();
        });
        let settings = settings.with_transform(RecursiveTransform(plain::words));
        let bearer = SecurityScheme::Http {
            scheme: "bearer".into(),
            bearer_format: Some("JWT".into()),
            description: Some("The token that a log-in answers. One token is good for both dialects.".into()),
            extensions: IndexMap::new(),
        };
        let license =
            License { name: "Apache-2.0".into(), identifier: Some("Apache-2.0".into()), ..License::default() };
        Self {
            api: OpenApi {
                openapi: "3.1.0".into(),
                info: Info {
                    title: title.into(),
                    description: Some(description.into()),
                    version: RELEASE.into(),
                    license: Some(license),
                    ..Info::default()
                },
                servers: vec![Server { url: base.into(), ..Server::default() }],
                ..OpenApi::default()
            },
            paths: Paths::default(),
            components: Components {
                security_schemes: IndexMap::from([(TOKEN.to_owned(), ReferenceOr::Item(bearer))]),
                ..Components::default()
            },
            input: settings.clone().with_transform(RecursiveTransform(plain::lists)).for_deserialize().into_generator(),
            output: settings.with_transform(RecursiveTransform(plain::said)).for_serialize().into_generator(),
            examples: Examples::default(),
            lettered,
        }
    }

    /// Adds all of a dialect under a prefix.
    pub fn add<D: Dialect>(&mut self, prefix: &str) {
        if D::COMPANY_IN == CompanyIn::Header {
            let company = SecurityScheme::ApiKey {
                location: ApiKeyLocation::Header,
                name: "X-Business-Id".into(),
                description: Some("The identifier of the company that the requests are about.".into()),
                extensions: IndexMap::new(),
            };
            self.components.security_schemes.insert(COMPANY.into(), ReferenceOr::Item(company));
        }
        for (name, schema) in D::schemas() {
            self.component(name.to_owned(), Schema::try_from(schema).unwrap_or_default());
        }
        self.tag::<D>("Authentication", "Log in once; send the token with every request.");
        let item = PathItem { post: Some(self.login::<D>()), ..PathItem::default() };
        self.path(format!("{prefix}{}", D::LOGIN_PATH), item);
        let item = PathItem { post: Some(self.accept::<D>()), ..PathItem::default() };
        self.path(format!("{prefix}{}", D::ACCEPT_PATH), item);
        for resource in registry() {
            self.tag::<D>(resource.key.title(), resource.about.description);
            let collection = format!("{prefix}{}", D::collection(resource));
            for (path, verbs) in paths(resource) {
                let mut item = PathItem::default();
                for verb in verbs {
                    let operation = Some(self.operation::<D>(resource, verb));
                    match resource.method(verb) {
                        Method::Get => item.get = operation,
                        Method::Post => item.post = operation,
                        Method::Put => item.put = operation,
                        Method::Delete => item.delete = operation,
                    }
                }
                self.path(format!("{collection}{path}"), item);
            }
            for verb in resource.verbs() {
                if let Some(operation) = self.as_csv::<D>(resource, verb) {
                    let item = PathItem { get: Some(operation), ..PathItem::default() };
                    self.path(format!("{collection}{}", csv_path(resource, verb)), item);
                }
            }
        }
    }

    pub fn finish(mut self) -> Value {
        let beside = self.beside_records();
        for definitions in [self.input.take_definitions(true), self.output.take_definitions(true)] {
            for (name, schema) in definitions {
                if let Ok(schema) = Schema::try_from(schema) {
                    self.components.schemas.insert(name, schema_object(schema));
                }
            }
        }
        for (record, members) in beside {
            let Some(schema) = self.components.schemas.get_mut(&record) else { continue };
            let properties = schema.json_schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
            if let Some(properties) = properties.as_object_mut() {
                properties.extend(members);
            }
        }
        for (name, schema) in &mut self.components.schemas {
            self.examples.show(name, &mut schema.json_schema);
        }
        self.components.schemas.sort_unstable_keys();
        self.api.paths = Some(self.paths);
        self.api.components = Some(self.components);
        let mut document = serde_json::to_value(&self.api).unwrap_or_default();
        open_to_all(&mut document);
        once::said_once(&mut document);
        once::only_what_is_meant(&mut document);
        document
    }

    fn path(&mut self, path: String, item: PathItem) {
        self.paths.paths.insert(path, ReferenceOr::Item(item));
    }

    fn tag_name<D: Dialect>(&self, title: &str) -> String {
        if self.lettered { format!("{title} ({})", D::LETTER) } else { title.to_owned() }
    }

    fn tag<D: Dialect>(&mut self, title: &str, description: &str) {
        let name = self.tag_name::<D>(title);
        self.api.tags.push(Tag { name, description: Some(description.into()), ..Tag::default() });
    }

    fn operation_id<D: Dialect>(&self, stem: String) -> String {
        if self.lettered { format!("{stem}{}", D::LETTER) } else { stem }
    }

    fn operation<D: Dialect>(&mut self, resource: &ResourceOperations, verb: Verb) -> Operation {
        let (summary, mut description) = words(resource, verb);
        let mut parameters = Vec::new();
        let mut security = vec![TOKEN];
        if resource.scope == Scope::Business {
            match D::COMPANY_IN {
                CompanyIn::Path => parameters.push(path_parameter("businessId", "The company.", named::BUSINESS)),
                CompanyIn::Header => security.push(COMPANY),
            }
        }
        if resource.names_record(verb) {
            let (about, example) = if verb == Verb::Upsert {
                ("What the record is called elsewhere: its `externalId`.", EXAMPLE_ELSEWHERE.into())
            } else {
                let own =
                    named::of_operation(resource.key.stem(), &resource.operation_id(verb), !resource.writes(verb));
                ("The identifier of the record.", own.to_string())
            };
            parameters.push(path_parameter("id", about, &example));
        }
        parameters.extend(verb_parameters(resource, verb));
        let kind = resource.reply_kind(verb);
        let success = match resource.extra(verb).map(|extra| &extra.does) {
            Some(Does::Reads(reading)) => self.reading::<D>(reading),
            Some(Does::Writes(_)) | None => {
                let payload = self.payload(resource, verb);
                let (name, example) = self.answer(resource, verb);
                self.success::<D>(message(kind), &name, payload, example, success_words(kind))
            }
        };
        let mut success = headers::of_success(success, resource, (verb, kind));
        if verb == Verb::Create {
            success.links = links::of_new::<D>(resource, |id| self.operation_id::<D>(id));
        }
        let status = if kind == ReplyKind::Created { 201 } else { 200 };
        let mut responses = self.responses::<D>(status, success, &faults(resource, verb));
        if verb == Verb::Upsert {
            let payload = self.payload(resource, verb);
            let (name, example) = self.answer(resource, verb);
            let made = ReplyKind::Created;
            let success = self.success::<D>(message(made), &name, payload, example, success_words(made));
            let mut success = headers::of_success(success, resource, (verb, made));
            success.links = links::of_new::<D>(resource, |id| self.operation_id::<D>(id));
            responses.responses.insert(StatusCode::Code(201), ReferenceOr::Item(success));
            responses.responses.sort_by(|left, _, right, _| code(left).cmp(&code(right)));
        }
        if verb == Verb::Get {
            let unchanged = Response {
                description: "The same would be said as with the tag in `If-None-Match`.".into(),
                ..Response::default()
            };
            let unchanged = headers::of_unchanged(unchanged, resource);
            responses.responses.insert(StatusCode::Code(304), ReferenceOr::Item(unchanged));
            responses.responses.sort_by(|left, _, right, _| code(left).cmp(&code(right)));
        }
        let request_body = self.request_body(resource, verb).map(ReferenceOr::Item);
        // One that may have made the record says so by its status.
        let said = if verb == Verb::Upsert { "" } else { message(kind) };
        let mut extensions = extensions::<D>(needed(resource, verb), said);
        if resource.csv(verb).is_some() {
            description += AS_CSV;
            if parameters.iter().any(is_of_pages) {
                description += " Then all of it is, and neither `page` nor `pageSize` may be given.";
            }
            let name = self.operation_id::<D>(csv_operation(resource, verb));
            extensions.insert(FORMAT_CSV.into(), name.into());
        }
        Operation {
            tags: vec![self.tag_name::<D>(resource.key.title())],
            summary: Some(summary),
            description: Some(description),
            operation_id: Some(self.operation_id::<D>(resource.operation_id(verb))),
            parameters: parameters.into_iter().map(ReferenceOr::Item).collect(),
            request_body,
            responses: Some(responses),
            security: vec![requirement(&security)],
            extensions,
            ..Operation::default()
        }
    }

    /// A read with a path of its own where it is answered as comma-separated values: so each path answers one form, and what is
    /// made of the document knows which.
    fn as_csv<D: Dialect>(&mut self, resource: &ResourceOperations, verb: Verb) -> Option<Operation> {
        let csv = resource.csv(verb)?;
        let mut operation = self.operation::<D>(resource, verb);
        operation.parameters.retain(|one| match one {
            ReferenceOr::Item(Parameter::Header { parameter_data, .. }) => parameter_data.name != DECIMAL_FORMAT,
            ReferenceOr::Item(parameter) => !is_of_pages(parameter),
            ReferenceOr::Reference { .. } => true,
        });
        operation.operation_id = Some(self.operation_id::<D>(csv_operation(resource, verb)));
        operation.summary = operation.summary.map(|summary| summary + ", as CSV");
        operation.description =
            Some(format!("All of what `{}` answers, as comma-separated values.", resource.operation_id(verb)));
        operation.extensions = extensions::<D>(needed(resource, verb), "");
        let media = MediaType {
            schema: Some(schema_object(json_schema!({"type": "string"}))),
            example: Some((csv.example)().into()),
            ..MediaType::default()
        };
        let whole = Response {
            description: "All rows, below the names of the columns.".into(),
            content: IndexMap::from([("text/csv".to_owned(), media)]),
            ..Response::default()
        };
        let responses = operation.responses.get_or_insert_default();
        responses
            .responses
            .insert(StatusCode::Code(200), ReferenceOr::Item(headers::of_all(headers::of_books(whole, resource))));
        Some(operation)
    }

    /// The body that a verb takes.
    fn request_body(&mut self, resource: &ResourceOperations, verb: Verb) -> Option<RequestBody> {
        let operation = resource.operation_id(verb);
        if resource.body_need(verb) == BodyNeed::Required {
            let schema = (resource.input_schema)(&mut self.input);
            return Some(self.body(schema, named::body(&operation, resource.example.clone())));
        }
        let Does::Writes(writing) = &resource.extra(verb)?.does else { return None };
        let body = writing.body?;
        let schema = (body.schema)(&mut self.input);
        Some(RequestBody { required: false, ..self.body(schema, named::body(&operation, (body.example)())) })
    }

    fn body(&mut self, schema: Schema, example: Value) -> RequestBody {
        let example = self.examples.keep(&schema, example);
        RequestBody { content: content(schema, example), required: true, ..RequestBody::default() }
    }

    /// What a read beside the five verbs answers.
    fn reading<D: Dialect>(&mut self, reading: &Reading) -> Response {
        let payload = (reading.schema)(&mut self.output);
        let example = self.examples.keep(&payload, (reading.example)());
        if reading.media == Media::NdJson {
            let mut response = response("One JSON text a line.", payload, example);
            response.content =
                response.content.into_values().map(|media| ("application/x-ndjson".to_owned(), media)).collect();
            return response;
        }
        let name = reference_name(&payload);
        self.success::<D>("OK", &name, payload, example, "What was asked for.")
    }

    /// The name of what a verb answers; and an example of it, where it does not stand with its schema.
    fn answer(&mut self, resource: &ResourceOperations, verb: Verb) -> (String, Option<Value>) {
        let resource = answering(resource, verb);
        if verb == Verb::Delete {
            return ("Deleted".into(), None);
        }
        let record = (resource.view_schema)(&mut self.output);
        let name = reference_name(&record);
        let example = self.examples.keep(&record, examples::record(resource));
        if verb == Verb::List {
            return (format!("{name}Page"), None);
        }
        (name, example)
    }

    /// The schema of what the verb answers, before the dialect wraps it.
    fn payload(&mut self, resource: &ResourceOperations, verb: Verb) -> Schema {
        let record = (answering(resource, verb).view_schema)(&mut self.output);
        match verb {
            Verb::Get | Verb::Create | Verb::Update | Verb::Upsert | Verb::Extra(_) => record,
            Verb::List => {
                let pagination = self.output.subschema_for::<Pagination>();
                self.examples.keep(&pagination, json!(Pagination::of_one()));
                let name = format!("{}Page", reference_name(&record));
                let mut properties = json!({"items": {"type": "array", "items": record}, "pagination": pagination});
                if !resource.expands.is_empty() {
                    properties[EXPANDED] = self.expanded().to_value();
                }
                self.component(
                    name,
                    json_schema!({
                        "type": "object",
                        "description": format!("One page of {}.", resource.about.many),
                        "properties": properties,
                        "required": ["items", "pagination"]
                    }),
                )
            }
            Verb::Delete => {
                let postings = self.postings();
                self.component(
                    "Deleted".into(),
                    json_schema!({
                        "type": "object",
                        "description": "What is left of a record that was deleted.",
                        "properties": {
                            "id": {"type": "string", "description": "The identifier it had."},
                            "deleted": {"type": "boolean", "enum": [true]},
                            POSTINGS: postings
                        },
                        "required": ["id", "deleted"],
                        "examples": [{"id": EXAMPLE_ID, "deleted": true}]
                    }),
                )
            }
        }
    }

    /// What a write would post that is only rehearsed.
    fn postings(&mut self) -> Value {
        let line = self.output.subschema_for::<RehearsedLine>();
        let about = "The journal lines that would be made; there where `dryRun` asked for them.";
        json!({"type": "array", "items": line, "description": about})
    }

    /// What a record has beside its own members, by the name of its schema: only who asks for it sees it, and nothing of it is
    /// taken back.
    fn beside_records(&mut self) -> Vec<(String, Map<String, Value>)> {
        let mut all = Vec::new();
        for resource in registry() {
            let record = reference_name(&(resource.view_schema)(&mut self.output));
            let mut members = Map::new();
            if !resource.expands.is_empty() {
                members.insert(EXPANDED.to_owned(), self.expanded().to_value());
            }
            if resource.keeps_deleted() {
                let mut when = self.output.subschema_for::<Instant>();
                when.insert(
                    "description".into(),
                    "When it was deleted; there where `includeDeleted` asked for it.".into(),
                );
                members.insert(DELETED_AT.to_owned(), when.to_value());
            }
            if resource.is_rehearsed() {
                members.insert(POSTINGS.to_owned(), self.postings());
            }
            all.push((record, members));
        }
        all
    }

    /// The records that an answer names, beside it.
    fn expanded(&mut self) -> Schema {
        let mut lists = Map::new();
        for resource in registry().iter().filter(|resource| resource.by_ids.is_some()) {
            let record = (resource.view_schema)(&mut self.output);
            let about = format!("Each of the {} that are named, once.", resource.about.many);
            let list = json!({"type": "array", "items": record, "description": about});
            lists.insert(resource.key.stem().to_owned(), list);
        }
        let about = "The records that `expand` asked for; of each resource that it names there is a list.";
        let schema = json_schema!({
            "type": "object", "description": about, "properties": lists, "examples": [{"parties": []}]
        });
        self.component("Expanded".into(), schema)
    }

    fn component(&mut self, name: String, schema: Schema) -> Schema {
        let reference = json_schema!({"$ref": format!("#/components/schemas/{name}")});
        self.components.schemas.insert(name, schema_object(schema));
        reference
    }

    fn success<D: Dialect>(
        &mut self,
        message: &str,
        payload_name: &str,
        payload: Schema,
        example: Option<Value>,
        description: &str,
    ) -> Response {
        let example = example.and_then(|example| self.examples.keep(&payload, example));

        let (name, schema) = D::success_schema(payload_name, payload.to_value());
        let schema = Schema::try_from(schema).unwrap_or_default();
        let schema = match name {
            Some(name) => self.component(name, schema),
            None => schema,
        };
        let wrapped = example.map(|example| D::success(message, &example.to_string()));
        response(description, schema, wrapped.and_then(|wrapped| serde_json::from_str(&wrapped).ok()))
    }

    fn responses<D: Dialect>(&mut self, status: u16, success: Response, faults: &[Fault]) -> Responses {
        let mut responses = IndexMap::from([(StatusCode::Code(status), ReferenceOr::Item(success))]);
        for fault in faults.iter().chain(&[Fault::Gone, Fault::UnknownHost, Fault::Internal, Fault::Unavailable]) {
            let failure = fault.example();
            let name = if self.lettered { format!("{}{}", fault.name(), D::LETTER) } else { fault.name().to_owned() };
            let reference = ReferenceOr::ref_(&format!("#/components/responses/{name}"));
            responses.insert(StatusCode::Code(failure.status.as_u16()), reference);
            if !self.components.responses.contains_key(&name) {
                let response = self.failure::<D>(*fault, &failure);
                self.components.responses.insert(name, ReferenceOr::Item(response));
            }
        }
        responses.sort_by(|left, _, right, _| code(left).cmp(&code(right)));
        Responses { responses, ..Responses::default() }
    }

    fn failure<D: Dialect>(&mut self, fault: Fault, failure: &Failure) -> Response {
        let schema = self.output.subschema_for::<D::FailureBody>();
        let response = response(fault.description(), schema, serde_json::from_str(&D::failure(failure)).ok());
        headers::of_failure(response, failure)
    }
}

/// Who logs in has nothing to show yet: what needs no token says so.
fn open_to_all(document: &mut Value) {
    let paths = document.get_mut("paths").and_then(Value::as_object_mut).into_iter().flatten();
    let operations = paths.filter_map(|(_, item)| item.as_object_mut()).flatten();
    for operation in operations.filter_map(|(_, operation)| operation.as_object_mut()) {
        operation.entry("security").or_insert_with(|| json!([]));
    }
}

fn requirement(schemes: &[&str]) -> SecurityRequirement {
    schemes.iter().map(|scheme| ((*scheme).to_owned(), Vec::new())).collect()
}

/// What is said of an operation beside what OpenAPI knows: the permission that it needs, and what the envelope of a success
/// says, in dialects that have one.
fn extensions<D: Dialect>(needed: Value, message: &str) -> IndexMap<String, Value> {
    let mut extensions = IndexMap::from([("x-required-permission".to_owned(), needed)]);
    let wrapping = D::wrapping();
    let mut said = wrapping["success"].as_object().into_iter().flatten();
    if !message.is_empty() && said.any(|(_, said)| *said == "$message") {
        extensions.insert("x-message".into(), message.into());
    }
    extensions
}

/// Whether a parameter is one of what comes in pages.
fn is_of_pages(parameter: &Parameter) -> bool {
    let Parameter::Query { parameter_data, .. } = parameter else { return false };
    PAGES.iter().any(|(name, _)| *name == parameter_data.name)
}

fn csv_operation(resource: &ResourceOperations, verb: Verb) -> String {
    resource.operation_id(verb) + "Csv"
}

fn reference_name(schema: &Schema) -> String {
    let reference = schema.get("$ref").and_then(Value::as_str).unwrap_or_default();
    reference.rsplit('/').next().unwrap_or_default().to_owned()
}

fn response(description: &str, schema: Schema, example: Option<Value>) -> Response {
    Response { description: description.into(), content: content(schema, example), ..Response::default() }
}

fn content(schema: Schema, example: Option<Value>) -> IndexMap<String, MediaType> {
    let media = MediaType { schema: Some(schema_object(schema)), example, ..MediaType::default() };
    IndexMap::from([("application/json".to_owned(), media)])
}

fn schema_object(json_schema: Schema) -> SchemaObject {
    SchemaObject { json_schema, external_docs: None, example: None }
}

/// The messages by field, in every failure.
#[derive(serde::Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "FieldMessages")]
pub struct FieldMessages(pub std::collections::BTreeMap<String, Vec<String>>);

/// The same document as OpenAPI 3.0.3.
pub fn as_30(document: Value) -> Value {
    down_convert(document)
}
