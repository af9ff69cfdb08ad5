//! A text as a stream of chunks that end where a record ends.

use std::io::{self, Read};

use super::{Layout, RecordEnds, Text};

/// Large enough that starting work on a chunk costs nothing, small enough that
/// its text stays in the cache while it is read.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// A longer record is taken for a mistake, nearly always a quote that is never
/// closed. Without a limit such a file would be read into memory whole.
pub(crate) const MAX_RECORD_MIB: usize = 256;

/// Some whole records.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) text: Vec<u8>,
    /// Where it begins in the table.
    pub(crate) start: u64,
    /// How much of the file on disk has been read so far.
    pub(crate) disk_position: u64,
}

/// Why there is no next chunk. Offsets are into the decompressed text.
#[derive(Debug)]
pub(crate) enum ChunkError {
    Read(io::Error),
    UnclosedQuote { offset: u64 },
    LongRecord { offset: u64 },
}

pub(crate) struct ChunkReader {
    text: Text,
    layout: Layout,
    chunk_bytes: usize,
    max_record: usize,
    /// The beginning of the next chunk, read but not cut yet.
    pending: Vec<u8>,
    /// Offset of `pending` in the text.
    offset: u64,
    at_end: bool,
}

impl ChunkReader {
    pub(crate) fn new(text: Text, layout: Layout, chunk_bytes: usize) -> ChunkReader {
        ChunkReader {
            text,
            layout,
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
    pub(crate) fn next(&mut self) -> Result<Option<Chunk>, ChunkError> {
        let mut text = std::mem::take(&mut self.pending);
        let mut ends = RecordEnds::new(self.layout);
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
        let start = self.offset;
        self.offset += text.len() as u64;
        Chunk { text, start, disk_position: self.text.disk_position() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::text::Dialect;

    fn chunks(text: &str, chunk_bytes: usize, max_record: usize) -> (Vec<String>, Option<ChunkError>) {
        let input = Input::holding("a text", text);
        let text = Text::open(&input).expect("opens");
        let mut reader = ChunkReader::new(text, Layout::Csv(Dialect::delimited_by(b',')), chunk_bytes)
            .with_max_record(max_record);
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
