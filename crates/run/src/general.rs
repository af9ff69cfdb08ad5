//! `general`: all rows in memory, one set of draws for all points.

use crate::Error;
use crate::fitted::FittedModel;
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::passes::Pass;
use dshap::linear::{GeneralOptions, GeneralValues};
use dshap::{Rows, Sizes, Values};
use dshap_io::Source;
use dshap_table::{Design, Encoded};
use faer::Mat;

/// Rows of a table, encoded.
#[derive(Debug, Clone)]
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

    /// Reads a whole reference.
    pub(crate) fn read(
        source: &Source,
        design: &Design,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let wanted = design.wanted_of_reference();
        let options = budget.scan_options(source, &wanted, design.n_encoded())?;
        let mut batches = Vec::new();
        let pass = Pass { source, wanted: &wanted, options, stage: Stage::Calibrate, observer };
        pass.run(|batch| {
            let encoded = design.encode_reference(&batch.rows);
            batches.push(encoded.map_err(|e| Error::at(e, source, batch.first_row))?.0);
            Ok(())
        })?;
        Self::new(batches, design.n_columns(), design)
    }

    /// All cells, column by column, and the targets.
    pub(crate) fn to_parts(&self) -> (Vec<f64>, Vec<f64>) {
        let cells = (0..self.x.ncols()).flat_map(|j| self.x.col_as_slice(j).iter().copied());
        (cells.collect(), self.y.clone())
    }

    /// Rows from their numbers, unless those are not finite or too few.
    pub(crate) fn from_parts(x: &[f64], y: Vec<f64>, n_columns: usize) -> Option<Self> {
        let n_rows = y.len();
        let finite = |cell: &f64| cell.is_finite();
        if n_rows.checked_mul(n_columns) != Some(x.len()) || !x.iter().chain(&y).all(finite) {
            return None;
        }
        Some(Self { x: Mat::from_fn(n_rows, n_columns, |i, j| x[j * n_rows + i]), y })
    }

    /// What is predicted of each row: a number, or that of its class.
    pub(crate) fn targets(&self) -> &[f64] {
        &self.y
    }

    /// Bytes of all cells and targets.
    pub(crate) fn n_bytes(&self) -> u64 {
        8 * self.y.len() as u64 * (self.x.ncols() as u64 + 1)
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// Some rows, some columns.
    pub(crate) fn select(&self, rows: &[usize], columns: &[usize]) -> Self {
        let x = Mat::from_fn(rows.len(), columns.len(), |i, j| self.x[(rows[i], columns[j])]);
        Self { x, y: rows.iter().map(|&row| self.y[row]).collect() }
    }

    /// The features, one column each.
    pub(crate) fn x(&self) -> &Mat<f64> {
        &self.x
    }

    /// The features, to be changed.
    pub(crate) fn x_mut(&mut self) -> &mut Mat<f64> {
        &mut self.x
    }

    /// The targets.
    pub(crate) fn y(&self) -> &[f64] {
        &self.y
    }

    /// The targets, to be changed.
    pub(crate) fn y_mut(&mut self) -> &mut [f64] {
        &mut self.y
    }

    pub(crate) fn rows(&self) -> Result<Rows<'_>, dshap::Error> {
        Rows::new(self.x.as_ref(), &self.y)
    }
}

/// Values `points` against `reference`, or the reference rows against each
/// other.
pub(crate) fn draw(
    model: &FittedModel,
    design: &Design,
    reference: &Held,
    points: Option<&Held>,
    sizes: Sizes,
    (options, by_class): (GeneralOptions, bool),
    observer: &dyn Observer,
) -> Result<(GeneralValues, Vec<String>), dshap::Error> {
    let n_rows = reference.y.len();
    if points.is_none() && sizes.max() > n_rows {
        // Said before a larger limit, that of points which are not among them.
        return Err(dshap::Error::SetsTooLarge { max: sizes.max(), most: n_rows });
    }
    let valuer = model.drawer(reference.rows()?, sizes, options, by_class)?;
    observer.begin(Stage::Draw, (options.max_rounds * valuer.n_fits()) as u64);
    let watch = |done: usize, _: usize| {
        observer.advance(done as u64, done as u64);
        !observer.is_interrupted()
    };
    let drawn = valuer.values(points.map(Held::rows).transpose()?, &watch)?;
    observer.end();
    Ok((drawn, valuer.warnings(design)))
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
