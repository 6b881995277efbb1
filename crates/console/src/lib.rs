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
    "account.js",
    "actions.js",
    "admin.js",
    "api.js",
    "chain.js",
    "chart.js",
    "csv.js",
    "decimal.js",
    "dialog.js",
    "dom.js",
    "drafts.js",
    "edit.js",
    "event-types.js",
    "form.js",
    "format.js",
    "frame.js",
    "german-labels.js",
    "german-more.js",
    "german-names.js",
    "german-reports.js",
    "german-story.js",
    "german.js",
    "home.js",
    "keys.js",
    "list.js",
    "main.js",
    "merge.js",
    "names.js",
    "parts.js",
    "picker.js",
    "proof.js",
    "qr.js",
    "record.js",
    "refusals.js",
    "report.js",
    "request.js",
    "resources.js",
    "route.js",
    "schema.js",
    "settings.js",
    "settling.js",
    "setup.js",
    "signin.js",
    "sure.js",
    "system.js",
    "texts.js",
    "unmatched.js",
];

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
         <div id=\"app\"><main class=\"gate\"><h1>Duet</h1><p>The console is loading.</p></main></div>\n\
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
        for file in FILES.iter().filter(|file| file.name != "main.js") {
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
