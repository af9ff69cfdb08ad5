//! dshap's own files: a JSON document and arrays of doubles, checked when read.
//!
//! The container is [safetensors](https://github.com/huggingface/safetensors):
//! other programs can read the arrays. Its one metadata entry, `dshap`, is an
//! envelope with the kind of file, the version of its format, a SHA-256 of
//! everything else, and the document. The same contents give the same bytes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::facts::LooksLike;

/// The one metadata entry.
const ENTRY: &str = "dshap";

/// What follows the eight bytes of the header's length in every file of dshap.
const BEGINNING: &[u8] = br#"{"__metadata__":{"dshap":"#;

/// Marks files of dshap; part of the envelope.
const MAGIC: &str = "dshap";

/// The contents of a file of dshap.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// What the file is, such as `valuer`.
    pub kind: String,
    /// Version of the format of that kind.
    pub version: u32,
    /// The document, as JSON.
    pub document: String,
    /// Arrays, sorted by name.
    pub arrays: Vec<(String, Vec<f64>)>,
}

/// Why a file of dshap could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// It cannot be read at all.
    #[error("cannot read `{file}`: {}", crate::error::reason_in_words(reason))]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        reason: io::Error,
    },
    /// It is not a file of dshap.
    #[error("`{file}` is not a file made by dshap{}", looks_like.map(|what| format!("; it looks like {what}")).unwrap_or_default())]
    Foreign {
        /// The file.
        file: String,
        /// What it may be.
        looks_like: Option<LooksLike>,
    },
    /// Its end is missing.
    #[error("`{file}` is truncated: it ends after {bytes} bytes, in the middle of its contents")]
    Truncated {
        /// The file.
        file: String,
        /// Its length.
        bytes: u64,
    },
    /// Its contents are not what was written.
    #[error("`{file}` is damaged: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// What shows it.
        what: String,
    },
    /// A file of dshap, but of another kind.
    #[error("`{file}` is a dshap {found}, not a {expected}")]
    OtherKind {
        /// The file.
        file: String,
        /// What it is.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Written by a later release.
    #[error("`{file}` has format version {version}; this dshap reads versions up to {newest}")]
    Newer {
        /// The file.
        file: String,
        /// Its version.
        version: u32,
        /// The newest that can be read.
        newest: u32,
    },
}

#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    format: String,
    kind: String,
    version: u32,
    sha256: String,
    #[serde(borrow)]
    document: &'a RawValue,
}

impl Container {
    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// If the document is not JSON, or the contents are more than a file can hold.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut arrays: Vec<(&str, Vec<u8>)> = self
            .arrays
            .iter()
            .map(|(name, numbers)| (name.as_str(), numbers.iter().flat_map(|n| n.to_le_bytes()).collect()))
            .collect();
        arrays.sort_unstable_by_key(|(name, _)| *name);
        let digest =
            digest(&self.kind, self.version, &self.document, arrays.iter().map(|(n, b)| (*n, &b[..])));
        let envelope = Envelope {
            format: MAGIC.into(),
            kind: self.kind.clone(),
            version: self.version,
            sha256: digest,
            document: serde_json::from_str(&self.document)?,
        };
        let metadata = [(ENTRY.to_string(), serde_json::to_string(&envelope)?)].into();
        let views = arrays
            .iter()
            .map(|(name, bytes)| Ok((*name, TensorView::new(Dtype::F64, vec![bytes.len() / 8], bytes)?)))
            .collect::<Result<Vec<_>, SafeTensorError>>()
            .map_err(io::Error::other)?;
        serialize(views, Some(metadata)).map_err(io::Error::other)
    }

    /// Writes the file to `output`; returns its length.
    ///
    /// # Errors
    ///
    /// As [`to_bytes`](Self::to_bytes), and those of `output`.
    pub fn write(&self, output: &mut impl Write) -> io::Result<u64> {
        let bytes = self.to_bytes()?;
        output.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Reads a file that must be a `kind` of at most version `newest`.
    ///
    /// # Errors
    ///
    /// [`ContainerError`], which says what is wrong with it.
    pub fn read(path: &Path, kind: &'static str, newest: u32) -> Result<Self, ContainerError> {
        let file = path.display().to_string();
        let failed = |reason| ContainerError::Read { file: file.clone(), reason };
        let mut bytes = Vec::new();
        let mut opened = File::open(path).map_err(failed)?;
        // A large table given by mistake should not be read whole.
        let n = (&mut opened).take(8 + BEGINNING.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        if n >= 8 && bytes[8..] == BEGINNING[..n - 8] {
            opened.read_to_end(&mut bytes).map_err(failed)?;
        }
        Self::from_bytes(&bytes, &file, kind, newest)
    }

    /// The contents of a file with these bytes. The first few are enough to refuse a
    /// file that dshap did not write.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn from_bytes(
        bytes: &[u8],
        file: &str,
        kind: &'static str,
        newest: u32,
    ) -> Result<Self, ContainerError> {
        let file = || file.to_string();
        let truncated = || ContainerError::Truncated { file: file(), bytes: bytes.len() as u64 };
        let damaged = |what: &str| ContainerError::Damaged { file: file(), what: what.into() };
        let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
            return Err(if bytes.is_empty() {
                truncated()
            } else {
                ContainerError::Foreign { file: file(), looks_like: looks_like(bytes) }
            });
        };
        let common = rest.len().min(BEGINNING.len());
        if rest[..common] != BEGINNING[..common] {
            return Err(ContainerError::Foreign { file: file(), looks_like: looks_like(bytes) });
        }
        let header = u64::from_le_bytes(*length);
        if header > rest.len() as u64 {
            return Err(truncated());
        }
        let (header, data) = rest.split_at(header as usize);
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| match error {
            SafeTensorError::MetadataIncompleteBuffer if (data.len() as u64) < data_length(header) => {
                truncated()
            }
            SafeTensorError::MetadataIncompleteBuffer => damaged("something was added after its end"),
            _ => damaged("its header cannot be read"),
        })?;
        let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY)).cloned();
        let entry = entry.ok_or_else(|| damaged("its header cannot be read"))?;
        let envelope: Envelope<'_> =
            serde_json::from_str(&entry).map_err(|_| damaged("its envelope cannot be read"))?;
        if envelope.format != MAGIC {
            return Err(damaged("its envelope cannot be read"));
        }
        if envelope.kind != kind {
            return Err(ContainerError::OtherKind { file: file(), found: envelope.kind, expected: kind });
        }
        if envelope.version > newest {
            return Err(ContainerError::Newer { file: file(), version: envelope.version, newest });
        }
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|_| damaged("its arrays overlap or are cut"))?;
        let mut arrays: Vec<(&str, &[u8])> = Vec::new();
        for (name, view) in tensors.iter() {
            if view.dtype() != Dtype::F64 {
                return Err(damaged("an array does not hold doubles"));
            }
            arrays.push((name, view.data()));
        }
        arrays.sort_unstable_by_key(|(name, _)| *name);
        let document = envelope.document.get();
        let found = digest(&envelope.kind, envelope.version, document, arrays.iter().copied());
        if found != envelope.sha256 {
            return Err(damaged("its checksum does not match its contents"));
        }
        let numbers = |bytes: &[u8]| {
            let (chunks, _) = bytes.as_chunks::<8>();
            chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
        };
        Ok(Self {
            document: document.to_string(),
            arrays: arrays.into_iter().map(|(name, bytes)| (name.to_string(), numbers(bytes))).collect(),
            kind: envelope.kind,
            version: envelope.version,
        })
    }

    /// Takes an array out.
    pub fn take(&mut self, name: &str) -> Option<Vec<f64>> {
        let at = self.arrays.iter().position(|(other, _)| other == name)?;
        Some(self.arrays.remove(at).1)
    }
}

/// Where the last array ends, according to the header.
fn data_length(header: &[u8]) -> u64 {
    let header: serde_json::Value = serde_json::from_slice(header).unwrap_or_default();
    let ends =
        header.as_object().into_iter().flatten().filter_map(|(_, array)| array["data_offsets"][1].as_u64());
    ends.max().unwrap_or(0)
}

/// SHA-256 over everything that matters, each part preceded by its length.
fn digest<'a>(
    kind: &str,
    version: u32,
    document: &str,
    arrays: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(kind.as_bytes());
    add(&version.to_le_bytes());
    add(document.as_bytes());
    for (name, bytes) in arrays {
        add(name.as_bytes());
        add(bytes);
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn looks_like(start: &[u8]) -> Option<LooksLike> {
    const MAGIC: [(&[u8], LooksLike); 5] = [
        (b"PAR1", LooksLike::Parquet),
        (b"ARROW1", LooksLike::Arrow),
        (b"\x93NUMPY", LooksLike::Npy),
        (b"PK\x03\x04", LooksLike::Zip),
        (b"\x80", LooksLike::Pickle),
    ];
    if let Some(&(_, what)) = MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Some(what);
    }
    if start.get(8) == Some(&b'{') {
        return Some(LooksLike::Safetensors);
    }
    let is_text = start.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    is_text.then_some(LooksLike::Text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sample() -> Container {
        Container {
            kind: "valuer".into(),
            version: 1,
            document: r#"{"target":"price","weights":[1,2.5]}"#.into(),
            arrays: vec![
                ("fit.coef".into(), vec![0.1, -0.0, 1e-310]),
                ("moments.gram".into(), (0..10).map(|i| f64::from(i) / 3.0).collect()),
                ("none".into(), vec![]),
            ],
        }
    }

    fn read(bytes: &[u8]) -> Result<Container, ContainerError> {
        Container::from_bytes(bytes, "x.dshap", "valuer", 1)
    }

    #[test]
    fn contents_come_back_to_the_bit() {
        let bytes = sample().to_bytes().unwrap();
        assert_eq!(read(&bytes).unwrap(), sample());
        assert_eq!(bytes, sample().to_bytes().unwrap(), "same contents, same bytes");
        assert_eq!(&bytes[8..8 + BEGINNING.len()], BEGINNING);
    }

    #[test]
    fn a_file_cut_anywhere_is_truncated() {
        let bytes = sample().to_bytes().unwrap();
        for end in 0..bytes.len() {
            let error = read(&bytes[..end]).unwrap_err();
            let is_foreign = end > 0 && end < 8;
            match error {
                ContainerError::Truncated { .. } if !is_foreign => {}
                ContainerError::Foreign { .. } if is_foreign => {}
                other => panic!("cut at {end}: {other}"),
            }
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = sample().to_bytes().unwrap();
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[position] ^= 1 << bit;
                if let Ok(found) = read(&damaged) {
                    assert_eq!(
                        found,
                        sample(),
                        "byte {position}, bit {bit}: blanks may change, contents may not"
                    );
                }
            }
        }
    }

    #[test]
    fn a_file_with_a_tail_is_damaged() {
        let mut bytes = sample().to_bytes().unwrap();
        bytes.push(0);
        let error = read(&bytes).unwrap_err().to_string();
        assert_eq!(error, "`x.dshap` is damaged: something was added after its end");
    }

    #[test]
    fn other_files_are_told_apart() {
        let foreign = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert!(foreign(b"a,b\n1,2\n3,4\n").ends_with("it looks like text, perhaps a table"));
        assert!(foreign(b"PAR1\x15\x04\x15 more").ends_with("it looks like a Parquet table"));
        let other = serialize(Vec::<(&str, TensorView<'_>)>::new(), None).unwrap();
        assert!(foreign(&other).contains("safetensors file of another program"), "{}", foreign(&other));

        let bytes = Container { kind: "checkpoint".into(), ..sample() }.to_bytes().unwrap();
        assert_eq!(foreign(&bytes), "`x.dshap` is a dshap checkpoint, not a valuer");
        let bytes = Container { version: 2, ..sample() }.to_bytes().unwrap();
        assert_eq!(foreign(&bytes), "`x.dshap` has format version 2; this dshap reads versions up to 1");
    }
}
