//! Finding out what a server speaks, and where.

use crate::dialects::{SPOKEN, Spoken};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use compare::client::Remote;
use compare::curl::split_url;
use compare::dialect::Dialect;
use compare::pair::Side;
use compare::wire::{Request, Transport};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// A dialect by its letter, on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter(&'static Spoken);

impl Letter {
    pub(super) fn spoken(self) -> &'static Spoken {
        self.0
    }
}

impl ValueEnum for Letter {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Letter>> = LazyLock::new(|| SPOKEN.iter().map(Letter).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.letter.to_lowercase()))
    }
}

/// A dialect, as this program would serve it below a base.
pub(crate) fn built_in(dialect: &Spoken, base: &str) -> Result<Dialect, String> {
    Dialect::of((dialect.document)(base), Some(base))
}

/// Two dialects of one server, where its own documents say that they are: those that are named, else the first two.
pub(super) async fn both_of(server: &str, named: [Option<Letter>; 2]) -> Result<(Side, Side), String> {
    let (origin, _) = split_url(server)?;
    let transport: Arc<dyn Transport> = Arc::new(Remote::new(&origin)?);
    let mut sides = Vec::new();
    for (dialect, named) in SPOKEN.iter().zip(named) {
        let dialect = named.map_or(dialect, |Letter(dialect)| dialect);
        let document = document(&*transport, dialect).await?;
        let document = document.ok_or_else(|| {
            let letter = dialect.letter;
            format!("{origin} does not serve dialect {letter}; set Dialect=Both there, or compare two servers with --left and --right")
        })?;
        sides.push(side(&transport, Dialect::of(document, None)?, true));
    }
    let right = sides.pop();
    sides.pop().zip(right).ok_or_else(|| "two dialects make two sides".to_owned())
}

/// What a server says of itself that it speaks.
pub(super) async fn served_by(origin: &str) -> Result<Vec<Side>, String> {
    let transport: Arc<dyn Transport> = Arc::new(Remote::new(origin)?);
    let mut sides = Vec::new();
    for dialect in SPOKEN {
        if let Some(document) = document(&*transport, dialect).await? {
            sides.push(side(&transport, Dialect::of(document, None)?, true));
        }
    }
    Ok(sides)
}

/// The side below a URL.
pub(super) async fn at(url: &str, letter: Option<Letter>) -> Result<Side, String> {
    let (origin, base) = split_url(url)?;
    let base = base.trim_end_matches('/');
    let transport: Arc<dyn Transport> = Arc::new(Remote::new(&origin)?);
    let letter = letter.map(|Letter(dialect)| dialect);
    for known in SPOKEN.iter().filter(|known| letter.is_none_or(|wanted| wanted.letter == known.letter)) {
        if let Ok(Some(document)) = document(&*transport, known).await
            && document["servers"][0]["url"] == base
        {
            return Ok(side(&transport, Dialect::of(document, None)?, true));
        }
    }
    // Somebody else's server: it speaks the dialect whose log-in it knows.
    if let Some(dialect) = letter {
        return Ok(side(&transport, built_in(dialect, base)?, false));
    }
    for known in SPOKEN {
        let dialect = built_in(known, base)?;
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

async fn document(transport: &dyn Transport, dialect: &Spoken) -> Result<Option<Value>, String> {
    let request = Request { method: "GET".into(), target: dialect.document_path(), ..Request::default() };
    let answer = transport.send(request).await.map_err(|why| format!("{}: {why}", transport.origin()))?;
    Ok(if answer.status == 200 { serde_json::from_str(&answer.body).ok() } else { None })
}
