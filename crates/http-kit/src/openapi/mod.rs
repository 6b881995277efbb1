//! The OpenAPI documents, made from the same registry that the routes are made from.
//!
//! Owns: what each operation takes, answers and needs. A document describes one dialect or, with both added,
//! the whole installation. The model is 3.1; [`Documents`] also writes it down as 3.0.3 for client generators.

mod fault;
mod parameters;
mod words;

use crate::dialect::{CompanyIn, Dialect};
use crate::failure::Failure;
use crate::handler::{message, paths};
use crate::openapi_30::down_convert;
use aide::openapi::{
    Components, Info, License, MediaType, OpenApi, Operation, PathItem, Paths, ReferenceOr, RequestBody, Response,
    Responses, SchemaObject, SecurityScheme, Server, StatusCode, Tag,
};
use fault::{Fault, faults};
use indexmap::IndexMap;
use ledger_core::access::Action;
use ledger_core::auth::invitation::{AcceptanceInput, Accepted, acceptance_example};
use ledger_core::ledger::ReplyKind;
use ledger_core::resource::Scope;
use ledger_core::resource::extra::{Does, Media, Reading};
use ledger_core::resource::list::Pagination;
use ledger_core::resource::operation::{BodyNeed, Method, ResourceOperations, Verb};
use ledger_core::resource::registry::{answering, registry};
use parameters::{header_parameter, path_parameter, verb_parameters};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use words::{code, codes_header, header_words, needed, success_words, text_header, with_headers, words};

/// The label of the API's release.
pub const RELEASE: &str = "v2026";

const EXAMPLE_ID: &str = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";
/// What a read of it is told apart by.
const EXAMPLE_TAG: &str =
    "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02-1-6c1f4f0e9d3b7a2586e0c4d1b39f7a5e2d8c6b40f1a3957e8d2c4b6a09e1f375";
const EXAMPLE_BUSINESS: &str = "019a9f6e-6c00-7b10-9c44-0d2e4f6a8b01";

/// A document under construction.
pub struct Document {
    api: OpenApi,
    paths: Paths,
    components: Components,
    input: SchemaGenerator,
    output: SchemaGenerator,
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
                security_schemes: IndexMap::from([("bearerAuth".to_owned(), ReferenceOr::Item(bearer))]),
                ..Components::default()
            },
            input: settings.clone().for_deserialize().into_generator(),
            output: settings.for_serialize().into_generator(),
            lettered,
        }
    }

    /// Adds all of a dialect under a prefix.
    pub fn add<D: Dialect>(&mut self, prefix: &str) {
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
        }
    }

    pub fn finish(mut self) -> Value {
        for definitions in [self.input.take_definitions(true), self.output.take_definitions(true)] {
            for (name, schema) in definitions {
                if let Ok(schema) = Schema::try_from(schema) {
                    self.components.schemas.insert(name, schema_object(schema));
                }
            }
        }
        self.components.schemas.sort_unstable_keys();
        self.api.paths = Some(self.paths);
        self.api.components = Some(self.components);
        serde_json::to_value(&self.api).unwrap_or_default()
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

    fn login<D: Dialect>(&mut self) -> Operation {
        let (request, answer) = D::login_example();
        let body = self.input.subschema_for::<D::Login>();
        let payload = self.output.subschema_for::<D::LoggedIn>();
        let success = self.success::<D>("OK", "LoggedIn", payload, answer, "Logged in.");
        let failures = [
            Fault::Validation,
            Fault::Credentials,
            Fault::Timeout,
            Fault::TooLarge,
            Fault::MediaType,
            Fault::RateLimited,
        ];
        Operation {
            tags: vec![self.tag_name::<D>("Authentication")],
            summary: Some("Log in".into()),
            description: Some(
                "Answers an access token. Send it as `Authorization: Bearer <token>`; log in again before it expires. \
                 After ten failures for one account, or twenty from one address, within 15 minutes further attempts are \
                 refused for a while."
                    .into(),
            ),
            operation_id: Some(self.operation_id::<D>("login".into())),
            request_body: Some(ReferenceOr::Item(request_body(body, request))),
            responses: Some(self.responses::<D>(200, success, &failures)),
            extensions: IndexMap::from([("x-required-permission".to_owned(), Value::Null)]),
            ..Operation::default()
        }
    }

    fn accept<D: Dialect>(&mut self) -> Operation {
        let (request, answer) = acceptance_example();
        let body = self.input.subschema_for::<AcceptanceInput>();
        let payload = self.output.subschema_for::<Accepted>();
        let success = self.success::<D>("OK", "AcceptedInvitation", payload, answer, "Accepted.");
        let failures = [
            Fault::Validation,
            Fault::Credentials,
            Fault::Conflict,
            Fault::IdempotencyMismatch,
            Fault::Timeout,
            Fault::TooLarge,
            Fault::MediaType,
            Fault::RateLimited,
        ];
        Operation {
            tags: vec![self.tag_name::<D>("Authentication")],
            summary: Some("Accept an invitation with a new account".into()),
            description: Some(
                "Send the code that you were given as the bearer token. Opens an account for the address that the \
                 invitation was made for, with a password that only you know, and makes it a member of the company; then \
                 log in. Whoever has an account already logs in and accepts \
                 the invitation there. A code that is wrong, used, withdrawn or too old is refused like one for an address \
                 that has an account. Wrong codes are counted like failed log-ins."
                    .into(),
            ),
            operation_id: Some(self.operation_id::<D>("acceptInvitation".into())),
            parameters: vec![ReferenceOr::Item(parameters::idempotency_key())],
            security: vec![IndexMap::from([("bearerAuth".to_owned(), Vec::new())])],
            request_body: Some(ReferenceOr::Item(request_body(body, request))),
            responses: Some(self.responses::<D>(200, success, &failures)),
            extensions: IndexMap::from([("x-required-permission".to_owned(), Value::Null)]),
            ..Operation::default()
        }
    }

    fn operation<D: Dialect>(&mut self, resource: &ResourceOperations, verb: Verb) -> Operation {
        let about = &resource.about;
        let (summary, description) = words(resource, verb);
        let mut parameters = Vec::new();
        if resource.scope == Scope::Business {
            parameters.push(match D::COMPANY_IN {
                CompanyIn::Path => path_parameter("businessId", "The company.", EXAMPLE_BUSINESS),
                CompanyIn::Header => header_parameter("X-Business-Id", "The company.", true, EXAMPLE_BUSINESS),
            });
        }
        if resource.names_record(verb) {
            parameters.push(path_parameter("id", &format!("The identifier of {}.", about.one), EXAMPLE_ID));
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
        let success = with_headers(success, resource, verb);
        let status = if kind == ReplyKind::Created { 201 } else { 200 };
        let mut responses = self.responses::<D>(status, success, &faults(resource, verb));
        if verb == Verb::Get {
            let unchanged = Response {
                description: "The same would be said as with the tag in `If-None-Match`.".into(),
                ..Response::default()
            };
            responses.responses.insert(StatusCode::Code(304), ReferenceOr::Item(unchanged));
            responses.responses.sort_by(|left, _, right, _| code(left).cmp(&code(right)));
        }
        let request_body = self.request_body(resource, verb).map(ReferenceOr::Item);
        Operation {
            tags: vec![self.tag_name::<D>(resource.key.title())],
            summary: Some(summary),
            description: Some(description),
            operation_id: Some(self.operation_id::<D>(resource.operation_id(verb))),
            parameters: parameters.into_iter().map(ReferenceOr::Item).collect(),
            request_body,
            responses: Some(responses),
            security: vec![IndexMap::from([("bearerAuth".to_owned(), Vec::new())])],
            extensions: IndexMap::from([("x-required-permission".to_owned(), needed(resource, verb))]),
            ..Operation::default()
        }
    }

    /// The body that a verb takes.
    fn request_body(&mut self, resource: &ResourceOperations, verb: Verb) -> Option<RequestBody> {
        if resource.body_need(verb) == BodyNeed::Required {
            let schema = (resource.input_schema)(&mut self.input);
            return Some(request_body(schema, resource.example.clone()));
        }
        let Does::Writes(writing) = &resource.extra(verb)?.does else { return None };
        let body = writing.body?;
        Some(RequestBody { required: false, ..request_body((body.schema)(&mut self.input), (body.example)()) })
    }

    /// What a read beside the five verbs answers.
    fn reading<D: Dialect>(&mut self, reading: &Reading) -> Response {
        let payload = (reading.schema)(&mut self.output);
        let example = (reading.example)();
        if reading.media == Media::NdJson {
            let mut response = response("One JSON text a line.", payload, Some(example));
            response.content =
                response.content.into_values().map(|media| ("application/x-ndjson".to_owned(), media)).collect();
            return response;
        }
        let name = reference_name(&payload);
        let mut response = self.success::<D>("OK", &name, payload, example, "What was asked for.");
        if let Some(csv) = reading.csv {
            let media = content(json_schema!({"type": "string"}), Some((csv.example)().into())).into_values();
            response.content.extend(media.map(|media| ("text/csv".to_owned(), media)));
        }
        response
    }

    /// The name of what a verb answers, and an example of it.
    fn answer(&mut self, resource: &ResourceOperations, verb: Verb) -> (String, Value) {
        let resource = answering(resource, verb);
        let record = example_record(resource);
        let name = record_name(resource, &mut self.output);
        match verb {
            Verb::List => {
                let pagination = Pagination::of_one();
                (format!("{name}Page"), json!({"items": [record], "pagination": pagination}))
            }
            Verb::Delete => ("Deleted".into(), json!({"id": EXAMPLE_ID, "deleted": true})),
            Verb::Get | Verb::Create | Verb::Update | Verb::Extra(_) => (name, record),
        }
    }

    /// The schema of what the verb answers, before the dialect wraps it.
    fn payload(&mut self, resource: &ResourceOperations, verb: Verb) -> Schema {
        let record = (answering(resource, verb).view_schema)(&mut self.output);
        match verb {
            Verb::Get | Verb::Create | Verb::Update | Verb::Extra(_) => record,
            Verb::List => {
                let pagination = self.output.subschema_for::<Pagination>();
                let name = format!("{}Page", record_name(resource, &mut self.output));
                self.component(
                    name,
                    json_schema!({
                        "type": "object",
                        "description": format!("One page of {}.", resource.about.many),
                        "properties": {"items": {"type": "array", "items": record}, "pagination": pagination},
                        "required": ["items", "pagination"]
                    }),
                )
            }
            Verb::Delete => self.component(
                "Deleted".into(),
                json_schema!({
                    "type": "object",
                    "description": "What is left of a record that was deleted.",
                    "properties": {
                        "id": {"type": "string", "description": "The identifier it had."},
                        "deleted": {"type": "boolean", "enum": [true]}
                    },
                    "required": ["id", "deleted"]
                }),
            ),
        }
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
        example: Value,
        description: &str,
    ) -> Response {
        let (name, schema) = D::success_schema(payload_name, payload.to_value());
        let schema = Schema::try_from(schema).unwrap_or_default();
        let schema = match name {
            Some(name) => self.component(name, schema),
            None => schema,
        };
        let wrapped = D::success(message, &example.to_string());
        response(description, schema, serde_json::from_str(&wrapped).ok())
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
        let mut response = response(fault.description(), schema, serde_json::from_str(&D::failure(failure)).ok());
        response.headers.insert("X-Error-Code".into(), codes_header(failure));
        for (name, value) in &failure.headers {
            let name = match name.as_str() {
                "retry-after" => "Retry-After",
                "www-authenticate" => "WWW-Authenticate",
                other => other,
            };
            let example = value.to_str().unwrap_or_default();
            response.headers.insert(name.into(), text_header(header_words(name), example));
        }
        response
    }
}

fn reference_name(schema: &Schema) -> String {
    let reference = schema.get("$ref").and_then(Value::as_str).unwrap_or_default();
    reference.rsplit('/').next().unwrap_or_default().to_owned()
}

fn record_name(resource: &ResourceOperations, generator: &mut SchemaGenerator) -> String {
    reference_name(&(resource.view_schema)(generator))
}

/// The record that the example body makes.
fn example_record(resource: &ResourceOperations) -> Value {
    let mut record = Map::new();
    let keeping = json!({
        "id": EXAMPLE_ID,
        "version": 1,
        "createdAt": "2026-11-20T09:30:00.000000Z",
        "createdBy": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
        "updatedAt": "2026-11-20T09:30:00.000000Z",
        "updatedBy": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
    });
    // What is only read has no keeping of its own.
    let keeping = if resource.key.actions().contains(&Action::Create) { keeping } else { Value::Null };
    for part in [keeping, resource.example.clone(), resource.example_view.clone()] {
        if let Value::Object(members) = part {
            record.extend(members);
        }
    }
    // What is sent and never shown, such as a password.
    record.retain(|name, _| resource.shows(name));
    Value::Object(record)
}

fn request_body(schema: Schema, example: Value) -> RequestBody {
    RequestBody { content: content(schema, Some(example)), required: true, ..RequestBody::default() }
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

/// A document as it is served: pretty enough to be compared line by line.
pub fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// The same document as OpenAPI 3.0.3.
pub fn as_30(document: Value) -> Value {
    down_convert(document)
}
