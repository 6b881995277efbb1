//! Finding out what a server speaks, and where.

use crate::documents;
use clap::ValueEnum;
use compare::client::Remote;
use compare::curl::split_url;
use compare::dialect::Dialect;
use compare::pair::Side;
use compare::wire::{Request, Transport};
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Letter {
    A,
    B,
}

const LETTERS: [Letter; 2] = [Letter::A, Letter::B];

impl Letter {
    /// Where a server of ours keeps the dialect's document.
    const fn document(self) -> &'static str {
        match self {
            Self::A => "/swagger/a/swagger.json",
            Self::B => "/swagger/b/swagger.json",
        }
    }

    /// The document as this program would serve it below a base.
    pub(crate) fn built_in(self, base: &str) -> Result<Dialect, String> {
        let document = match self {
            Self::A => documents::of_a(base),
            Self::B => documents::of_b(base),
        };
        Dialect::of(document, Some(base))
    }
}

/// Both dialects of one server, where its own documents say that they are.
pub(super) async fn both_of(server: &str) -> Result<(Side, Side), String> {
    let (origin, _) = split_url(server)?;
    let transport: Arc<dyn Transport> = Arc::new(Remote::new(&origin)?);
    let mut sides = Vec::new();
    for letter in LETTERS {
        let document = document(&*transport, letter).await?;
        let document = document.ok_or_else(|| {
            format!("{origin} does not serve dialect {letter:?}; set Dialect=Both there, or compare two servers with --left and --right")
        })?;
        sides.push(side(&transport, Dialect::of(document, None)?, true));
    }
    let right = sides.pop();
    sides.pop().zip(right).ok_or_else(|| "two dialects make two sides".to_owned())
}

/// The side below a URL.
pub(super) async fn at(url: &str, letter: Option<Letter>) -> Result<Side, String> {
    let (origin, base) = split_url(url)?;
    let base = base.trim_end_matches('/');
    let transport: Arc<dyn Transport> = Arc::new(Remote::new(&origin)?);
    for known in LETTERS.into_iter().filter(|known| letter.is_none_or(|letter| letter == *known)) {
        if let Ok(Some(document)) = document(&*transport, known).await
            && document["servers"][0]["url"] == base
        {
            return Ok(side(&transport, Dialect::of(document, None)?, true));
        }
    }
    // Somebody else's server: it speaks the dialect whose log-in it knows.
    if let Some(letter) = letter {
        return Ok(side(&transport, letter.built_in(base)?, false));
    }
    for letter in LETTERS {
        let dialect = letter.built_in(base)?;
        let login = dialect.operation(compare::dialect::LOGIN)?;
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        let probe = Request {
            method: "POST".into(),
            target: format!("{base}{}", login.path),
            headers,
            body: Some("{}".into()),
        };
        let status = transport.send(probe).await.map_err(|why| format!("{origin}: {why}"))?.status;
        if !matches!(status, 404 | 405) {
            return Ok(side(&transport, dialect, false));
        }
    }
    Err(format!("cannot find out what {url} speaks; say it with --left-dialect or --right-dialect"))
}

fn side(transport: &Arc<dyn Transport>, dialect: Dialect, documented: bool) -> Side {
    Side { dialect: Arc::new(dialect), transport: transport.clone(), token: None, business: None, documented }
}

async fn document(transport: &dyn Transport, letter: Letter) -> Result<Option<Value>, String> {
    let request = Request { method: "GET".into(), target: letter.document().into(), ..Request::default() };
    let answer = transport.send(request).await.map_err(|why| format!("{}: {why}", transport.origin()))?;
    Ok(if answer.status == 200 { serde_json::from_str(&answer.body).ok() } else { None })
}
