//! A text as a stream of chunks that end where a record ends.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::split::RecordEnds;
use crate::error::Error;
use crate::input::Input;

/// Large enough that starting work on a chunk costs nothing, small enough that
/// its text stays in the cache while it is read.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// A longer record is taken for a mistake, nearly always a quote that is never
/// closed. Without a limit such a file would be read into memory whole.
pub(super) const MAX_RECORD_MIB: usize = 256;

/// Some whole records.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) text: Vec<u8>,
    /// How much of the file on disk has been read so far.
    pub(super) disk_position: u64,
}

/// Why there is no next chunk. Offsets are into the decompressed text.
#[derive(Debug)]
pub(super) enum ChunkError {
    Read(io::Error),
    UnclosedQuote { offset: u64 },
    LongRecord { offset: u64 },
}

pub(super) struct ChunkReader {
    text: Text,
    delimiter: u8,
    chunk_bytes: usize,
    max_record: usize,
    /// The beginning of the next chunk, read but not cut yet.
    pending: Vec<u8>,
    /// Offset of `pending` in the text.
    offset: u64,
    at_end: bool,
}

impl ChunkReader {
    pub(super) fn new(text: Text, delimiter: u8, chunk_bytes: usize) -> ChunkReader {
        ChunkReader {
            text,
            delimiter,
            chunk_bytes: chunk_bytes.max(1),
            max_record: MAX_RECORD_MIB << 20,
            pending: Vec::new(),
            offset: 0,
            at_end: false,
        }
    }

    #[cfg(test)]
    fn with_max_record(mut self, max_record: usize) -> ChunkReader {
        self.max_record = max_record;
        self
    }

    /// The next chunk, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Chunk>, ChunkError> {
        let mut text = std::mem::take(&mut self.pending);
        let mut ends = RecordEnds::new(self.delimiter);
        let mut target = self.chunk_bytes;
        loop {
            if !self.at_end && text.len() < target {
                let missing = target - text.len();
                text.reserve_exact(missing);
                let n_read = (&mut self.text.reader)
                    .take(missing as u64)
                    .read_to_end(&mut text)
                    .map_err(ChunkError::Read)?;
                self.at_end = n_read < missing;
            }
            ends.scan(&text);
            if self.at_end {
                return self.last(text, &ends);
            }
            if ends.last_end() > 0 {
                let cut = ends.last_end();
                self.pending = text[cut..].to_vec();
                text.truncate(cut);
                return Ok(Some(self.chunk(text)));
            }
            if text.len() >= self.max_record {
                return Err(match ends.open_quote() {
                    Some(quote) => ChunkError::UnclosedQuote { offset: self.offset + quote as u64 },
                    None => ChunkError::LongRecord { offset: self.offset },
                });
            }
            target = text.len().max(target).saturating_mul(2);
        }
    }

    /// What is left when the text has ended, whose last line may lack its end.
    fn last(&mut self, mut text: Vec<u8>, ends: &RecordEnds) -> Result<Option<Chunk>, ChunkError> {
        let Some(quote) = ends.open_quote() else {
            return Ok((!text.is_empty()).then(|| self.chunk(text)));
        };
        // Whole records come first, so that what is wrong with them is found first.
        let cut = ends.last_end();
        if cut == 0 {
            return Err(ChunkError::UnclosedQuote { offset: self.offset + quote as u64 });
        }
        self.pending = text.split_off(cut);
        Ok(Some(self.chunk(text)))
    }

    fn chunk(&mut self, text: Vec<u8>) -> Chunk {
        self.offset += text.len() as u64;
        Chunk { text, disk_position: self.text.disk_position() }
    }
}

/// A decompressed text without its byte order mark.
pub(super) struct Text {
    reader: Box<dyn Read + Send>,
    position: Arc<AtomicU64>,
}

impl Text {
    /// Compression is told by the first bytes; names of files often lie.
    pub(super) fn open(input: &Input) -> Result<Text, Error> {
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
    pub(super) fn head(mut self, n_bytes: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        (&mut self.reader).take(n_bytes as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    pub(super) fn into_reader(self) -> impl Read {
        self.reader
    }

    fn disk_position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }
}

/// The first bytes, and a reader that gives them once more.
fn peek<R: Read>(mut reader: R, n_bytes: u64) -> io::Result<(Vec<u8>, impl Read + use<R>)> {
    let mut start = Vec::new();
    (&mut reader).take(n_bytes).read_to_end(&mut start)?;
    Ok((start.clone(), Cursor::new(start).chain(reader)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(text: &str, chunk_bytes: usize, max_record: usize) -> (Vec<String>, Option<ChunkError>) {
        let input = Input::spool("a text", text.as_bytes()).expect("spools");
        let text = Text::open(&input).expect("opens");
        let mut reader = ChunkReader::new(text, b',', chunk_bytes).with_max_record(max_record);
        let mut chunks = Vec::new();
        loop {
            match reader.next() {
                Ok(Some(chunk)) => chunks.push(String::from_utf8(chunk.text).expect("is text")),
                Ok(None) => return (chunks, None),
                Err(error) => return (chunks, Some(error)),
            }
        }
    }

    #[test]
    fn chunks_end_where_records_end_and_lose_nothing() {
        let text = "a,b\n\"x\ny\",2\n\n3,4\r\n5,\"\"\"\n\"";
        for chunk_bytes in 1..40 {
            let (chunks, error) = chunks(text, chunk_bytes, 1 << 20);
            assert!(error.is_none());
            assert_eq!(chunks.concat(), text);
            for chunk in &chunks {
                assert!(chunk.ends_with('\n') || chunk.ends_with('"'), "{chunks:?}");
                assert!(!chunk.starts_with('y') && !chunk.starts_with('"') || chunk.starts_with("\"x"));
            }
        }
    }

    #[test]
    fn an_unclosed_quote_is_found_after_the_records_before_it() {
        for chunk_bytes in [1, 8, 100] {
            let (chunks, error) = chunks("a,b\n1,2\n3,\"4\n5,6\n", chunk_bytes, 1 << 20);
            assert_eq!(chunks.concat(), "a,b\n1,2\n");
            assert!(matches!(error, Some(ChunkError::UnclosedQuote { offset: 10 })), "{error:?}");
        }
    }

    #[test]
    fn a_record_beyond_the_limit_is_refused() {
        let (_, error) = chunks(&format!("a\n{}\n1\n", "7".repeat(100)), 8, 32);
        assert!(matches!(error, Some(ChunkError::LongRecord { offset: 2 })), "{error:?}");
        let (_, error) = chunks(&format!("a\n\"{}", "7\n".repeat(100)), 8, 32);
        assert!(matches!(error, Some(ChunkError::UnclosedQuote { offset: 2 })), "{error:?}");
    }
}
