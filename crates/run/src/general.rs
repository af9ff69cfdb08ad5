//! `general`: all rows in memory, one set of draws for all points.

use crate::Error;
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::passes::Pass;
use dshap::linear::{GeneralOptions, GeneralValuer, GeneralValues, LinearFit};
use dshap::{Rows, Sizes, Values};
use dshap_io::Source;
use dshap_table::{Design, Encoded, Wanted};
use faer::Mat;

/// Rows of a table, encoded.
pub(crate) struct Held {
    x: Mat<f64>,
    y: Vec<f64>,
}

impl Held {
    /// Joins batches; refuses weights, which sets of rows do not have.
    pub(crate) fn new(batches: Vec<Encoded>, n_columns: usize, design: &Design) -> Result<Self, Error> {
        if batches.iter().any(|batch| batch.weights.is_some()) {
            return Err(Error::core(dshap::Error::Weighted, design));
        }
        let n_rows = batches.iter().map(|batch| batch.y.len()).sum();
        let mut x = Mat::zeros(n_rows, n_columns);
        let mut y = Vec::with_capacity(n_rows);
        for batch in batches {
            for j in 0..n_columns {
                x.col_as_slice_mut(j)[y.len()..y.len() + batch.y.len()]
                    .copy_from_slice(batch.x.col_as_slice(j));
            }
            y.extend(batch.y);
        }
        Ok(Self { x, y })
    }

    /// Reads a whole table.
    pub(crate) fn read(
        source: &Source,
        design: &Design,
        wanted: &[Wanted],
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let options = budget.scan_options(source, wanted, design.n_columns())?;
        let mut batches = Vec::new();
        let pass = Pass { source, wanted, options, stage: Stage::Calibrate, observer };
        pass.run(|batch| {
            batches.push(design.encode(&batch.rows).map_err(|e| Error::at(e, source, batch.first_row))?);
            Ok(())
        })?;
        Self::new(batches, design.n_columns(), design)
    }

    fn rows(&self) -> Result<Rows<'_>, dshap::Error> {
        Rows::new(self.x.as_ref(), &self.y)
    }
}

/// Values `points` against `reference`, or the reference rows against each
/// other.
pub(crate) fn draw(
    fit: &LinearFit,
    reference: &Held,
    points: Option<&Held>,
    sizes: Sizes,
    options: GeneralOptions,
    observer: &dyn Observer,
) -> Result<(GeneralValues, Vec<dshap::Warning>), dshap::Error> {
    let n_rows = reference.y.len();
    if points.is_none() && sizes.max() > n_rows {
        // Said before a larger limit, that of points which are not among them.
        return Err(dshap::Error::SetsTooLarge { max: sizes.max(), most: n_rows });
    }
    let valuer = GeneralValuer::new(fit.clone(), reference.rows()?, sizes, options)?;
    observer.begin(Stage::Draw, options.max_rounds as u64);
    let watch = |done: usize, _: usize| {
        observer.advance(done as u64, done as u64);
        !observer.is_interrupted()
    };
    let drawn = match points {
        Some(points) => valuer.values(points.rows()?, &watch)?,
        None => valuer.leave_one_out(&watch)?,
    };
    observer.end();
    Ok((drawn, valuer.warnings()))
}

/// The values of `len` rows from `start` on.
pub(crate) fn slice(values: &Values, start: usize, len: usize) -> Values {
    let cut = |column: &[f64]| column[start..start + len].to_vec();
    Values {
        value: cut(&values.value),
        std_error: values.std_error.as_deref().map(cut),
        parts: values.parts.iter().map(|(part, column)| (*part, cut(column))).collect(),
        notes: values
            .notes
            .iter()
            .filter(|(row, _)| (start..start + len).contains(row))
            .map(|&(row, note)| (row - start, note))
            .collect(),
        truncation: None,
    }
}
