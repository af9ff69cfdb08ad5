//! Reading an input.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};

use crate::spool::Spool;

/// Reads by position, so that readers which share one open file do not
/// disturb each other.
#[derive(Debug)]
pub(crate) struct InputReader {
    origin: Origin,
    position: Arc<AtomicU64>,
}

#[derive(Debug, Clone)]
enum Origin {
    File { file: Arc<File>, n_bytes: u64 },
    Spool(Arc<Spool>),
}

impl InputReader {
    /// Reads a file of `n_bytes` from its beginning.
    pub(crate) fn of_file(file: File, n_bytes: u64) -> InputReader {
        InputReader::at(Origin::File { file: Arc::new(file), n_bytes }, 0)
    }

    /// Reads a pipe from its beginning.
    pub(crate) fn of_spool(spool: Arc<Spool>) -> InputReader {
        InputReader::at(Origin::Spool(spool), 0)
    }

    fn at(origin: Origin, start: u64) -> InputReader {
        InputReader { origin, position: Arc::new(AtomicU64::new(start)) }
    }

    /// The position of the reader, which can be read while a decompressor wraps it.
    pub(crate) fn position(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.position)
    }

    /// Size of the whole file. Waits for the end of a pipe.
    pub(crate) fn n_bytes(&self) -> u64 {
        match &self.origin {
            Origin::File { n_bytes, .. } => *n_bytes,
            Origin::Spool(spool) => spool.n_bytes(),
        }
    }

    /// Another reader of the same open file, from `start` on.
    pub(crate) fn reading_from(&self, start: u64) -> InputReader {
        InputReader::at(self.origin.clone(), start)
    }

    /// Exactly `length` bytes from `start`, or an error.
    ///
    /// The length often comes from the file. A damaged file must not cause an
    /// allocation larger than the file.
    pub(crate) fn bytes(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let available = self.n_bytes().saturating_sub(start);
        if length as u64 > available {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let file = match &self.origin {
            Origin::File { file, .. } => file,
            Origin::Spool(spool) => spool.whole()?,
        };
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            if append_at(file, &mut bytes, length, start)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }
}

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let position = self.position.load(Ordering::Relaxed);
        let n_read = match &self.origin {
            Origin::File { file, .. } => read_at(file, buffer, position)?,
            Origin::Spool(spool) => spool.read_at(buffer, position)?,
        };
        self.position.store(position + n_read as u64, Ordering::Relaxed);
        Ok(n_read)
    }
}

impl Length for InputReader {
    fn len(&self) -> u64 {
        self.n_bytes()
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

#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

/// Appends what one read returns of the `length` bytes from `start` on; returns how
/// many bytes that is.
#[cfg(unix)]
fn append_at(file: &File, bytes: &mut Vec<u8>, _length: usize, start: u64) -> io::Result<usize> {
    let position = start + bytes.len() as u64;
    // Into uninitialised memory: filling it with zeros first costs as much as a copy.
    Ok(rustix::io::retry_on_intr(|| {
        rustix::io::pread(file, rustix::buffer::spare_capacity(bytes), position)
    })?)
}

#[cfg(windows)]
fn append_at(file: &File, bytes: &mut Vec<u8>, length: usize, start: u64) -> io::Result<usize> {
    let n_before = bytes.len();
    bytes.resize(length, 0);
    let n_read = read_at(file, &mut bytes[n_before..], start + n_before as u64);
    bytes.truncate(n_before + n_read.as_ref().copied().unwrap_or(0));
    n_read
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, position)
}

#[cfg(unix)]
pub(crate) fn write_all_at(file: &File, bytes: &[u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, position)
}

#[cfg(windows)]
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut position: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let n_written = std::os::windows::fs::FileExt::seek_write(file, bytes, position)?;
        if n_written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[n_written..];
        position += n_written as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;

    #[test]
    fn a_length_beyond_the_file_is_an_error_and_not_an_allocation() {
        let input = Input::holding("a pipe", b"abcdef");
        let reader = input.open().expect("opens");
        assert!(reader.get_bytes(2, usize::MAX / 2).is_err());
        assert!(reader.get_bytes(u64::MAX, 1).is_err());
        assert_eq!(&reader.get_bytes(2, 3).expect("reads")[..], b"cde");
    }
}
