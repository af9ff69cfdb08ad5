//! Rows of a batch as numbers.

use super::{Design, DesignParts, Encoding, Missing, Unseen};
use crate::{Error, ReadAs, UnknownLabel, Wanted, days_of};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use faer::Mat;
use rayon::prelude::*;

/// From this many cells on, features are encoded on all threads.
const CELLS_FOR_THREADS: usize = 1 << 18;

/// Rows of a batch as numbers.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// One row per usable row of the batch.
    pub x: Mat<f64>,
    /// Their targets: the number of the class if targets are labels, 0 if there is no
    /// target.
    pub y: Vec<f64>,
    /// Their weights, where the batch has them.
    pub weights: Option<Vec<f64>>,
    /// Missing cells that were filled with a mean.
    pub n_filled: u64,
    /// The rows of the batch that remain, if some were left out.
    pub remaining: Option<Vec<usize>>,
}

impl Design {
    /// Turns a batch, read as [`wanted`](Self::wanted) or
    /// [`wanted_of_reference`](Self::wanted_of_reference), into numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::UnseenLevel`], [`Error::UnknownLabel`],
    /// [`Error::NotFinite`], [`Error::BadWeight`].
    pub fn encode(&self, batch: &RecordBatch) -> Result<Encoded, Error> {
        self.encode_into(Mat::new(), batch)
    }

    /// As [`encode`](Self::encode), reusing the memory of a matrix that is no longer
    /// needed: new memory costs as much as filling it.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_into(&self, spare: Mat<f64>, batch: &RecordBatch) -> Result<Encoded, Error> {
        self.encode_rows(spare, batch, self.remaining(batch))
    }

    /// As [`encode`](Self::encode), without rows of weight 0, which are not in
    /// the reference; also returns how many there were.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_reference(&self, batch: &RecordBatch) -> Result<(Encoded, u64), Error> {
        self.encode_reference_into(Mat::new(), batch)
    }

    /// As [`encode_reference`](Self::encode_reference), reusing the memory of a
    /// matrix that is no longer needed.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_reference_into(
        &self,
        spare: Mat<f64>,
        batch: &RecordBatch,
    ) -> Result<(Encoded, u64), Error> {
        let remaining = self.remaining(batch);
        let Some(weights) = batch.columns().get(self.parts.weight_index()) else {
            return Ok((self.encode_rows(spare, batch, remaining)?, 0));
        };
        let weights = weights.as_primitive::<Float64Type>();
        let is_weightless = |row: &usize| weights.is_valid(*row) && weights.value(*row) == 0.0;
        let rows = remaining.clone().unwrap_or_else(|| (0..batch.num_rows()).collect());
        let n_weightless = rows.iter().filter(|row| is_weightless(row)).count() as u64;
        if n_weightless == 0 {
            return Ok((self.encode_rows(spare, batch, remaining)?, 0));
        }
        let weighty = rows.into_iter().filter(|row| !is_weightless(row)).collect();
        Ok((self.encode_rows(spare, batch, Some(weighty))?, n_weightless))
    }

    fn encode_rows(
        &self,
        mut x: Mat<f64>,
        batch: &RecordBatch,
        remaining: Option<Vec<usize>>,
    ) -> Result<Encoded, Error> {
        let n_rows = remaining.as_ref().map_or(batch.num_rows(), Vec::len);
        let rows = Remaining { rows: remaining.as_deref(), n_rows };

        x.resize_with(n_rows, self.encoded.len(), |_, _| 0.0);
        let n_filled = self.encode_features(batch, rows, &mut x)?;
        let y = match &self.parts.target {
            Some(target) => self.targets(target, batch.column(self.parts.features.len()), rows)?,
            None => vec![0.0; n_rows],
        };
        let weight_index = self.parts.weight_index();
        let weights = match batch.columns().get(weight_index) {
            Some(cells) => Some(self.copy_weights(weight_index, cells, rows)?),
            None => None,
        };
        if let Some(projection) = &self.parts.projection {
            x = projection.apply(x.as_ref());
        }
        Ok(Encoded { x, y, weights, n_filled, remaining })
    }

    /// Encodes each feature into its columns of `x`; returns how many cells were filled.
    fn encode_features(
        &self,
        batch: &RecordBatch,
        rows: Remaining<'_>,
        x: &mut Mat<f64>,
    ) -> Result<u64, Error> {
        let is_large = rows.n_rows * self.encoded.len() >= CELLS_FOR_THREADS;
        let mut columns = x.col_iter_mut().map(|column| {
            column.try_as_col_major_mut().expect("an owned matrix is column-major").as_slice_mut()
        });
        let mut jobs: Vec<(usize, &Encoding, Vec<&mut [f64]>)> =
            Vec::with_capacity(self.parts.encodings.len());
        for (index, encoding) in self.parts.encodings.iter().enumerate() {
            let width = self.parts.width(encoding);
            jobs.push((index, encoding, columns.by_ref().take(width).collect()));
        }
        let encode = |(index, encoding, mut out): (usize, &Encoding, Vec<&mut [f64]>)| {
            self.encode_feature(index, encoding, batch.column(index), rows, &mut out)
        };
        let n_filled: Vec<Result<u64, Error>> = match is_large {
            true => jobs.into_par_iter().map(encode).collect(),
            false => jobs.into_iter().map(encode).collect(),
        };
        // In order, so that the error is that of the first column with one.
        n_filled.into_iter().sum()
    }

    /// Encodes one feature into its columns; returns how many cells were filled.
    fn encode_feature(
        &self,
        index: usize,
        encoding: &Encoding,
        cells: &ArrayRef,
        rows: Remaining<'_>,
        out: &mut [&mut [f64]],
    ) -> Result<u64, Error> {
        match encoding {
            Encoding::Number { fill } => {
                out.iter_mut().map(|out| self.copy_numbers(index, cells, *fill, rows, out)).sum()
            }
            Encoding::Date { form, fill, .. } => {
                let (dates, n_missing) = self.dates(index, cells, fill.is_some(), rows)?;
                for (part, out) in out.iter_mut().enumerate() {
                    let filled = fill.as_ref().map_or(f64::NAN, |fill| fill[part]);
                    for (cell, days) in out.iter_mut().zip(&dates) {
                        *cell = days.map_or(filled, |days| form.numbers(days)[part]);
                    }
                }
                Ok(n_missing)
            }
            Encoding::OneHot { fill, levels } => {
                let codes = self.codes(index, cells, levels, fill.is_some(), rows)?;
                let first_level = self.parts.first_level();
                for (place, out) in out.iter_mut().enumerate() {
                    let filled = fill.as_ref().map_or(f64::NAN, |fill| fill[place]);
                    for (cell, code) in out.iter_mut().zip(&codes) {
                        *cell = match code {
                            Code::Level(code) => f64::from(*code == first_level + place),
                            Code::Unseen => 0.0,
                            Code::Missing => filled,
                        };
                    }
                }
                Ok(codes.iter().filter(|code| matches!(code, Code::Missing)).count() as u64)
            }
        }
    }

    fn targets(&self, target: &Wanted, cells: &ArrayRef, rows: Remaining<'_>) -> Result<Vec<f64>, Error> {
        let (index, mut y) = (self.parts.features.len(), vec![0.0; rows.n_rows]);
        let Some(labels) = &self.parts.labels else {
            self.copy_numbers(index, cells, None, rows, &mut y)?;
            return Ok(y);
        };
        let unknown = |i: usize, label: String| Error::UnknownLabel {
            row: Some(rows.row(i)),
            unknown: Box::new(UnknownLabel { name: self.name(index), label, labels: labels.words() }),
        };
        if target.read_as == ReadAs::Text {
            let cells = cells.as_string::<i32>();
            for (i, y) in y.iter_mut().enumerate() {
                let row = rows.row(i);
                if !cells.is_valid(row) {
                    return Err(self.missing_at(index, row));
                }
                let class = labels.class_of_text(cells.value(row));
                *y = class.ok_or_else(|| unknown(i, cells.value(row).into()))? as f64;
            }
        } else {
            self.copy_numbers(index, cells, None, rows, &mut y)?;
            for (i, y) in y.iter_mut().enumerate() {
                let class = labels.class_of_number(*y);
                *y = class.ok_or_else(|| unknown(i, labels.word_of_number(*y)))? as f64;
            }
        }
        Ok(y)
    }

    fn copy_weights(&self, index: usize, cells: &ArrayRef, rows: Remaining<'_>) -> Result<Vec<f64>, Error> {
        let mut weights = vec![0.0; rows.n_rows];
        self.copy_numbers(index, cells, None, rows, &mut weights)?;
        let is_bad = |&weight: &f64| weight != 0.0 && !(1e-100..=1e100).contains(&weight);
        match weights.iter().position(is_bad) {
            Some(i) => Err(Error::BadWeight { row: rows.row(i), name: self.name(index), weight: weights[i] }),
            None => Ok(weights),
        }
    }

    /// The rows without a missing cell, if the others are left out and there are any. A row
    /// without a target is left out whatever is done with missing cells.
    fn remaining(&self, batch: &RecordBatch) -> Option<Vec<usize>> {
        let needed = match self.parts.missing {
            Missing::Drop => batch.columns(),
            Missing::Error | Missing::Mean => {
                let target = self.parts.features.len();
                &batch.columns()[target..target + usize::from(self.parts.target.is_some())]
            }
        };
        needed.iter().any(|column| column.null_count() > 0).then(|| {
            (0..batch.num_rows()).filter(|&row| needed.iter().all(|column| column.is_valid(row))).collect()
        })
    }

    fn name(&self, index: usize) -> String {
        let DesignParts { features, target, weight, .. } = &self.parts;
        let columns = features.iter().chain(target).chain(weight);
        columns.map(|column| column.name.clone()).nth(index).unwrap_or_default()
    }

    fn missing_at(&self, index: usize, row: usize) -> Error {
        Error::Missing { row, name: self.name(index), can_fill: index < self.parts.features.len() }
    }

    fn copy_numbers(
        &self,
        index: usize,
        cells: &ArrayRef,
        fill: Option<f64>,
        rows: Remaining<'_>,
        out: &mut [f64],
    ) -> Result<u64, Error> {
        let cells = cells.as_primitive::<Float64Type>();
        let (mut n_filled, mut is_finite) = (0, true);
        if rows.rows.is_none() && cells.null_count() == 0 {
            // One sweep over memory, without a branch in it.
            for (out, &cell) in out.iter_mut().zip(cells.values()) {
                *out = cell;
                is_finite &= cell.is_finite();
            }
        } else {
            for (i, out) in out.iter_mut().enumerate() {
                let row = rows.row(i);
                *out = if cells.is_valid(row) {
                    cells.value(row)
                } else {
                    n_filled += 1;
                    fill.ok_or_else(|| self.missing_at(index, row))?
                };
                is_finite &= out.is_finite();
            }
        }
        if is_finite {
            return Ok(n_filled);
        }
        let i = out.iter().position(|cell| !cell.is_finite()).unwrap_or(0);
        Err(Error::NotFinite { row: rows.row(i), name: self.name(index) })
    }

    /// Days of the dates of a column, none for those that are filled, and how many these are.
    fn dates(
        &self,
        index: usize,
        cells: &ArrayRef,
        has_fill: bool,
        rows: Remaining<'_>,
    ) -> Result<(Vec<Option<f64>>, u64), Error> {
        let cells = cells.as_string::<i32>();
        let mut n_missing = 0;
        let of_row = |i: usize| {
            let row = rows.row(i);
            if !cells.is_valid(row) {
                n_missing += 1;
                return if has_fill { Ok(None) } else { Err(self.missing_at(index, row)) };
            }
            let text = cells.value(row);
            let not_a_date = || Error::NotADate { row, name: self.name(index), text: text.into() };
            days_of(text).map(Some).ok_or_else(not_a_date)
        };
        let days = (0..rows.n_rows).map(of_row).collect::<Result<_, _>>()?;
        Ok((days, n_missing))
    }

    fn codes(
        &self,
        index: usize,
        cells: &ArrayRef,
        levels: &[String],
        has_fill: bool,
        rows: Remaining<'_>,
    ) -> Result<Vec<Code>, Error> {
        let cells = cells.as_string::<i32>();
        let pooled = self.pooled[index];
        (0..rows.n_rows)
            .map(|i| {
                let row = rows.row(i);
                if !cells.is_valid(row) {
                    return if has_fill { Ok(Code::Missing) } else { Err(self.missing_at(index, row)) };
                }
                let cell = cells.value(row);
                let by_spelling = |_| {
                    let twin = self.respelled[index].iter().find(|(level, _)| level == cell);
                    twin.map(|(_, code)| *code).ok_or(())
                };
                let known = levels.binary_search_by(|level| level.as_str().cmp(cell)).or_else(by_spelling);
                match known.or(pooled.ok_or(())) {
                    Ok(code) => Ok(Code::Level(code)),
                    Err(()) if self.parts.unseen == Unseen::Zero => Ok(Code::Unseen),
                    Err(()) => Err(Error::UnseenLevel { row, name: self.name(index), level: cell.into() }),
                }
            })
            .collect()
    }
}

/// Maps encoded rows to rows of the batch.
#[derive(Clone, Copy)]
struct Remaining<'a> {
    rows: Option<&'a [usize]>,
    n_rows: usize,
}

impl Remaining<'_> {
    fn row(&self, i: usize) -> usize {
        self.rows.map_or(i, |rows| rows[i])
    }
}

enum Code {
    Level(usize),
    Unseen,
    Missing,
}
