//! The text of a file, compressed or not.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::error::Error;
use crate::input::Input;

/// A decompressed text without its byte order mark.
pub(crate) struct Text {
    pub(super) reader: Box<dyn Read + Send>,
    position: Arc<AtomicU64>,
}

impl Text {
    /// The first bytes tell the compression; names of files are often wrong.
    pub(crate) fn open(input: &Input) -> Result<Text, Error> {
        let failed = |reason| Error::read(input.name(), reason);
        let file = input.open()?;
        let position = file.position();
        let (start, file) = peek(file, 4).map_err(failed)?;
        let reader: Box<dyn Read + Send> = if start.starts_with(&[0x1f, 0x8b]) {
            Box::new(MultiGzDecoder::new(file))
        } else if start == [0x28, 0xb5, 0x2f, 0xfd] {
            Box::new(zstd::Decoder::new(file).map_err(failed)?)
        } else {
            Box::new(file)
        };
        let (start, mut reader) = peek(reader, 3).map_err(failed)?;
        if start == [0xef, 0xbb, 0xbf] {
            let mut mark = [0; 3];
            reader.read_exact(&mut mark).map_err(failed)?;
        }
        Ok(Text { reader: Box::new(reader), position })
    }

    /// Up to `n_bytes` from the beginning.
    pub(crate) fn head(mut self, n_bytes: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        (&mut self.reader).take(n_bytes as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    pub(crate) fn into_reader(self) -> impl Read {
        self.reader
    }

    pub(super) fn disk_position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }
}

/// The first bytes, and a reader that gives them once more.
fn peek<R: Read>(mut reader: R, n_bytes: u64) -> io::Result<(Vec<u8>, impl Read + use<R>)> {
    let mut start = Vec::new();
    (&mut reader).take(n_bytes).read_to_end(&mut start)?;
    Ok((start.clone(), Cursor::new(start).chain(reader)))
}
