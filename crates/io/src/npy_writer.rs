//! Writing tables of numbers as NumPy saves them.
//!
//! The table is a structured array with one field for each column. Its header
//! says how many rows follow, so rows wait in a temporary file without a name
//! until their number is known.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};

use crate::columns::cast;
use crate::sink::Failure;

/// A column of this name explains rows in words and is left out.
const LEFT_OUT: &str = "note";

pub(crate) struct NpyWriter<W: Write> {
    output: W,
    fields: Vec<Field>,
    row_bytes: usize,
    rows: BufWriter<File>,
    n_rows: u64,
}

struct Field {
    name: String,
    /// Position among the columns of the table.
    column: usize,
    data_type: DataType,
    code: &'static str,
    /// Where its cell is within a row.
    offset: usize,
}

impl<W: Write> NpyWriter<W> {
    pub(crate) fn new(output: W, schema: &Schema) -> Result<NpyWriter<W>, Failure> {
        let mut fields = Vec::new();
        let mut row_bytes = 0;
        for (column, field) in schema.fields().iter().enumerate() {
            let Some((data_type, code, n_bytes)) = stored_as(field.data_type()) else {
                if field.name() == LEFT_OUT {
                    continue;
                }
                return Err(Failure::NotNumeric(field.name().clone()));
            };
            fields.push(Field { name: field.name().clone(), column, data_type, code, offset: row_bytes });
            row_bytes += n_bytes;
        }
        if fields.is_empty() {
            return Err(Failure::Encode("there is no column of numbers to write".to_owned()));
        }
        let rows = BufWriter::new(tempfile::tempfile()?);
        Ok(NpyWriter { output, fields, row_bytes, rows, n_rows: 0 })
    }

    pub(crate) fn write(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        let mut block = vec![0; rows.num_rows() * self.row_bytes];
        for field in &self.fields {
            let array = cast(rows.column(field.column), &field.data_type).ok_or_else(|| {
                Failure::Encode(format!("column `{}` cannot be written as numbers", field.name))
            })?;
            let cells = Cells { block: &mut block, stride: self.row_bytes, offset: field.offset };
            fill(cells, &array).map_err(|row| {
                Failure::Encode(format!(
                    "row {} has no value in column `{}`, which NPY can say of fractions only",
                    self.n_rows + row as u64,
                    field.name
                ))
            })?;
        }
        self.rows.write_all(&block)?;
        self.n_rows += rows.num_rows() as u64;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W, Failure> {
        self.output.write_all(&header(&self.fields, self.n_rows))?;
        let mut rows = self.rows.into_inner().map_err(io::IntoInnerError::into_error)?;
        rows.rewind()?;
        io::copy(&mut rows, &mut self.output)?;
        Ok(self.output)
    }
}

/// The type that cells are converted to, NumPy's name for it, and its size.
fn stored_as(data_type: &DataType) -> Option<(DataType, &'static str, usize)> {
    let (code, n_bytes) = match data_type {
        DataType::Boolean => ("|b1", 1),
        DataType::Int8 => ("|i1", 1),
        DataType::Int16 => ("<i2", 2),
        DataType::Int32 => ("<i4", 4),
        DataType::Int64 => ("<i8", 8),
        DataType::UInt8 => ("|u1", 1),
        DataType::UInt16 => ("<u2", 2),
        DataType::UInt32 => ("<u4", 4),
        DataType::UInt64 => ("<u8", 8),
        DataType::Float32 => ("<f4", 4),
        DataType::Float64 => ("<f8", 8),
        DataType::Float16 => return stored_as(&DataType::Float32),
        DataType::Dictionary(_, values) => return stored_as(values),
        other if other.is_numeric() || *other == DataType::Null => return stored_as(&DataType::Float64),
        _ => return None,
    };
    Some((data_type.clone(), code, n_bytes))
}

/// Cells of one column, each `stride` bytes after the one before.
struct Cells<'a> {
    block: &'a mut [u8],
    stride: usize,
    offset: usize,
}

impl Cells<'_> {
    fn fill<const N: usize>(self, cells: impl Iterator<Item = [u8; N]>) {
        for (row, cell) in self.block.chunks_exact_mut(self.stride).zip(cells) {
            row[self.offset..self.offset + N].copy_from_slice(&cell);
        }
    }
}

/// Stores a column, or returns the first row without a value where that cannot
/// be stored.
fn fill(cells: Cells<'_>, array: &ArrayRef) -> Result<(), usize> {
    fn whole<T: ArrowPrimitiveType, const N: usize>(
        cells: Cells<'_>,
        array: &ArrayRef,
        bytes: fn(T::Native) -> [u8; N],
    ) {
        cells.fill(array.as_primitive::<T>().values().iter().map(|&value| bytes(value)));
    }

    match array.data_type() {
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().iter();
            cells.fill(values.map(|value| value.unwrap_or(f32::NAN).to_le_bytes()));
            return Ok(());
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().iter();
            cells.fill(values.map(|value| value.unwrap_or(f64::NAN).to_le_bytes()));
            return Ok(());
        }
        _ => {}
    }
    if let Some(row) = (0..array.len()).find(|&row| array.is_null(row)) {
        return Err(row);
    }
    match array.data_type() {
        DataType::Boolean => cells.fill(array.as_boolean().values().iter().map(|value| [u8::from(value)])),
        DataType::Int8 => whole::<Int8Type, 1>(cells, array, i8::to_le_bytes),
        DataType::Int16 => whole::<Int16Type, 2>(cells, array, i16::to_le_bytes),
        DataType::Int32 => whole::<Int32Type, 4>(cells, array, i32::to_le_bytes),
        DataType::Int64 => whole::<Int64Type, 8>(cells, array, i64::to_le_bytes),
        DataType::UInt8 => whole::<UInt8Type, 1>(cells, array, u8::to_le_bytes),
        DataType::UInt16 => whole::<UInt16Type, 2>(cells, array, u16::to_le_bytes),
        DataType::UInt32 => whole::<UInt32Type, 4>(cells, array, u32::to_le_bytes),
        _ => whole::<UInt64Type, 8>(cells, array, u64::to_le_bytes),
    }
    Ok(())
}

/// Data begin at a multiple of this, as NumPy requires.
const ALIGNMENT: usize = 64;

fn header(fields: &[Field], n_rows: u64) -> Vec<u8> {
    let descr: Vec<String> =
        fields.iter().map(|field| format!("({}, '{}')", quoted(&field.name), field.code)).collect();
    let text = format!("{{'descr': [{}], 'fortran_order': False, 'shape': ({n_rows},), }}", descr.join(", "));

    // The oldest version that can express it, for old readers.
    let is_short = text.len() + ALIGNMENT + 10 < usize::from(u16::MAX);
    let (version, prefix_bytes) = match (text.is_ascii(), is_short) {
        (true, true) => (1, 10),
        (true, false) => (2, 12),
        (false, _) => (3, 12),
    };
    let data_start = (prefix_bytes + text.len() + 1).next_multiple_of(ALIGNMENT);
    let length = data_start - prefix_bytes;
    let mut bytes = crate::npy::MAGIC.to_vec();
    bytes.extend([version, 0]);
    if version == 1 {
        bytes.extend((length as u16).to_le_bytes());
    } else {
        bytes.extend((length as u32).to_le_bytes());
    }
    bytes.extend(text.as_bytes());
    bytes.resize(data_start - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// A name as Python writes it.
fn quoted(name: &str) -> String {
    let mut text = String::from("'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            c if c.is_ascii_control() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}
