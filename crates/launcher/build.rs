//! Puts the documents that are pinned in `openapi/` into the program, without blanks and gzipped: a server that is asked for
//! one has it, and need not make it.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

/// Those of `openapi/` that a server of the usual places serves.
const PINNED: [&str; 3] = ["both", "dialect-a", "dialect-b"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../openapi");
    let mut lines = String::new();
    for name in PINNED {
        let path = folder.join(format!("{name}.json"));
        writeln!(std::io::stdout(), "cargo::rerun-if-changed={}", path.display())?;
        let json = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&without_blanks(&json))?;
        std::fs::write(out.join(format!("{name}.json.gz")), packed.finish()?)?;
        lines += &format!("({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.json.gz\"))),\n");
    }
    std::fs::write(out.join("packed.rs"), format!("&[{lines}]"))?;
    Ok(())
}

/// JSON in as few bytes as it takes.
fn without_blanks(json: &[u8]) -> Vec<u8> {
    let (mut within, mut escaped) = (false, false);
    let mut kept = json.to_vec();
    kept.retain(|byte| {
        let keep = within || !byte.is_ascii_whitespace();
        if *byte == b'"' && !escaped {
            within = !within;
        }
        escaped = within && *byte == b'\\' && !escaped;
        keep
    });
    kept
}
