//! Reading and writing tables in blocks.
//!
//! A [`Source`] is a table made of one or more files: CSV and NDJSON, also compressed
//! with gzip or zstd, Parquet, Arrow IPC (files and streams) and NPY. The first bytes
//! of a file decide its format. A source can be read as often as needed: any columns,
//! from any row on, in batches of a fixed number of rows. A file that changes between
//! or during two passes is refused. A [`Sink`] writes such batches as CSV, JSON,
//! NDJSON, Parquet, Arrow or NPY, to a file that appears whole or not at all.
//!
//! ```text
//! paths, patterns, - ──▶ Source ──scan──▶ Batch, Batch, … ──▶ Sink ──finish──▶ file
//! ```
//!
//! Reading uses all threads of the surrounding `rayon` pool. The result does not
//! depend on their number.
//!
//! # Example
//!
//! ```
//! use dshap_io::{Destination, Format, ScanOptions, Sink, Source};
//! use dshap_table::{ReadAs, Wanted};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("wine.csv");
//! # std::fs::write(&path, "sugar,shade\n1.5,red\n,white\n")?;
//! # let wine = path.display().to_string();
//! # let out = folder.path().join("sugar.json");
//! let source = Source::open(&[wine])?;
//! let wanted = [Wanted { name: "sugar".into(), read_as: ReadAs::Number }];
//!
//! let mut sink = Sink::create(
//!     &Destination::File(out.clone()),
//!     Format::Json,
//!     source.arrow_schema(&wanted)?,
//! )?;
//! for batch in source.scan(&wanted, ScanOptions::default())? {
//!     sink.write(&batch?.rows)?;
//! }
//! sink.finish()?;
//!
//! let text = std::fs::read_to_string(&out)?;
//! assert_eq!(text, "[\n{\"sugar\":1.5},\n{\"sugar\":null}\n]\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A table may also be in memory: [`Source::of_batches`] and
//! [`Source::of_numbers`] are read as files are.
//!
//! # What a CSV file may look like
//!
//! - The first record is the header, unless [`ReadOptions`] say that there is none. The delimiter is detected: comma, semicolon, tab
//!   or bar, and in a text without any of these also a blank, `~`, `^`, `:` or U+001F.
//!   Lines end in `\n`, `\r\n`, or `\r` alone; blank lines are skipped.
//! - A quote opens a quoted cell only at the beginning of a cell, after blanks at most.
//!   Within one, delimiters and line ends are text and `""` is a quote. Only blanks may
//!   follow the closing quote. Where no `"` occurs, cells may be quoted by `'`; where `""`
//!   makes no sense, `\"` is a quote.
//! - Lines before the header and after the last row, and a header of two or three
//!   records, are recognised where nothing else makes sense of the file. Each of these is
//!   a [`Note`].
//! - What the beginning of a file does not show, passes note ([`Source::late_notes`]).
//! - An empty cell is missing, and so is one that holds `NA`, `N/A`, `#N/A`, `NaN`,
//!   `NULL`, `None` or `?`, in capitals or not. Quoted text never means a missing
//!   cell.
//! - Numbers have a decimal point, or a comma if [`ReadOptions`] say so.
//! - Blanks around numbers, names and unquoted text are ignored.
//! - A delimiter at the end of every line, or of every row, or of the header, does not
//!   make a column.
//!
//! # What an NDJSON file may look like
//!
//! - Each line is one object; blank lines are skipped. The keys of the first
//!   10 000 records are the columns. A key that is absent is missing, and so
//!   is `null`.
//! - Values keep their types: a string is never a number. In a column of text,
//!   numbers and `true` and `false` are text, spelled as [`dshap_table::spelled`]
//!   says for every format.
//!
//! # What an NPY file may look like
//!
//! - An array of numbers or of true and false with one or two dimensions, in
//!   any byte order, by rows or by columns. Its columns are called `column_0`
//!   and so on.
//! - A structured array with one dimension, whose fields are the columns and
//!   may also hold text.
//! - NaN is missing, here and in Parquet and Arrow files.

mod atomic;
mod columns;
mod container;
mod csv;
mod csv_writer;
mod digest;
mod error;
mod facts;
mod input;
mod input_reader;
mod ipc;
mod ipc_writer;
mod kept;
mod late;
mod location;
mod memory;
mod names;
mod ndjson;
mod note;
mod npy;
mod npy_writer;
mod parquet;
mod part;
mod read_options;
mod scan;
mod sink;
mod source;
mod spool;
mod stamp;
mod text;

pub use atomic::{AtomicFile, Guard, open_without_link, remove_unfinished_files};
pub use container::{Container, ContainerError};
pub use digest::FileDigest;
pub use error::Error;
pub use facts::{JsonFault, LooksLike, NoRowsIn, Resembles, Unsupported};
pub use location::{Location, Place};
pub use memory::{Matrix, Numbers, Order};
pub use note::Note;
pub use read_options::ReadOptions;
pub use scan::{Batch, Scan, ScanOptions};
pub use sink::{Destination, Format, Sink};
pub use source::Source;
pub use stamp::FileStamp;
