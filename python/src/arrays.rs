//! Numbers in NumPy arrays, read in place.
//!
//! The only file with `unsafe`: passes run without the GIL and on several threads,
//! and NumPy has no safe view for that. As with NumPy itself, an array must not be
//! written to while it is read.
#![allow(unsafe_code)]

use crate::labels::{Words, booleans};
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Int64Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, PrimitiveArray};
use arrow_schema::DataType;
use dshap_io::{Matrix, Numbers, Order};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::Arc;

/// Types whose cells are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F64,
    F32,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    /// Labels that are text, which are held beside the arrays.
    Words,
}

impl Kind {
    fn of(array: &Bound<'_, PyUntypedArray>) -> Option<Self> {
        let dtype = array.dtype();
        // Single bytes have only one order.
        if dtype.is_native_byteorder() == Some(false) {
            return None;
        }
        Some(match (dtype.kind(), dtype.itemsize()) {
            (b'f', 8) => Kind::F64,
            (b'f', 4) => Kind::F32,
            (b'i', 8) => Kind::I64,
            (b'i', 4) => Kind::I32,
            (b'i', 2) => Kind::I16,
            (b'i', 1) => Kind::I8,
            (b'u', 8) => Kind::U64,
            (b'u', 4) => Kind::U32,
            (b'u', 2) => Kind::U16,
            (b'u', 1) => Kind::U8,
            (b'b', 1) => Kind::Bool,
            _ => return None,
        })
    }
}

/// One column of an array.
#[derive(Debug, Clone, Copy)]
struct Column {
    first: *const u8,
    /// Bytes from one cell to the next.
    stride: isize,
    kind: Kind,
}

/// Columns of arrays, which are kept alive.
#[derive(Debug)]
pub(crate) struct Arrays {
    n_rows: usize,
    columns: Vec<Column>,
    /// How many of the first columns are one array of doubles, if any are.
    matrix: Option<(usize, Order, usize)>,
    /// The column whose doubles are true and false.
    boolean: Option<usize>,
    /// A column of labels that are text.
    words: Option<Words>,
    _owners: Vec<Py<PyAny>>,
}

// SAFETY: the pointers lead into arrays whose owners are held, and are only read.
unsafe impl Send for Arrays {}
// SAFETY: as above.
unsafe impl Sync for Arrays {}

impl Arrays {
    /// No columns yet, for arrays of this many rows.
    pub(crate) fn new(n_rows: usize) -> Self {
        Self { n_rows, columns: Vec::new(), matrix: None, boolean: None, words: None, _owners: Vec::new() }
    }

    /// Adds the columns of an array with one or two dimensions; `false` if its shape
    /// or type does not fit.
    pub(crate) fn add(&mut self, array: &Bound<'_, PyUntypedArray>) -> bool {
        let (shape, strides) = (array.shape(), array.strides());
        let (n_columns, row_stride, column_stride) = match (shape, strides) {
            (&[_], &[stride]) => (1, stride, 0),
            (&[_, n], &[rows, columns]) => (n, rows, columns),
            _ => return false,
        };
        let Some(kind) = Kind::of(array).filter(|_| shape[0] == self.n_rows) else { return false };
        // SAFETY: the object is a NumPy array, whose fields can be read.
        let data = unsafe { (*array.as_array_ptr()).fields.data }.cast::<u8>().cast_const();
        if self.columns.is_empty() && kind == Kind::F64 && data.cast::<f64>().is_aligned() {
            self.matrix = order(self.n_rows, n_columns, row_stride, column_stride);
        }
        self.columns.extend((0..n_columns).map(|column| Column {
            // SAFETY: the offset of a cell of the array; without rows nothing is read.
            first: data.wrapping_offset(column as isize * column_stride),
            stride: row_stride,
            kind,
        }));
        self._owners.push(array.clone().into_any().unbind());
        true
    }
}

impl Arrays {
    /// Adds a column of labels that are text; `false` if it has another length.
    pub(crate) fn add_words(&mut self, words: Words) -> bool {
        let fits = words.len() == self.n_rows;
        self.columns.push(Column { first: std::ptr::null(), stride: 0, kind: Kind::Words });
        self.words = Some(words);
        fits
    }

    /// Treats the column added last as true and false.
    pub(crate) fn last_is_boolean(&mut self) {
        self.boolean = self.columns.len().checked_sub(1);
    }
}

/// The order of doubles in memory, and the distance between rows or columns.
fn order(
    n_rows: usize,
    n_columns: usize,
    row_stride: isize,
    column_stride: isize,
) -> Option<(usize, Order, usize)> {
    const CELL: isize = size_of::<f64>() as isize;
    let cells = |stride: isize, least: usize| {
        let whole = stride % CELL == 0 && stride >= CELL * least as isize;
        whole.then_some((stride / CELL) as usize)
    };
    if n_rows == 0 || n_columns == 0 {
        return None;
    }
    // The stride of a dimension of length 1 means nothing.
    if column_stride == CELL || n_columns == 1 {
        if n_rows == 1 {
            return Some((n_columns, Order::Rows, n_columns));
        }
        if let (Some(stride), true) = (cells(row_stride, n_columns), n_columns > 1 || row_stride != CELL) {
            return Some((n_columns, Order::Rows, stride));
        }
    }
    if row_stride == CELL || n_rows == 1 {
        let stride = if n_columns == 1 { Some(n_rows) } else { cells(column_stride, n_rows) };
        return stride.map(|stride| (n_columns, Order::Columns, stride));
    }
    None
}

impl Numbers for Arrays {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_columns(&self) -> usize {
        self.columns.len()
    }

    fn data_type(&self, column: usize) -> DataType {
        match self.columns[column].kind {
            Kind::Words => DataType::Utf8,
            _ if self.boolean == Some(column) => DataType::Boolean,
            _ => DataType::Float64,
        }
    }

    fn copy(&self, column: usize, start: usize, out: &mut [f64]) {
        assert!(start + out.len() <= self.n_rows, "rows {start} and on of {}", self.n_rows);
        let column = self.columns[column];
        // SAFETY: the cells are within the array, as was just checked, and have the
        // type of its dtype; any byte but 0 is a true boolean.
        unsafe {
            match column.kind {
                Kind::F64 => convert(column, start, out, |cell: f64| cell),
                Kind::F32 => convert(column, start, out, |cell: f32| f64::from(cell)),
                Kind::I64 => convert(column, start, out, |cell: i64| cell as f64),
                Kind::I32 => convert(column, start, out, |cell: i32| f64::from(cell)),
                Kind::I16 => convert(column, start, out, |cell: i16| f64::from(cell)),
                Kind::I8 => convert(column, start, out, |cell: i8| f64::from(cell)),
                Kind::U64 => convert(column, start, out, |cell: u64| cell as f64),
                Kind::U32 => convert(column, start, out, |cell: u32| f64::from(cell)),
                Kind::U16 => convert(column, start, out, |cell: u16| f64::from(cell)),
                Kind::U8 => convert(column, start, out, |cell: u8| f64::from(cell)),
                Kind::Bool => convert(column, start, out, |cell: u8| f64::from(cell != 0)),
                Kind::Words => out.fill(f64::NAN),
            }
        }
    }

    fn array(&self, column: usize, start: usize, n_rows: usize) -> ArrayRef {
        assert!(start + n_rows <= self.n_rows, "rows {start} and on of {}", self.n_rows);
        let cells = self.columns[column];
        if let (Kind::Words, Some(words)) = (cells.kind, &self.words) {
            return words.array(start, n_rows);
        }
        // SAFETY: as in `copy`.
        unsafe {
            match cells.kind {
                Kind::Bool => {
                    let mut out = vec![false; n_rows];
                    convert(cells, start, &mut out, |cell: u8| cell != 0);
                    Arc::new(BooleanArray::from(out))
                }
                Kind::I64 => typed::<Int64Type>(cells, start, n_rows),
                Kind::U64 => typed::<UInt64Type>(cells, start, n_rows),
                Kind::F32 => typed::<Float32Type>(cells, start, n_rows),
                // A double holds the others exactly.
                _ => {
                    let mut out = vec![0.0; n_rows];
                    self.copy(column, start, &mut out);
                    match self.boolean {
                        Some(boolean) if boolean == column => booleans(&out),
                        _ => Arc::new(Float64Array::from(out)),
                    }
                }
            }
        }
    }

    fn column(&self, column: usize) -> Option<&[f64]> {
        let Column { first, stride, kind } = self.columns[column];
        let first = first.cast::<f64>();
        let in_place = kind == Kind::F64 && stride == 8 && first.is_aligned() && self.n_rows > 0;
        // SAFETY: this many doubles, one after the other, in an array that is held.
        in_place.then(|| unsafe { std::slice::from_raw_parts(first, self.n_rows) })
    }

    fn matrix(&self, n_columns: usize) -> Option<Matrix<'_>> {
        let (have, order, stride) = self.matrix?;
        if have != n_columns {
            return None;
        }
        let len = match order {
            Order::Rows => (self.n_rows - 1) * stride + n_columns,
            Order::Columns => (n_columns - 1) * stride + self.n_rows,
        };
        // SAFETY: from the first to the last cell of the array; what lies
        // between its cells belongs to the same allocation and is not looked at.
        let cells = unsafe { std::slice::from_raw_parts(self.columns[0].first.cast::<f64>(), len) };
        Some(Matrix { cells, order, stride })
    }
}

/// # Safety
///
/// `out.len()` cells from `start` on must be readable as `T`.
unsafe fn convert<T: Copy, U>(column: Column, start: usize, out: &mut [U], to: impl Fn(T) -> U) {
    for (row, out) in (start..).zip(out) {
        // SAFETY: as the caller promises; arrays need not be aligned.
        let cell = unsafe { column.first.offset(row as isize * column.stride).cast::<T>().read_unaligned() };
        *out = to(cell);
    }
}

/// # Safety
///
/// As [`convert`], for the type that `T` stands for.
unsafe fn typed<T: ArrowPrimitiveType>(column: Column, start: usize, n_rows: usize) -> ArrayRef {
    let mut out = vec![T::default_value(); n_rows];
    // SAFETY: as the caller promises.
    unsafe { convert(column, start, &mut out, |cell: T::Native| cell) };
    Arc::new(PrimitiveArray::<T>::from_iter_values(out))
}
