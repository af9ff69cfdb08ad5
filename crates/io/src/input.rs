//! One input, whatever it is: a file, a pattern, a pipe or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};

use crate::error::Error;
use crate::stamp::{FileStamp, Stamp};

/// How standard input is called in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// A file that can be read again and again.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    name: String,
    store: Store,
    n_bytes: u64,
}

#[derive(Debug, Clone)]
enum Store {
    /// Opened anew for each pass, so that a pattern with thousands of files
    /// does not hold thousands of descriptors.
    Path { path: PathBuf, stamp: Stamp },
    /// A copy of something that can be read only once, in a file without a
    /// name: the system frees it however the program ends.
    Spool(Arc<File>),
    /// No file at all: the table is in memory.
    Memory,
}

impl Input {
    /// All inputs behind what the user typed, in order.
    pub(crate) fn resolve(typed: &[String]) -> Result<Vec<Input>, Error> {
        let mut inputs = Vec::new();
        for text in typed {
            if text == "-" {
                if typed.iter().filter(|other| *other == "-").count() > 1 {
                    return Err(Error::RepeatedStandardInput);
                }
                inputs.push(Input::spool(STANDARD_INPUT, io::stdin().lock())?);
            } else if text.contains(['*', '?', '[']) && !Path::new(text).exists() {
                for path in matches(text)? {
                    inputs.push(Input::at(path)?);
                }
            } else {
                inputs.push(Input::at(PathBuf::from(text))?);
            }
        }
        if inputs.is_empty() {
            return Err(Error::NoInput);
        }
        Ok(inputs)
    }

    pub(crate) fn at(path: PathBuf) -> Result<Input, Error> {
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|reason| Error::read(&name, reason))?;
        let metadata = file.metadata().map_err(|reason| Error::read(&name, reason))?;
        if metadata.is_dir() {
            return Err(Error::read(&name, io::ErrorKind::IsADirectory.into()));
        }
        if !metadata.is_file() {
            // A pipe, such as the shell's `<(…)`, gives its bytes only once.
            return Input::spool(&name, file);
        }
        let stamp = Stamp::of(&metadata);
        Ok(Input { name, store: Store::Path { path, stamp }, n_bytes: stamp.n_bytes() })
    }

    pub(crate) fn spool(name: &str, mut from: impl Read) -> Result<Input, Error> {
        let failed = |reason| Error::read(name, reason);
        let mut file = tempfile::tempfile().map_err(failed)?;
        let n_bytes = io::copy(&mut from, &mut file).map_err(failed)?;
        Ok(Input { name: name.to_owned(), store: Store::Spool(Arc::new(file)), n_bytes })
    }

    /// A table in memory, whose cells count for so many bytes in progress.
    pub(crate) fn in_memory(name: &str, n_bytes: u64) -> Input {
        Input { name: name.to_owned(), store: Store::Memory, n_bytes }
    }

    /// Whether there is no file behind it.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self.store, Store::Memory)
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Size on disk.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The path, unless the bytes come from somewhere else.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.store {
            Store::Path { path, .. } => Some(path),
            Store::Spool(_) | Store::Memory => None,
        }
    }

    /// The end of the name in lower case, without that of a compression.
    pub(crate) fn extension(&self) -> String {
        fn of(path: &Path) -> String {
            path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
        }
        match self.path() {
            None => String::new(),
            Some(path) => match of(path).as_str() {
                "gz" | "zst" => of(&path.with_extension("")),
                extension => extension.to_owned(),
            },
        }
    }

    /// What to compare the file with at some later time.
    pub(crate) fn stamp(&self) -> FileStamp {
        let (modified_ns, changed_ns) = match &self.store {
            Store::Path { stamp, .. } => (stamp.modified_ns(), stamp.changed_ns()),
            _ => (0, 0),
        };
        FileStamp { name: self.name.clone(), bytes: self.n_bytes, modified_ns, changed_ns }
    }

    /// Refuses a file that is no longer the one that was opened first. What
    /// several passes learn from it would not belong together.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match &self.store {
            Store::Path { path, stamp } => self
                .compare(stamp, std::fs::metadata(path).map_err(|reason| Error::read(&self.name, reason))?),
            Store::Spool(_) | Store::Memory => Ok(()),
        }
    }

    fn compare(&self, stamp: &Stamp, now: std::fs::Metadata) -> Result<(), Error> {
        if Stamp::of(&now) == *stamp { Ok(()) } else { Err(Error::Changed { file: self.name.clone() }) }
    }

    /// A fresh reader from the first byte.
    pub(crate) fn open(&self) -> Result<InputReader, Error> {
        let failed = |reason| Error::read(&self.name, reason);
        let file = match &self.store {
            Store::Path { path, stamp } => {
                let file = File::open(path).map_err(failed)?;
                self.compare(stamp, file.metadata().map_err(failed)?)?;
                Arc::new(file)
            }
            Store::Spool(file) => Arc::clone(file),
            Store::Memory => return Err(failed(io::ErrorKind::Unsupported.into())),
        };
        Ok(InputReader { file, n_bytes: self.n_bytes, position: Arc::new(AtomicU64::new(0)) })
    }
}

/// Reads by position, so that readers which share one open file do not
/// disturb each other.
#[derive(Debug)]
pub(crate) struct InputReader {
    file: Arc<File>,
    n_bytes: u64,
    position: Arc<AtomicU64>,
}

impl InputReader {
    /// How far the reader is, readable while it is wrapped by a decompressor.
    pub(crate) fn position(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.position)
    }

    /// Size of the whole file.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Another reader of the same open file, from `start` on.
    pub(crate) fn reading_from(&self, start: u64) -> InputReader {
        InputReader {
            file: Arc::clone(&self.file),
            n_bytes: self.n_bytes,
            position: Arc::new(AtomicU64::new(start)),
        }
    }

    /// Some bytes, all of them.
    ///
    /// The length often comes from the file. A damaged one must not make us
    /// allocate more than the file could fill.
    pub(crate) fn bytes(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let available = self.n_bytes.saturating_sub(start);
        if length as u64 > available {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = Vec::with_capacity(length);
        self.reading_from(start).take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let position = self.position.load(Ordering::Relaxed);
        let n_read = read_at(&self.file, buffer, position)?;
        self.position.store(position + n_read as u64, Ordering::Relaxed);
        Ok(n_read)
    }
}

impl Length for InputReader {
    fn len(&self) -> u64 {
        self.n_bytes
    }
}

impl ChunkReader for InputReader {
    type T = InputReader;

    fn get_read(&self, start: u64) -> parquet::errors::Result<InputReader> {
        Ok(self.reading_from(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        Ok(self.bytes(start, length)?.into())
    }
}

/// The files a pattern matches, sorted, without folders.
fn matches(pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let paths = glob::glob(pattern)
        .map_err(|error| Error::Pattern { pattern: pattern.to_owned(), reason: error.msg.to_owned() })?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| {
            let name = error.path().display().to_string();
            Error::read(&name, error.into())
        })?;
        if !path.is_dir() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Error::NoMatch { pattern: pattern.to_owned() });
    }
    files.sort();
    Ok(files)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spooled_input_is_read_by_two_readers_at_once() {
        let input = Input::spool("a pipe", &b"abcdef"[..]).expect("spools");
        let (mut one, mut two) = (input.open().expect("opens"), input.open().expect("opens"));
        let (mut first, mut second) = ([0; 4], String::new());
        one.read_exact(&mut first).expect("reads");
        two.read_to_string(&mut second).expect("reads");
        assert_eq!((&first[..], second.as_str()), (&b"abcd"[..], "abcdef"));
        assert_eq!(input.n_bytes(), 6);
    }

    #[test]
    fn standard_input_is_refused_twice_before_it_is_read() {
        let typed = ["-".to_owned(), "-".to_owned()];
        let error = Input::resolve(&typed).expect_err("is refused");
        assert!(matches!(error, Error::RepeatedStandardInput), "{error}");
    }

    #[test]
    fn a_length_beyond_the_file_is_an_error_and_not_an_allocation() {
        let input = Input::spool("a pipe", &b"abcdef"[..]).expect("spools");
        let reader = input.open().expect("opens");
        assert!(reader.get_bytes(2, usize::MAX / 2).is_err());
        assert!(reader.get_bytes(u64::MAX, 1).is_err());
        assert_eq!(&reader.get_bytes(2, 3).expect("reads")[..], b"cde");
    }
}
