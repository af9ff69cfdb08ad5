//! Rows that are already numbers in memory are used where they are.
//!
//! A table of doubles without gaps needs no encoding, so its rows are handed to
//! the arithmetic in place, a slice at a time; other numbers are converted slice
//! by slice. The bits are those of the passes over batches. Where a cell cannot
//! be computed with, those passes take over: they know what to do about it, or
//! what to say.

use dshap::{BLOCK_ROWS, Rows};
use dshap_io::{Matrix, Numbers, Order, Source};
use dshap_models::{Error, Observer, Stage};
use dshap_table::{Design, Labels};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Cells of a slice, for each thread that works on them: some milliseconds.
const SLICE_CELLS: usize = 1 << 20;

/// Features, a target and perhaps weights, as numbers in memory.
#[derive(Clone, Copy)]
pub(crate) struct InPlace<'a> {
    numbers: &'a dyn Numbers,
    n_features: usize,
    /// What the numbers of the target stand for, if they are labels.
    labels: Option<&'a Labels>,
    has_weights: bool,
}

impl<'a> InPlace<'a> {
    /// Columns of which the first are features, the next is the target and the
    /// last, if there is one more, holds weights.
    pub(crate) fn new(numbers: &'a dyn Numbers, n_features: usize) -> Self {
        Self { numbers, n_features, labels: None, has_weights: numbers.n_columns() > n_features + 1 }
    }

    /// With a target of labels, which become the numbers of their classes.
    pub(crate) fn with_labels(self, labels: Option<&'a Labels>) -> Self {
        Self { labels, ..self }
    }

    /// The numbers of a source, if they are just those that a design wants.
    pub(crate) fn of(source: &'a Source, design: &Design) -> Option<Self> {
        let numbers = source.numbers()?;
        let wanted = design.wanted_of_reference();
        let names = wanted.iter().map(|wanted| wanted.name.as_str());
        (design.is_plain() && source.schema().names().eq(names))
            .then(|| Self::new(numbers, design.n_columns()))
    }

    /// Whether every row is part of the reference.
    fn all_count(&self) -> bool {
        if !self.has_weights {
            return true;
        }
        let column = self.n_features + 1;
        let mut scratch = vec![0.0; BLOCK_ROWS];
        (0..self.numbers.n_rows()).step_by(BLOCK_ROWS).all(|start| {
            let out = &mut scratch[..BLOCK_ROWS.min(self.numbers.n_rows() - start)];
            self.numbers.copy(column, start, out);
            out.iter().all(|weight| *weight > 0.0)
        })
    }

    /// As [`each`](Self::each) for rows of a reference, where rows of weight 0
    /// have no place.
    pub(crate) fn each_of_reference(
        self,
        stage: Stage,
        observer: &dyn Observer,
        mut each: impl FnMut(Rows<'_>) -> Result<(), dshap::Error>,
    ) -> Result<bool, Error> {
        if !self.all_count() {
            return Ok(false);
        }
        self.each(usize::MAX, stage, observer, |_, rows| each(rows))
    }

    /// Hands over slice after slice, of at most `most_rows`, each with the
    /// number of its first row. Returns whether all could be computed with.
    pub(crate) fn each(
        self,
        most_rows: usize,
        stage: Stage,
        observer: &dyn Observer,
        mut each: impl FnMut(usize, Rows<'_>) -> Result<(), dshap::Error>,
    ) -> Result<bool, Error> {
        let n_rows = self.numbers.n_rows();
        let row_bytes = 8 * self.numbers.n_columns() as u64;
        observer.begin(stage, row_bytes * n_rows as u64);
        let matrix = self.numbers.matrix(self.n_features).map(|matrix| self.view(matrix));
        let len = slice_rows(self.n_features, matrix.is_some()).min(most_rows).clamp(1, n_rows.max(1));
        let mut scratch = Scratch::new();
        for start in (0..n_rows).step_by(len) {
            if observer.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let len = len.min(n_rows - start);
            let rows = self.slice(matrix, start, len, &mut scratch);
            match rows.and_then(|rows| each(start, rows)) {
                Ok(()) => {}
                Err(dshap::Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) => return Ok(false),
            }
            observer.advance(row_bytes * (start + len) as u64, (start + len) as u64);
        }
        observer.end();
        Ok(true)
    }

    /// All rows at once, where they are few.
    pub(crate) fn few<T>(self, work: impl FnOnce(Rows<'_>) -> Result<T, dshap::Error>) -> Option<T> {
        let matrix = self.numbers.matrix(self.n_features).map(|matrix| self.view(matrix));
        let mut scratch = Scratch::new();
        self.slice(matrix, 0, self.numbers.n_rows(), &mut scratch).and_then(work).ok()
    }

    fn view(&self, matrix: Matrix<'a>) -> MatRef<'a, f64> {
        let (n, p, Matrix { cells, order, stride }) = (self.numbers.n_rows(), self.n_features, matrix);
        match order {
            Order::Rows => MatRef::from_row_major_slice_with_stride(cells, n, p, stride),
            Order::Columns => MatRef::from_column_major_slice_with_stride(cells, n, p, stride),
        }
    }

    fn slice<'s>(
        &self,
        matrix: Option<MatRef<'s, f64>>,
        start: usize,
        len: usize,
        scratch: &'s mut Scratch,
    ) -> Result<Rows<'s>, dshap::Error>
    where
        'a: 's,
    {
        let Scratch { x, y, weights } = scratch;
        let numbers: &'a dyn Numbers = self.numbers;
        let x = match matrix {
            Some(matrix) => matrix.subrows(start, len),
            None => {
                x.resize_with(len, self.n_features, |_, _| 0.0);
                let columns: Vec<_> = x.as_mut().col_iter_mut().enumerate().collect();
                let copy = |column: usize, cells: faer::ColMut<'_, f64>| {
                    let cells = cells.try_as_col_major_mut().expect("an owned matrix is column-major");
                    numbers.copy(column, start, cells.as_slice_mut());
                };
                if len * self.n_features < SLICE_CELLS / 64 {
                    columns.into_iter().for_each(|(column, cells)| copy(column, cells));
                } else {
                    columns.into_par_iter().for_each(|(column, cells)| copy(column, cells));
                }
                x.as_ref()
            }
        };
        let target = match self.labels {
            None => one_column(numbers, self.n_features, start, len, y),
            Some(labels) => classes(numbers, self.n_features, labels, start, len, y)?,
        };
        let rows = Rows::new(x, target)?;
        if !self.has_weights {
            return Ok(rows);
        }
        rows.with_weights(one_column(numbers, self.n_features + 1, start, len, weights))
    }
}

fn one_column<'s>(
    numbers: &'s dyn Numbers,
    column: usize,
    start: usize,
    len: usize,
    scratch: &'s mut Vec<f64>,
) -> &'s [f64] {
    match numbers.column(column) {
        Some(cells) => &cells[start..start + len],
        None => {
            scratch.resize(len, 0.0);
            numbers.copy(column, start, scratch);
            scratch
        }
    }
}

/// The classes of labels; an error, as for any cell that cannot be computed
/// with, where a label is not known.
fn classes<'s>(
    numbers: &dyn Numbers,
    column: usize,
    labels: &Labels,
    start: usize,
    len: usize,
    scratch: &'s mut Vec<f64>,
) -> Result<&'s [f64], dshap::Error> {
    scratch.resize(len, 0.0);
    numbers.copy(column, start, scratch);
    for (row, cell) in scratch.iter_mut().enumerate() {
        let unknown = dshap::Error::NotAClass { row: start + row, n_classes: labels.n_classes() };
        *cell = labels.class_of_number(*cell).ok_or(unknown)? as f64;
    }
    Ok(scratch)
}

/// Where cells are converted to.
struct Scratch {
    x: Mat<f64>,
    y: Vec<f64>,
    weights: Vec<f64>,
}

impl Scratch {
    fn new() -> Self {
        Self { x: Mat::new(), y: Vec::new(), weights: Vec::new() }
    }
}

/// Whole blocks, a power of two of them where there is room, so that moments of
/// slices are subtrees of those of the whole. What is in place takes no memory,
/// so there each thread gets its share; what is converted must stay small.
fn slice_rows(n_columns: usize, in_place: bool) -> usize {
    let threads = if in_place { rayon::current_num_threads() } else { 1 };
    let n_blocks = SLICE_CELLS * threads / n_columns.max(1) / BLOCK_ROWS;
    match n_blocks {
        0 if in_place => BLOCK_ROWS,
        0 => (SLICE_CELLS / n_columns.max(1)).max(256),
        n => BLOCK_ROWS << n.ilog2(),
    }
}
