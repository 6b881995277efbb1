//! What a program of Linux asks of the machine before it runs.

use crate::Result;

/// The kind of a part that names who loads the program.
const LOADER: usize = 3;

/// A part of a program: of which kind it is, and where it lies in the file.
struct Part {
    kind: usize,
    begin: usize,
    length: usize,
}

/// Who loads it, and finds the libraries that it wants; nobody, where it is static.
pub(crate) fn loader(program: &[u8]) -> Result<Option<String>> {
    let named = parts(program).map(|parts| parts.into_iter().find(|part| part.kind == LOADER));
    let named = named.ok_or("this is no program of a Linux machine of 64 bits")?;
    let name = named.map(|part| program.get(part.begin..part.begin.checked_add(part.length)?));
    match name {
        None => Ok(None),
        Some(Some(name)) => Ok(Some(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned())),
        Some(None) => Err("this program is cut off".to_owned()),
    }
}

fn parts(program: &[u8]) -> Option<Vec<Part>> {
    let number = |at: usize, width: usize| {
        let bytes = program.get(at..at.checked_add(width)?)?;
        bytes.iter().rev().try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))
    };
    // 64 bits, the low byte first.
    if program.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (first, width, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let part = |place: usize| {
        let at = first.checked_add(place.checked_mul(width)?)?;
        Some(Part {
            kind: number(at, 4)?,
            begin: number(at.checked_add(8)?, 8)?,
            length: number(at.checked_add(32)?, 8)?,
        })
    };
    (0..count).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_a_loader_is_told_from_what_does_not() {
        // The tests themselves are loaded by the C library of this machine.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let found = loader(&own).unwrap().expect("a loader");
        assert!(std::path::Path::new(&found).exists(), "{found}");
        // The same without that part is static.
        let first = usize::try_from(u64::from_le_bytes(own[32..40].try_into().unwrap())).unwrap();
        let mut lone = own.clone();
        for part in 0..usize::from(u16::from_le_bytes([own[56], own[57]])) {
            let at = first + part * usize::from(u16::from_le_bytes([own[54], own[55]]));
            if own[at] == 3 {
                lone[at] = 0;
            }
        }
        assert_eq!(loader(&lone).unwrap(), None);
        assert!(loader(b"#!/bin/sh\n").is_err());
        assert!(loader(&own[..60]).is_err());
    }
}
