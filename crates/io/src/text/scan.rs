//! One pass over a text, many chunks at a time.

use std::collections::VecDeque;

use arrow_array::ArrayRef;
use rayon::prelude::*;

use super::chunk::Chunk;
use super::{ChunkError, ChunkReader, Layout};
use crate::late::Odd;
use crate::part::Piece;

/// Turns the text of a chunk into columns.
pub(crate) trait Decode: Send + Sync {
    /// What may be wrong with a record.
    type What: Send;

    /// Reads at most `max_rows` records.
    fn decode(&self, text: &[u8], max_rows: usize) -> Decoded<Self::What>;

    /// Takes note of an odd cell in a record, counted from the first one of the text.
    fn notice(&self, record: u64, odd: &Odd);
}

/// What a chunk holds, or the first thing wrong with it.
pub(crate) type Decoded<W> = Result<Columns, Fault<W>>;

/// What a chunk holds.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) arrays: Vec<ArrayRef>,
    pub(crate) n_rows: usize,
    /// Cells that are odd, in the order of records.
    pub(crate) odd: Vec<Odd>,
}

/// The first thing wrong with a chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault<W> {
    /// The record, counted from the beginning of the chunk.
    pub(crate) record: usize,
    pub(crate) what: W,
}

/// Why a pass cannot go on.
#[derive(Debug)]
pub(crate) enum Trouble<W> {
    /// The text cannot be cut into records.
    Chunk(ChunkError),
    /// A record, counted from the first one of the text, is faulty.
    Record { record: u64, what: W },
}

/// One pass over a text.
pub(crate) struct TextScan<D: Decode> {
    decoder: D,
    layout: Layout,
    chunks: ChunkReader,
    /// Chunks that are read but not decoded.
    wave: Wave,
    /// Chunks that are decoded but not handed over.
    ready: VecDeque<(Chunk, Decoded<D::What>)>,
    /// Records that are skipped or handed over.
    n_records: u64,
}

/// As many chunks as there are threads.
#[derive(Default)]
struct Wave {
    chunks: Vec<Chunk>,
    error: Option<ChunkError>,
    is_last: bool,
}

impl<D: Decode> TextScan<D> {
    /// Begins after `n_skipped` records, or at the end if there are fewer.
    pub(crate) fn new(decoder: D, layout: Layout, mut chunks: ChunkReader, n_skipped: u64) -> TextScan<D> {
        let wave = read_wave(&mut chunks);
        let mut scan = TextScan { decoder, layout, chunks, wave, ready: VecDeque::new(), n_records: 0 };
        scan.skip(n_skipped);
        scan
    }

    /// Records that are skipped or handed over so far.
    pub(crate) fn n_records(&self) -> u64 {
        self.n_records
    }

    /// The next rows. The caller wants at most `max_rows` more, and faults after
    /// those do not matter.
    pub(crate) fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Trouble<D::What>> {
        loop {
            if let Some((chunk, decoded)) = self.ready.pop_front() {
                return self.hand_over(&chunk, decoded, max_rows).map(Some);
            }
            if self.wave.chunks.is_empty() {
                return match self.wave.error.take() {
                    Some(error) => Err(Trouble::Chunk(error)),
                    None => Ok(None),
                };
            }
            self.advance();
        }
    }

    /// Skips records without decoding them.
    fn skip(&mut self, mut n_left: u64) {
        let layout = self.layout;
        while n_left > 0 && !self.wave.chunks.is_empty() {
            let chunks = std::mem::take(&mut self.wave.chunks);
            let counts: Vec<_> =
                chunks.par_iter().map(|chunk| layout.nth_record(&chunk.text, n_left)).collect();
            for (mut chunk, counted) in chunks.into_iter().zip(counts) {
                let counted = match counted {
                    Err(n_records) if n_records <= n_left => Err(n_records),
                    _ => layout.nth_record(&chunk.text, n_left),
                };
                match counted {
                    Err(n_records) => {
                        self.n_records += n_records;
                        n_left -= n_records;
                    }
                    Ok(start) => {
                        chunk.text.drain(..start);
                        self.n_records += n_left;
                        n_left = 0;
                        self.wave.chunks.push(chunk);
                    }
                }
            }
            if self.wave.chunks.is_empty() && !self.wave.is_last {
                self.wave = read_wave(&mut self.chunks);
            }
        }
    }

    /// Decodes one wave of chunks while the next one is read.
    fn advance(&mut self) {
        let wave = std::mem::take(&mut self.wave);
        let decoder = &self.decoder;
        let decode_all = || -> Vec<_> {
            wave.chunks
                .into_par_iter()
                .map(|chunk| {
                    let decoded = decoder.decode(&chunk.text, usize::MAX);
                    (chunk, decoded)
                })
                .collect()
        };
        if wave.is_last {
            self.ready.extend(decode_all());
            self.wave.error = wave.error;
            self.wave.is_last = true;
        } else {
            let chunks = &mut self.chunks;
            let (decoded, next) = rayon::join(decode_all, || read_wave(chunks));
            self.ready.extend(decoded);
            self.wave = next;
        }
    }

    fn hand_over(
        &mut self,
        chunk: &Chunk,
        decoded: Decoded<D::What>,
        max_rows: u64,
    ) -> Result<Piece, Trouble<D::What>> {
        let decoded = match decoded {
            Err(fault) if fault.record as u64 >= max_rows => {
                self.decoder.decode(&chunk.text, max_rows as usize)
            }
            decoded => decoded,
        };
        let Columns { arrays, n_rows, odd } = decoded.map_err(|fault| Trouble::Record {
            record: self.n_records + fault.record as u64,
            what: fault.what,
        })?;
        for odd in odd.iter().filter(|odd| (odd.record as u64) < max_rows) {
            self.decoder.notice(self.n_records + odd.record as u64, odd);
        }
        self.n_records += n_rows as u64;
        Ok(Piece { arrays, n_rows, disk_position: chunk.disk_position })
    }
}

/// Reads as many chunks as there are threads.
fn read_wave(chunks: &mut ChunkReader) -> Wave {
    let mut wave = Wave::default();
    while wave.chunks.len() < rayon::current_num_threads() {
        match chunks.next() {
            Ok(Some(chunk)) => wave.chunks.push(chunk),
            Ok(None) => {
                wave.is_last = true;
                return wave;
            }
            Err(error) => {
                wave.error = Some(error);
                wave.is_last = true;
                return wave;
            }
        }
    }
    wave
}
