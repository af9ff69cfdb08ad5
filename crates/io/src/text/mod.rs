//! What all text formats share.
//!
//! A text is decompressed ([`decompress`]) and read in chunks that end where a
//! record ends ([`chunk`], [`layout`]). Chunks are turned into columns in
//! parallel and handed over in order ([`scan`]).

use dshap_table::{ReadAs, Wanted};

mod chunk;
mod decompress;
mod layout;
mod locate;
mod scan;

pub(crate) use chunk::{CHUNK_BYTES, ChunkError, ChunkReader, MAX_RECORD_MIB};
pub(crate) use decompress::Text;
pub(crate) use layout::{Layout, QUOTE, Quotes, RecordEnds};
pub(crate) use locate::{Found, find, line_of_offset};
pub(crate) use scan::{Columns, Decode, Fault, TextScan, Trouble};

/// An upper estimate of the bytes that a pass over a text holds: for each
/// thread the text of a chunk and what it is decoded to, twice, because one
/// wave of chunks is read while another is decoded.
pub(crate) fn scan_overhead(wanted: &[Wanted]) -> u64 {
    // A cell takes at least two bytes of text, its delimiter included. A
    // number takes 8 bytes and a bit, a text the length of its own and 4 bytes.
    let decoded: u64 =
        if wanted.iter().all(|wanted| matches!(wanted.read_as, ReadAs::Text | ReadAs::AsIs)) { 3 } else { 5 };
    let n_threads = rayon::current_num_threads() as u64;
    2 * n_threads * CHUNK_BYTES as u64 * (1 + decoded)
}
