//! What all text formats share.
//!
//! A text is decompressed ([`decompress`]), freed of what is not the table
//! ([`mod@body`]) and read in chunks that end where a
//! record ends ([`chunk`], [`layout`]). Chunks are turned into columns ([`cells`]) in
//! parallel and handed over in order ([`scan`]). [`mod@file`] has what is the same for
//! files of all formats.

use dshap_table::{ReadAs, Wanted};

mod body;
mod cells;
mod chunk;
mod decompress;
mod file;
mod layout;
mod locate;
mod scan;

pub(crate) use body::{Body, with_new_lines};
pub(crate) use cells::{CellFault, ColumnBuilder, Problem, excerpt};
pub(crate) use chunk::{CHUNK_BYTES, ChunkReader};
pub(crate) use decompress::Text;
pub(crate) use file::{FileScan, at_record, explain, fields, locate};
pub(crate) use layout::{Dialect, Layout, Quotes, RecordEnds, is_blank};
pub(crate) use scan::{Columns, Decode, Fault};

use chunk::{ChunkError, MAX_RECORD_MIB};
pub(crate) use locate::line_of_offset;
use locate::{Found, find};
use scan::{TextScan, Trouble};

/// An upper estimate of the bytes that a pass over a text holds: for each
/// thread the text of a chunk and what it is decoded to, twice, because one
/// wave of chunks is read while another is decoded.
pub(crate) fn scan_overhead(wanted: &[Wanted]) -> u64 {
    // A cell takes at least two bytes of text, its delimiter included. A number takes
    // 8 bytes and a bit, a text its own length and 4 bytes.
    let decoded: u64 =
        if wanted.iter().all(|wanted| matches!(wanted.read_as, ReadAs::Text | ReadAs::AsIs)) { 3 } else { 5 };
    let n_threads = rayon::current_num_threads() as u64;
    2 * n_threads * CHUNK_BYTES as u64 * (1 + decoded)
}
