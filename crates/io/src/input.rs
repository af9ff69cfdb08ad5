//! One input, whatever it is: a file, a pattern, a pipe or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::input_reader::InputReader;
use crate::spool::Spool;
use crate::stamp::{FileStamp, Stamp};

/// The name of standard input in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// A file that can be read again and again.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    name: String,
    store: Store,
}

#[derive(Debug, Clone)]
enum Store {
    /// Opened again for each pass, so that a pattern with thousands of files does not
    /// hold thousands of descriptors.
    Path { path: PathBuf, stamp: Stamp },
    /// A copy of something that can be read only once.
    Spool(Arc<Spool>),
    /// No file: the table is in memory, and its cells take this many bytes.
    Memory { n_bytes: u64 },
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
                widen_standard_input();
                inputs.push(Input::spool(STANDARD_INPUT, io::stdin())?);
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
        Ok(Input { name, store: Store::Path { path, stamp } })
    }

    /// Begins to copy what can be read only once.
    pub(crate) fn spool(name: &str, from: impl Read + Send + 'static) -> Result<Input, Error> {
        let spool = Spool::begin(from).map_err(|reason| Error::read(name, reason))?;
        Ok(Input { name: name.to_owned(), store: Store::Spool(spool) })
    }

    /// A pipe with these bytes.
    #[cfg(test)]
    pub(crate) fn holding(name: &str, bytes: impl AsRef<[u8]>) -> Input {
        Input::spool(name, io::Cursor::new(bytes.as_ref().to_vec())).expect("there is room for a small file")
    }

    /// A table in memory, whose cells count as `n_bytes` of progress.
    pub(crate) fn in_memory(name: &str, n_bytes: u64) -> Input {
        Input { name: name.to_owned(), store: Store::Memory { n_bytes } }
    }

    /// Whether it is in memory, not in a file.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self.store, Store::Memory { .. })
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Size on disk. Waits for the end of a pipe. A pipe that broke has the bytes
    /// that arrived; reading it is an error.
    pub(crate) fn n_bytes(&self) -> u64 {
        match &self.store {
            Store::Path { stamp, .. } => stamp.n_bytes(),
            Store::Spool(spool) => spool.n_bytes(),
            Store::Memory { n_bytes } => *n_bytes,
        }
    }

    /// Size on disk, unless it is a pipe that has not ended.
    pub(crate) fn n_bytes_known(&self) -> Option<u64> {
        match &self.store {
            Store::Spool(spool) => spool.n_bytes_known(),
            _ => Some(self.n_bytes()),
        }
    }

    /// The path, unless the bytes come from somewhere else.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.store {
            Store::Path { path, .. } => Some(path),
            Store::Spool(_) | Store::Memory { .. } => None,
        }
    }

    /// What numbers the file apart from its names, where there is such a number.
    pub(crate) fn file_number(&self) -> Option<(u64, u64)> {
        match &self.store {
            Store::Path { stamp, .. } => stamp.file_number(),
            Store::Spool(_) | Store::Memory { .. } => None,
        }
    }

    /// The extension in lower case, not counting that of a compression.
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

    /// What to compare the file with later.
    pub(crate) fn stamp(&self) -> FileStamp {
        let (modified_ns, changed_ns) = match &self.store {
            Store::Path { stamp, .. } => (stamp.modified_ns(), stamp.changed_ns()),
            _ => (0, 0),
        };
        FileStamp { name: self.name.clone(), bytes: self.n_bytes(), modified_ns, changed_ns }
    }

    /// Whether two inputs hold the same rows: by one name, as one file with two names,
    /// or as a copy. Files that cannot be read, or pipes that have not ended, are taken
    /// to differ.
    pub(crate) fn is_same(&self, other: &Input) -> bool {
        if self.name == other.name {
            return true;
        }
        let place = |input: &Input| input.path().and_then(|path| path.canonicalize().ok());
        if self.file_number().is_some() && self.file_number() == other.file_number()
            || place(self).is_some() && place(self) == place(other)
        {
            return true;
        }
        let n_bytes = |input: &Input| input.n_bytes_known().filter(|_| !input.is_memory());
        n_bytes(self).is_some() && n_bytes(self) == n_bytes(other) && self.has_bytes_of(other)
    }

    /// Compares all bytes and stops at the first difference. That is as certain as
    /// comparing digests, and mostly faster.
    fn has_bytes_of(&self, other: &Input) -> bool {
        const STEP_BYTES: u64 = 1 << 20;
        let (Ok(one), Ok(two)) = (self.open(), other.open()) else { return false };
        let n_bytes = one.n_bytes();
        (0..n_bytes).step_by(STEP_BYTES as usize).all(|start| {
            let length = STEP_BYTES.min(n_bytes - start) as usize;
            match (InputReader::bytes(&one, start, length), InputReader::bytes(&two, start, length)) {
                (Ok(one), Ok(two)) => one == two,
                _ => false,
            }
        })
    }

    /// Refuses a file that has changed since it was first opened. What several passes
    /// learn from it would not fit together.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match &self.store {
            Store::Path { path, stamp } => self
                .compare(stamp, std::fs::metadata(path).map_err(|reason| Error::read(&self.name, reason))?),
            Store::Spool(_) | Store::Memory { .. } => Ok(()),
        }
    }

    fn compare(&self, stamp: &Stamp, now: std::fs::Metadata) -> Result<(), Error> {
        if Stamp::of(&now) == *stamp { Ok(()) } else { Err(Error::Changed { file: self.name.clone() }) }
    }

    /// A fresh reader from the first byte.
    pub(crate) fn open(&self) -> Result<InputReader, Error> {
        let failed = |reason| Error::read(&self.name, reason);
        match &self.store {
            Store::Path { path, stamp } => {
                let file = File::open(path).map_err(failed)?;
                self.compare(stamp, file.metadata().map_err(failed)?)?;
                Ok(InputReader::of_file(file, stamp.n_bytes()))
            }
            Store::Spool(spool) => Ok(InputReader::of_spool(Arc::clone(spool))),
            Store::Memory { .. } => Err(failed(io::ErrorKind::Unsupported.into())),
        }
    }
}

/// Enlarges the buffer of a pipe, so that its two ends take turns less often. A pipe
/// that cannot be enlarged works anyway.
fn widen_standard_input() {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(io::stdin(), 1 << 20);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spooled_input_is_read_by_two_readers_at_once() {
        let input = Input::holding("a pipe", b"abcdef");
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
}
