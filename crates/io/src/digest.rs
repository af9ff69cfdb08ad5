//! What exactly was read.

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::input::Input;

/// A file's name, size and checksum, to say later what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigest {
    /// The file as the user named it.
    pub name: String,
    /// Its size on disk.
    pub bytes: u64,
    /// SHA-256 of its bytes on disk, in hexadecimal.
    pub sha256: String,
}

impl FileDigest {
    /// The digest of one file.
    pub fn of_path(path: &Path) -> Result<FileDigest, Error> {
        of(&Input::at(path.to_owned())?)
    }
}

pub(crate) fn of(input: &Input) -> Result<FileDigest, Error> {
    let mut reader = input.open()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut bytes = 0;
    loop {
        let n_read = reader.read(&mut buffer).map_err(|reason| Error::read(input.name(), reason))?;
        if n_read == 0 {
            break;
        }
        bytes += n_read as u64;
        hash.update(&buffer[..n_read]);
    }
    let mut sha256 = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(sha256, "{byte:02x}");
    }
    Ok(FileDigest { name: input.name().to_owned(), bytes, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_sha256sum() {
        let input = Input::holding("a pipe", b"abc");
        let digest = of(&input).expect("is read");
        assert_eq!(digest.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(digest.bytes, 3);
    }
}
