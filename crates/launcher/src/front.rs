//! The console at the root, where the dialect that it speaks is served, and the guide beside it.

use crate::config::Dialects;
use console::{ABOUT, Demo, FILES, SPEAKS, Setup, Spoken, VIEWS};
use http_kit::pages::{Chapter, Front, FrontFile, GUIDE, Guide, Picture, Visitor};
use ledger_core::resource::named;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn is_there(dialects: &Dialects) -> bool {
    dialects.served().any(|(_, dialect, _)| dialect.letter == SPEAKS)
}

/// What is said where it is not.
pub(crate) fn missing() -> String {
    format!(
        "There is no console here: it speaks dialect {SPEAKS}, which this server does not serve. Set Dialect to {SPEAKS} or to \
         Both, and it stands at this address; a running server takes that without a restart."
    )
}

/// The guide, each page made when it is first asked for.
pub(crate) fn guide() -> Guide {
    let chapter = |page: &'static guide::Page| Chapter {
        name: page.name,
        title: page.title,
        body: Arc::new(|| guide::html(page, GUIDE)),
    };
    let picture = |picture: &guide::Picture| Picture { name: picture.name, bytes: picture.bytes };
    Guide {
        chapters: guide::PAGES.iter().map(chapter).collect(),
        script: guide::SCRIPT,
        pictures: guide::PICTURES.iter().map(picture).collect(),
    }
}

/// Whom the reference is tried as beside a demo: the examples name the records of a company of their own.
pub(crate) fn visitor(dialects: &Dialects, demo: Demo) -> Option<Visitor> {
    let (_, dialect, base) = dialects.served().last()?;
    Some(Visitor {
        login: format!("{base}{}", dialect.login_path),
        body: json!({(dialect.login_name)(): demo.email, "password": demo.password}),
        email: demo.email,
        company: named::BUSINESS,
    })
}

pub(crate) fn of(dialects: &Dialects, pages: Vec<(String, String)>, demo: Option<Demo>) -> Front {
    let spoken = |(_, dialect, base): (_, &'static crate::dialects::Spoken, &str)| Spoken {
        letter: dialect.letter.into(),
        base: base.into(),
        document: dialect.document_path(),
    };
    let version = env!("CARGO_PKG_VERSION").into();
    let stories = demo.map(|_| ::demo::told()).unwrap_or_default();
    let setup = Setup { version, dialects: dialects.served().map(spoken).collect(), pages, demo, stories };
    let file = |file: &console::File| FrontFile { name: file.name, media_type: file.media_type, text: file.text };
    Front {
        views: VIEWS,
        about: ABOUT,
        files: FILES.iter().map(file).collect(),
        page: Box::new(move |folder, style| console::page(folder, style, &setup)),
    }
}
