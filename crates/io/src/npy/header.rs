//! What the header of an NPY file says.

use std::io;

use super::cells::{CellKind, CellType};
use super::literal::Literal;
use crate::facts::Unsupported;
use crate::input_reader::InputReader;

/// Where the cells of an NPY file are.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) columns: Vec<Column>,
    pub(super) has_names: bool,
    pub(super) n_rows: u64,
    /// Bytes of a row, never 0.
    pub(super) row_bytes: usize,
    /// Whether columns stand one after the other.
    pub(super) fortran_order: bool,
    pub(super) data_start: u64,
}

#[derive(Debug, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) cell_type: CellType,
    /// Where its cell is within a row.
    pub(super) offset: usize,
}

/// Why a file is not read.
#[derive(Debug)]
pub(super) enum Refusal {
    Read(io::Error),
    Malformed(String),
    Unsupported(Unsupported),
}

/// More columns than this are taken for a mistake in the header.
const MAX_COLUMNS: u64 = 1_000_000;

/// The same for the size of the header, which grows with the columns.
const MAX_HEADER_BYTES: usize = 256 << 20;

impl Header {
    pub(super) fn read(reader: &InputReader) -> Result<Header, Refusal> {
        let (text, data_start) = read_text(reader)?;
        let literal = Literal::parse(&text)
            .ok_or_else(|| Refusal::Malformed("its header is not a Python dictionary".to_owned()))?;
        let entry = |key: &str| {
            literal.get(key).ok_or_else(|| Refusal::Malformed(format!("its header has no `{key}`")))
        };
        let (Literal::Bool(fortran_order), Literal::Sequence(shape)) =
            (entry("fortran_order")?, entry("shape")?)
        else {
            return Err(Refusal::Malformed("the shape of the array is unclear".to_owned()));
        };
        let shape = shape.iter().map(Literal::integer).collect::<Option<Vec<u64>>>();
        let shape =
            shape.ok_or_else(|| Refusal::Malformed("the shape of the array is unclear".to_owned()))?;

        let header = match entry("descr")? {
            Literal::Text(descr) => plain(cell_type(descr)?, &shape, *fortran_order)?,
            Literal::Sequence(fields) => structured(fields, &shape)?,
            _ => return Err(Refusal::Malformed("the type of the array is unclear".to_owned())),
        };
        let header = Header { data_start, ..header };
        let needed = (header.row_bytes as u64).checked_mul(header.n_rows);
        let available = reader.n_bytes().saturating_sub(data_start);
        match needed {
            Some(needed) if needed <= available => Ok(header),
            _ => Err(Refusal::Malformed(format!(
                "it is cut short: {} rows of {} bytes are more than {available} bytes",
                header.n_rows, header.row_bytes
            ))),
        }
    }
}

/// The text of the header, and where the data begin.
fn read_text(reader: &InputReader) -> Result<(String, u64), Refusal> {
    let cut_short = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Refusal::Malformed("its header is cut short".to_owned()),
        _ => Refusal::Read(error),
    };
    let start = reader.bytes(0, 8).map_err(cut_short)?;
    if !start.starts_with(super::MAGIC) {
        return Err(Refusal::Malformed("it does not begin as one".to_owned()));
    }
    let (length, text_start) = match start[6] {
        1 => {
            let length = reader.bytes(8, 2).map_err(cut_short)?;
            (usize::from(length[0]) | usize::from(length[1]) << 8, 10)
        }
        2 | 3 => {
            let length = reader.bytes(8, 4).map_err(cut_short)?;
            (length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte)), 12)
        }
        version => return Err(Refusal::Malformed(format!("its version {version} is not known"))),
    };
    if length > MAX_HEADER_BYTES {
        return Err(Refusal::Malformed("its header is too long to be one".to_owned()));
    }
    let bytes = reader.bytes(text_start, length).map_err(cut_short)?;
    let text = if start[6] == 3 {
        String::from_utf8(bytes).map_err(|_| Refusal::Malformed("its header is not UTF-8".to_owned()))?
    } else {
        bytes.into_iter().map(char::from).collect()
    };
    Ok((text, text_start + length as u64))
}

fn plain(cell_type: CellType, shape: &[u64], fortran_order: bool) -> Result<Header, Refusal> {
    let (n_rows, n_columns) = match *shape {
        [n_rows] => (n_rows, 1),
        [n_rows, n_columns] => (n_rows, n_columns),
        _ => return Err(dimensions(shape)),
    };
    if n_columns == 0 || n_columns > MAX_COLUMNS {
        return Err(Refusal::Unsupported(Unsupported::Columns { n_columns }));
    }
    let columns: Vec<Column> = (0..n_columns as usize)
        .map(|column| Column {
            name: format!("column_{column}"),
            cell_type,
            offset: column * cell_type.n_bytes(),
        })
        .collect();
    let row_bytes = columns.len() * cell_type.n_bytes();
    let fortran_order = fortran_order && columns.len() > 1;
    Ok(Header { columns, has_names: false, n_rows, row_bytes, fortran_order, data_start: 0 })
}

fn structured(fields: &[Literal], shape: &[u64]) -> Result<Header, Refusal> {
    let &[n_rows] = shape else {
        return Err(dimensions(shape));
    };
    let unclear = || Refusal::Malformed("the fields of the array are unclear".to_owned());
    let mut columns = Vec::new();
    let mut offset = 0_usize;
    for field in fields {
        let Literal::Sequence(field) = field else {
            return Err(unclear());
        };
        let (name, descr) = match field.as_slice() {
            [name, Literal::Text(descr)] => (name, descr),
            [_, Literal::Text(_), _] => return Err(Refusal::Unsupported(Unsupported::NestedArrays)),
            [_, Literal::Sequence(_), ..] => return Err(Refusal::Unsupported(Unsupported::NestedRecords)),
            _ => return Err(unclear()),
        };
        let name = match name {
            Literal::Text(name) => name,
            // A title comes before the name.
            Literal::Sequence(both) => match both.as_slice() {
                [_, Literal::Text(name)] => name,
                _ => return Err(unclear()),
            },
            _ => return Err(unclear()),
        };
        let size = if let Some(padding) = padding(name, descr) {
            padding
        } else {
            let cell_type = cell_type(descr)?;
            columns.push(Column { name: name.clone(), cell_type, offset });
            cell_type.n_bytes()
        };
        offset = offset.checked_add(size).ok_or_else(unclear)?;
    }
    if columns.is_empty() {
        return Err(Refusal::Malformed("it has no columns".to_owned()));
    }
    Ok(Header { columns, has_names: true, n_rows, row_bytes: offset, fortran_order: false, data_start: 0 })
}

/// The size of a field without a name that is there for alignment only.
fn padding(name: &str, descr: &str) -> Option<usize> {
    descr.strip_prefix("|V").filter(|_| name.is_empty())?.parse().ok()
}

fn dimensions(shape: &[u64]) -> Refusal {
    Refusal::Unsupported(Unsupported::Dimensions { n_dimensions: shape.len() })
}

/// A type as NumPy writes it, such as `<f8`.
fn cell_type(descr: &str) -> Result<CellType, Refusal> {
    let malformed = || Refusal::Malformed(format!("its type `{descr}` is unclear"));
    let (is_big_endian, rest) = match descr.as_bytes().split_first() {
        Some((b'<' | b'|', rest)) => (false, rest),
        Some((b'>', rest)) => (true, rest),
        Some((b'=', rest)) => (cfg!(target_endian = "big"), rest),
        Some(_) => (false, descr.as_bytes()),
        None => return Err(malformed()),
    };
    let (&letter, size) = rest.split_first().ok_or_else(malformed)?;
    if letter == b'O' {
        return Err(Refusal::Unsupported(Unsupported::PythonObjects));
    }
    let size = std::str::from_utf8(size).map_err(|_| malformed())?;
    // Dates have their unit after the size.
    let digits = size.find(|c: char| !c.is_ascii_digit()).map_or(size, |end| &size[..end]);
    let size: usize = digits.parse().map_err(|_| malformed())?;
    let kind = match (letter, size) {
        (b'b', 1) => CellKind::Boolean,
        (b'i', 1) => CellKind::I8,
        (b'i', 2) => CellKind::I16,
        (b'i', 4) => CellKind::I32,
        (b'i', 8) => CellKind::I64,
        (b'u', 1) => CellKind::U8,
        (b'u', 2) => CellKind::U16,
        (b'u', 4) => CellKind::U32,
        (b'u', 8) => CellKind::U64,
        (b'f', 4) => CellKind::F32,
        (b'f', 8) => CellKind::F64,
        (b'S' | b'a', 1..=MAX_TEXT) => CellKind::Bytes(size),
        (b'U', 1..=MAX_TEXT) => CellKind::Unicode(size),
        _ => {
            return Err(Refusal::Unsupported(match letter {
                b'f' => Unsupported::NumberWidth { bits: size.saturating_mul(8) },
                b'c' => Unsupported::ComplexNumbers,
                b'M' | b'm' => Unsupported::Dates,
                _ => Unsupported::CellType { descr: descr.to_owned() },
            }));
        }
    };
    Ok(CellType { kind, is_big_endian })
}

/// The longest text a cell may hold.
const MAX_TEXT: usize = 64 << 20;
