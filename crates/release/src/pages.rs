//! Manuals and completions, from the declaration of the command line itself.

use crate::Result;
use clap::ValueEnum;
use clap_complete::Shell;
use std::path::Path;

pub(crate) fn write(manuals: &Path, completions: &Path) -> Result<()> {
    let command = launcher::command();
    clap_mangen::generate_to(command.clone(), manuals)
        .map_err(|error| format!("cannot write manuals into {}: {error}", manuals.display()))?;
    for shell in Shell::value_variants() {
        let written = clap_complete::generate_to(*shell, &mut command.clone(), "duet", completions);
        written.map_err(|error| format!("cannot write completions into {}: {error}", completions.display()))?;
    }
    Ok(())
}
