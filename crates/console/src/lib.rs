//! The console in the browser: plain HTML, one stylesheet, ES modules that need no build, all in the binary.
//!
//! Owns: the files, and what the page is told of the installation. Refuses: any way to the books but the API, as every other
//! client has it; what the pages show is proof that it suffices.

use serde::Serialize;

/// The dialect that the pages speak.
pub const SPEAKS: &str = "B";

/// Below this path every view has a link of its own.
pub const VIEWS: &str = "/c";

/// A file of the pages, by the name that the others call it.
pub struct File {
    pub name: &'static str,
    pub media_type: &'static str,
    pub text: &'static str,
}

/// The style of every page that a browser sees, also of those beside the console.
pub const STYLE: &str = include_str!("../web/style.css");

const SCRIPT: &str = "text/javascript";

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        /// All of them. The modules name each other, so they stand in one folder.
        pub const FILES: &[File] = &[
            $(File { name: $name, media_type: SCRIPT, text: include_str!(concat!("../web/", $name)) }),*
        ];
    };
}

modules![
    "about.js",
    "account.js",
    "actions.js",
    "admin.js",
    "allocate.js",
    "api.js",
    "chain.js",
    "chart.js",
    "closing.js",
    "csv.js",
    "currencies.js",
    "decimal.js",
    "derive.js",
    "dialog.js",
    "dom.js",
    "drafts.js",
    "edit.js",
    "event-types.js",
    "faults.js",
    "form.js",
    "format.js",
    "frame.js",
    "german-labels.js",
    "german-more.js",
    "german-names.js",
    "german-reports.js",
    "german-story.js",
    "german.js",
    "heads.js",
    "home.js",
    "keys.js",
    "list.js",
    "main.js",
    "merge.js",
    "names.js",
    "on-hand.js",
    "owed.js",
    "paper.js",
    "parts.js",
    "picker.js",
    "places.js",
    "proof.js",
    "qr.js",
    "record.js",
    "refusals-fields.js",
    "refusals.js",
    "rehearsal.js",
    "report-csv.js",
    "report-table.js",
    "report-total.js",
    "report-words.js",
    "report.js",
    "request.js",
    "resources.js",
    "route.js",
    "schema.js",
    "settings.js",
    "settling.js",
    "setup.js",
    "sides.js",
    "signin.js",
    "slices.js",
    "sure.js",
    "system.js",
    "texts.js",
    "unmatched.js",
];

/// The file that speaks on the page about the installation, in the language that was chosen in the console.
pub const ABOUT: &str = "about.js";

/// What the page is told of the installation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Setup {
    pub version: String,
    /// Those that are served, `SPEAKS` among them.
    pub dialects: Vec<Spoken>,
    /// Pages beside the console: a path and a title.
    pub pages: Vec<(String, String)>,
    /// Who may be signed in as by everybody.
    pub demo: Option<Demo>,
    /// What books have to tell, by their companies.
    pub stories: Vec<(String, &'static [Sentence])>,
}

/// A sentence, the words of a link, and the view that it leads to.
pub type Sentence = (&'static str, &'static str, &'static str);

/// A dialect that is served.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spoken {
    pub letter: String,
    pub base: String,
    /// Where its document is.
    pub document: String,
}

/// The user of a demo, whom everybody may know.
#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub struct Demo {
    pub email: &'static str,
    pub password: &'static str,
}

/// The page of every view. `folder` is where the files are, `style` where the style is.
pub fn page(folder: &str, style: &str, setup: &Setup) -> String {
    let ahead: Vec<String> =
        FILES.iter().map(|file| format!("<link rel=\"modulepreload\" href=\"{folder}/{}\">\n", file.name)).collect();
    let told = escape(&serde_json::json!(setup).to_string());
    let others: Vec<String> = setup
        .pages
        .iter()
        .map(|(path, title)| format!("<li><a href=\"{}\">{}</a></li>", escape(path), escape(title)))
        .collect();
    let (ahead, others) = (ahead.concat(), others.concat());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Duet</title>\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"duet\" content=\"{told}\">\n\
         <link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"{style}\">\n{ahead}\
         <script type=\"module\" src=\"{folder}/main.js\"></script>\n</head>\n<body>\n\
         <div id=\"app\"><main class=\"gate\"><h1>Duet</h1></main></div>\n\
         <noscript><main class=\"gate\"><p>The console needs JavaScript. These pages are here as well:</p>\
         <ul>{others}</ul></main></noscript>\n</body>\n</html>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Setup {
        let spoken = Spoken { letter: SPEAKS.into(), base: "/\"><b>".into(), document: "/d".into() };
        Setup {
            version: "<1>".into(),
            dialects: vec![spoken],
            pages: vec![("/x".into(), "X".into())],
            demo: None,
            stories: Vec::new(),
        }
    }

    #[test]
    fn the_page_holds_nothing_inline() {
        let page = page("/console/0", "/s.css", &told());
        assert!(!page.contains("<script>") && !page.contains("<style") && !page.contains("<b>"), "{page}");
        assert!(!page.contains(" style=") && !page.contains(" onclick="), "{page}");
    }

    /// What is not named in the list is not served, and what is served is asked for by somebody.
    #[test]
    fn every_module_is_there_and_used() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web");
        let mut there: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut listed: Vec<String> = FILES.iter().map(|file| file.name.to_owned()).collect();
        listed.push("style.css".to_owned());
        there.sort();
        listed.sort();
        assert_eq!(there, listed);
        for file in FILES.iter().filter(|file| !["main.js", ABOUT].contains(&file.name)) {
            let named = format!("\"./{}\"", file.name);
            assert!(FILES.iter().any(|other| other.text.contains(&named)), "nobody imports {named}");
        }
    }

    #[test]
    fn the_pages_write_no_html_and_ask_nobody_else() {
        for file in FILES {
            for word in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "localhost", "https://"]
            {
                assert!(!file.text.contains(word), "{} says {word}", file.name);
            }
            assert!(file.text.lines().count() <= 500, "{} is too long", file.name);
        }
    }

    /// What the modules say in English, the catalogue says in German.
    #[test]
    fn every_sentence_has_its_german() {
        let catalogue: String =
            FILES.iter().filter(|file| file.name.starts_with("german")).map(|file| file.text).collect();
        let mut missing = Vec::new();
        for file in FILES {
            // A long sentence stands on a line of its own.
            let text = file.text.split_whitespace().collect::<Vec<_>>().join(" ").replace("t( \"", "t(\"");
            let mut rest = text.as_str();
            while let Some(at) = rest.find("t(\"") {
                let is_call = !rest[..at].ends_with(|before: char| before.is_alphanumeric() || before == '.');
                rest = &rest[at + 3..];
                let said = rest.split('"').next().unwrap_or_default();
                if is_call && !catalogue.contains(&format!("\"{said}\":")) {
                    missing.push(said.to_owned());
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }

    /// What the API keeps in the company's currency is shown in it, whatever the record's own is.
    #[test]
    fn what_is_in_the_companys_currency_is_known() {
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/dialect-b.json");
        let document: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(document).unwrap()).unwrap();
        let module = FILES.iter().find(|file| file.name == "currencies.js").unwrap();
        let mut seen = 0;
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            let of_record = schema["properties"].as_object().into_iter().flatten();
            // Debit and credit of the ledger stand apart from documents, and are never in another.
            let is_of_ledger = ["EntryLine", "RehearsedLine"].contains(&name.as_str());
            for (field, one) in of_record.filter(|(field, _)| !is_of_ledger || *field == "taxBase") {
                let about = one["description"].as_str().unwrap_or_default();
                if one["type"] != "number" || !about.contains("in the company's currency") {
                    continue;
                }
                seen += 1;
                let is_known = field.starts_with("base") || module.text.contains(&format!("\"{field}\","));
                assert!(is_known, "{name}.{field}: {about}");
            }
        }
        assert!(seen > 50, "{seen}");
    }

    /// What the API has that no page shows by its name, and why.
    const UNSHOWN: &[(&str, &[&str])] = &[
        (
            "only programs ask so",
            &["cursor", "dryRun", "expand", "fields", "limit", "page", "pageSize", "sort", "wait"],
        ),
        (
            "it holds what is shown, and has no name itself",
            &["allowedActions", "authenticator", "children", "expanded", "postings"],
        ),
        ("the proof has sentences for it", &["checks", "digest", "findings", "left", "ok", "right"]),
        ("so has the proof of the log", &["head", "problems", "records", "signature"]),
        ("and what was refused", &["errors", "title"]),
        ("reports name their own columns and questions", &["key", "label", "parameters", "required", "values"]),
        ("so do gaps in numbers", &["first", "last", "missing", "period"]),
        ("pages of an API for programs", &["hasMore", "lastSequence"]),
        ("columns of pages that have heads of their own", &["calls", "ms", "uri"]),
    ];
    /// How schemas end or begin that are frames of answers, or reports, which tell what their rows are called, or for programs.
    const FRAMES: (&[&str], &[&str]) =
        (&["Page", "Pagination", "Report", "Row", "Totals"], &["Batch", "OperationInput"]);

    fn document() -> serde_json::Value {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/dialect-b.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn texts(names: &[&str]) -> String {
        FILES.iter().filter(|file| names.contains(&file.name)).map(|file| file.text).collect()
    }

    /// The names of properties and parameters, and the words that they take, with where each stands.
    fn named(value: &serde_json::Value, place: &str, found: &mut Vec<(String, String)>) {
        for (name, _) in value["properties"].as_object().into_iter().flatten() {
            found.push((name.clone(), place.to_owned()));
        }
        let parameter = if value["in"] == "query" { value["name"].as_str() } else { None };
        let words = value["enum"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        found.extend(words.chain(parameter).map(|word| (word.to_owned(), place.to_owned())));
        for inner in value.as_object().into_iter().flat_map(serde_json::Map::values) {
            named(inner, place, found);
        }
        for inner in value.as_array().into_iter().flatten() {
            named(inner, place, found);
        }
    }

    /// Whether the pages show what is in a schema by its name.
    fn is_shown(schema: &str) -> bool {
        let (ends, begins) = FRAMES;
        !ends.iter().any(|end| schema.ends_with(end)) && !begins.iter().any(|begin| schema.starts_with(begin))
    }

    /// A field, a state or a kind that has no German name is shown in the words of the API.
    #[test]
    fn every_name_of_the_api_has_its_german() {
        let catalogue = texts(&["german-labels.js", "german-names.js"]);
        let document = document();
        let mut found = Vec::new();
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            if is_shown(name) {
                named(schema, name, &mut found);
            }
        }
        let shared = document["components"]["parameters"].as_object().unwrap().iter();
        let operations =
            document["paths"].as_object().unwrap().iter().flat_map(|(path, methods)| {
                methods.as_object().unwrap().values().map(move |operation| (path, operation))
            });
        let own = operations.flat_map(|(path, operation)| {
            operation["parameters"].as_array().into_iter().flatten().map(move |parameter| (path, parameter))
        });
        for (place, parameter) in shared.chain(own).filter(|(_, one)| one["in"] == "query") {
            named(parameter, place, &mut found);
        }
        assert!(found.len() > 1000, "{}", found.len());
        let unshown = |name: &str| UNSHOWN.iter().any(|(_, names)| names.contains(&name));
        let told = |name: &str| {
            [format!("\n  {name}: \""), format!("\n  \"{name}\": \"")].iter().any(|key| catalogue.contains(key))
        };
        let missing: Vec<_> = found.iter().filter(|(name, _)| !unshown(name) && !told(name)).collect();
        assert!(missing.is_empty(), "{missing:#?}");
        // What is excepted is there, and has no name after all.
        for name in UNSHOWN.iter().flat_map(|(_, names)| *names) {
            assert!(found.iter().any(|(one, _)| one == name) && !told(name), "{name} is no exception");
        }
    }

    /// A field that takes words of the API shows them in the reader's, not as the API has them.
    #[test]
    fn every_word_of_the_api_is_shown_as_one() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let takes_words = |told: &serde_json::Value| {
            let refers = ["allOf", "oneOf"].into_iter().filter_map(|kind| told[kind].as_array()).flatten();
            let named = refers.chain([told]).filter_map(|one| one["$ref"].as_str());
            let all = named.filter_map(|place| schemas.get(place.rsplit('/').next()?));
            all.chain([told]).any(|one| one["enum"][0].is_string())
        };
        let parts = texts(&["parts.js"]);
        let words = parts.split_once("const WORDS = [").unwrap().1.split_once("];").unwrap().0;
        let shown = schemas.iter().filter(|(name, _)| is_shown(name));
        let fields = shown.flat_map(|(_, schema)| schema["properties"].as_object().into_iter().flatten());
        let of_words: Vec<&str> = fields.filter(|(_, told)| takes_words(told)).map(|(name, _)| name.as_str()).collect();
        assert!(of_words.len() > 100, "{of_words:?}");
        let missing: Vec<_> = of_words.iter().filter(|name| !words.contains(&format!("\"{name}\""))).collect();
        assert!(missing.is_empty(), "{missing:#?}");
    }

    /// What reports are about and can be asked, and what is proved.
    #[test]
    fn every_report_and_every_proof_has_its_german() {
        let catalogue = texts(&["german-more.js", "german-reports.js", "german.js"]);
        let document = document();
        let mut said = Vec::new();
        let reports = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(path, _)| path.starts_with("/reports/") && !path.contains(".csv"));
        for report in reports.map(|(_, methods)| &methods["get"]) {
            said.push(report["summary"].as_str().unwrap().to_owned());
            let about = report["description"].as_str().unwrap();
            said.push(about.split(" With `.csv` behind").next().unwrap().to_owned());
            for parameter in report["parameters"].as_array().into_iter().flatten() {
                let parameter = match parameter["$ref"].as_str() {
                    Some(place) => &document["components"]["parameters"][place.rsplit('/').next().unwrap()],
                    None => parameter,
                };
                let name = parameter["name"].as_str().unwrap();
                let aside = ["fromDate", "toDate", "date", "format", "page", "pageSize"];
                if parameter["in"] == "query" && !aside.contains(&name) {
                    said.push(parameter["description"].as_str().unwrap().to_owned());
                }
            }
        }
        assert!(said.len() > 150, "{}", said.len());
        let proved = said.len();
        for folder in ["proof/src", "ledger-core/src/books"] {
            proofs(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), &mut said);
        }
        assert!(said.len() > proved + 40, "{:?}", &said[proved..]);
        let missing: Vec<_> = said.iter().filter(|text| !catalogue.contains(&format!("\"{text}\":"))).collect();
        assert!(missing.is_empty(), "{missing:#?}");
    }

    /// The names of what is proved: they stand behind its number, such as `"V4a", "Balances by day equal the lines"`.
    fn proofs(folder: &std::path::Path, said: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                proofs(&entry, said);
            } else {
                let text = std::fs::read_to_string(&entry).unwrap();
                let parts: Vec<&str> = text.split('"').collect();
                let is_number = |text: &str| {
                    text.len() < 5 && text.starts_with(char::is_uppercase) && text[1..].starts_with(char::is_numeric)
                };
                let found =
                    parts.windows(3).filter(|one| is_number(one[0]) && one[1].trim() == "," && one[2].contains(' '));
                said.extend(found.map(|one| one[2].to_owned()));
            }
        }
    }

    /// Amounts are texts: what would make a binary float of one stands in the drawing of charts alone.
    #[test]
    fn amounts_stay_decimal() {
        for file in FILES.iter().filter(|file| file.name != "chart.js") {
            for word in ["parseFloat", "toFixed", "valueAsNumber"] {
                assert!(!file.text.contains(word), "{} says {word}", file.name);
            }
        }
    }
}
