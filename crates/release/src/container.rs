//! The files of which an image of a container is made.

use crate::{Result, copied, folder, sources};
use std::path::Path;

pub(crate) fn write(to: &Path, binary: &Path) -> Result<()> {
    copied(&sources().join("config/container/Dockerfile"), &to.join("Dockerfile"))?;
    copied(binary, &to.join("duet"))?;
    // There is nothing in the image to make them with.
    for empty in ["data", "tmp"] {
        folder(to.join(empty))?;
    }
    Ok(())
}
