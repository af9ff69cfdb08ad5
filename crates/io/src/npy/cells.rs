//! The types of cells, and columns made of them.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_schema::DataType;

/// How a cell is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellType {
    pub(super) kind: CellKind,
    pub(super) is_big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Boolean,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    /// This many bytes, padded with zeros.
    Bytes(usize),
    /// This many code points of four bytes, padded with zeros.
    Unicode(usize),
}

/// Cells of one column, each `stride` bytes after the one before.
pub(super) struct Cells<'a> {
    pub(super) block: &'a [u8],
    pub(super) stride: usize,
    pub(super) offset: usize,
    pub(super) n_rows: usize,
}

impl Cells<'_> {
    fn iter(&self, size: usize) -> impl Iterator<Item = &[u8]> {
        (0..self.n_rows).map(move |row| {
            let start = row * self.stride + self.offset;
            &self.block[start..start + size]
        })
    }
}

impl CellType {
    pub(super) fn n_bytes(self) -> usize {
        match self.kind {
            CellKind::Boolean | CellKind::I8 | CellKind::U8 => 1,
            CellKind::I16 | CellKind::U16 => 2,
            CellKind::I32 | CellKind::U32 | CellKind::F32 => 4,
            CellKind::I64 | CellKind::U64 | CellKind::F64 => 8,
            CellKind::Bytes(length) => length,
            CellKind::Unicode(length) => 4 * length,
        }
    }

    pub(super) fn data_type(self) -> DataType {
        match self.kind {
            CellKind::Boolean => DataType::Boolean,
            CellKind::I8 => DataType::Int8,
            CellKind::I16 => DataType::Int16,
            CellKind::I32 => DataType::Int32,
            CellKind::I64 => DataType::Int64,
            CellKind::U8 => DataType::UInt8,
            CellKind::U16 => DataType::UInt16,
            CellKind::U32 => DataType::UInt32,
            CellKind::U64 => DataType::UInt64,
            CellKind::F32 => DataType::Float32,
            CellKind::F64 => DataType::Float64,
            CellKind::Bytes(_) | CellKind::Unicode(_) => DataType::Utf8,
        }
    }

    /// A column, or the first row whose text is invalid.
    pub(super) fn decode(self, cells: &Cells<'_>) -> Result<ArrayRef, usize> {
        Ok(match self.kind {
            CellKind::Boolean => {
                Arc::new(cells.iter(1).map(|cell| Some(cell != [0])).collect::<BooleanArray>())
            }
            CellKind::I8 => self.numbers::<Int8Type, 1>(cells, i8::from_le_bytes),
            CellKind::I16 => self.numbers::<Int16Type, 2>(cells, i16::from_le_bytes),
            CellKind::I32 => self.numbers::<Int32Type, 4>(cells, i32::from_le_bytes),
            CellKind::I64 => self.numbers::<Int64Type, 8>(cells, i64::from_le_bytes),
            CellKind::U8 => self.numbers::<UInt8Type, 1>(cells, u8::from_le_bytes),
            CellKind::U16 => self.numbers::<UInt16Type, 2>(cells, u16::from_le_bytes),
            CellKind::U32 => self.numbers::<UInt32Type, 4>(cells, u32::from_le_bytes),
            CellKind::U64 => self.numbers::<UInt64Type, 8>(cells, u64::from_le_bytes),
            CellKind::F32 => self.numbers::<Float32Type, 4>(cells, f32::from_le_bytes),
            CellKind::F64 => self.numbers::<Float64Type, 8>(cells, f64::from_le_bytes),
            CellKind::Bytes(_) | CellKind::Unicode(_) => self.texts(cells)?,
        })
    }

    fn numbers<T: ArrowPrimitiveType, const N: usize>(
        self,
        cells: &Cells<'_>,
        from_little_endian: fn([u8; N]) -> T::Native,
    ) -> ArrayRef {
        let values = cells.iter(N).map(|cell| {
            let mut bytes = [0; N];
            bytes.copy_from_slice(cell);
            if self.is_big_endian {
                bytes.reverse();
            }
            from_little_endian(bytes)
        });
        Arc::new(PrimitiveArray::<T>::from_iter_values(values))
    }

    fn texts(self, cells: &Cells<'_>) -> Result<ArrayRef, usize> {
        let mut texts = StringBuilder::with_capacity(cells.n_rows, cells.n_rows * self.n_bytes());
        for (row, cell) in cells.iter(self.n_bytes()).enumerate() {
            if matches!(self.kind, CellKind::Unicode(_)) {
                texts.append_value(self.unicode(cell).ok_or(row)?);
            } else {
                let length = cell.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                texts.append_value(std::str::from_utf8(&cell[..length]).map_err(|_| row)?);
            }
        }
        Ok(Arc::new(texts.finish()))
    }

    fn unicode(self, cell: &[u8]) -> Option<String> {
        let code_point = |bytes: &[u8]| {
            let bytes: [u8; 4] = bytes.try_into().ok()?;
            let code = if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
            char::from_u32(code)
        };
        let mut text = cell.chunks_exact(4).map(code_point).collect::<Option<String>>()?;
        text.truncate(text.trim_end_matches('\0').len());
        Some(text)
    }
}
