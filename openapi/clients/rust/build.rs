//! Makes a client of each document that stands beside it.

use progenitor::{GenerationSettings, Generator, InterfaceStyle};
use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    for letter in ["a", "b"] {
        let document = format!("documents/{letter}.json");
        println!("cargo:rerun-if-changed={document}");
        let document: openapiv3::OpenAPI = serde_json::from_str(&fs::read_to_string(&document)?)?;
        let mut settings = GenerationSettings::new();
        settings.with_interface(InterfaceStyle::Builder);
        let client = Generator::new(&settings).generate_tokens(&document)?;
        fs::write(Path::new(&env::var("OUT_DIR")?).join(format!("{letter}.rs")), client.to_string())?;
    }
    Ok(())
}
