//! Density: a reference, or a sample of it, that is smoothed.

use super::reservoir::Reservoir;
use super::{ColumnStats, RowValuer};
use crate::Error;
use crate::density_choice::DensityChoice;
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::reference::{RowCounts, each_batch};
use crate::request::Method;
use dshap::density::{DensityBuilder, DensityFit, DensityMethod, DensityOptions, DensityValuer};
use dshap::{Rows, Sizes, Values};
use dshap_io::Source;
use dshap_table::Design;
use faer::Mat;
use std::sync::Arc;

/// Parts of a thousand that cross-validation is watched in.
const WATCHED: u64 = 1000;

/// A smoothed reference.
#[derive(Debug, Clone)]
pub(crate) struct DensityModel {
    pub(crate) fit: Arc<DensityFit>,
    /// What was asked for.
    pub(crate) choice: DensityChoice,
    /// Over all rows of the reference, column by column.
    pub(crate) columns: ColumnStats,
    /// Rows of the reference, of which the fit may hold a sample.
    pub(crate) n_reference: usize,
    /// The numbers of the rows in that sample, where they are known.
    pub(crate) sampled: Option<Arc<[u64]>>,
}

impl DensityModel {
    /// Whether the fit holds some of the reference rows only.
    pub(crate) fn is_sample(&self) -> bool {
        self.fit.n_rows() < self.n_reference
    }

    /// Reads a reference and smooths it.
    pub(crate) fn learn(
        source: &Source,
        design: &Design,
        choice: DensityChoice,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<(Self, RowCounts), Error> {
        let n_columns = design.n_columns();
        let most = choice.most_rows();
        // Rows are there twice while they are packed. A small file has few, however it is written.
        let held = 16 * most as u64 * n_columns as u64;
        let budget = budget.reserving(held.min(64 * source.n_bytes()));
        let mut reservoir = Reservoir::new(n_columns, most, choice.seed.unwrap_or(0));
        let mut columns = ColumnSums::new(n_columns);
        let rows = each_batch(source, design, budget, Stage::Fit, observer, |rows| {
            columns.add(rows);
            reservoir.look_at(rows);
            Ok(())
        })?;
        if reservoir.n_seen() == 0 {
            return Err(Error::NothingLeft);
        }
        let n_reference = reservoir.n_seen() as usize;
        let core = |error| Error::core(error, design);
        let mut builder = DensityBuilder::new(n_columns);
        let sampled = reservoir.drain(|rows| builder.push(rows)).map_err(core)?;
        let columns = columns.finish();
        if sampled.is_some() {
            // What a column is like is known of all rows, also where the sample has one value of it.
            builder = builder.scaled_by(&columns.mean, &columns.std_dev).map_err(core)?;
        }
        let fit = smooth(builder, choice.options(), observer).map_err(core)?;
        let model =
            Self { fit: Arc::new(fit), choice, columns, n_reference, sampled: sampled.map(Arc::from) };
        Ok((model, rows))
    }

    pub(super) fn row_valuer(
        &self,
        design: &Design,
        method: Method,
        sizes: Sizes,
        std_error: bool,
    ) -> Result<RowValuer, Error> {
        let method = method.density().ok_or_else(|| Error::Misplaced {
            what: format!("`--method {}` does not value densities", method.name()),
        })?;
        let valuer = DensityValuer::new(self.fit.clone(), sizes.max(), method);
        let valuer = valuer.map_err(|e| Error::core(e, design))?.with_std_error(std_error);
        Ok(RowValuer::Density(DensityRows {
            valuer,
            sizes,
            sampled: self.sampled.clone(),
            is_whole: !self.is_sample(),
        }))
    }

    /// What is doubtful beyond what core says, in words.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.is_sample() && self.choice.samples.is_none() {
            said.push(format!(
                "the reference has {} rows, and values are against {} of them, drawn at random (seed {}); \
                 `--samples N` says how many, and time grows with their number",
                self.n_reference,
                self.fit.n_rows(),
                self.choice.seed.unwrap_or(0)
            ));
        }
        if self.fit.log_unit() != 0.0 {
            said.push(format!(
                "densities with so many columns and this bandwidth are beyond the range of doubles: values, and \
                 what comes with them, are in units of e^{}; `log_density` is as it is",
                self.fit.log_unit()
            ));
        }
        said
    }
}

/// Smooths rows, watched while bandwidths are tried.
pub(crate) fn smooth(
    builder: DensityBuilder,
    options: DensityOptions,
    observer: &dyn Observer,
) -> Result<DensityFit, dshap::Error> {
    let n_rows = builder.n_rows() as u64;
    observer.begin(Stage::Bandwidth, WATCHED);
    let watch = |done: usize, total: usize| {
        observer.advance(WATCHED * done as u64 / total.max(1) as u64, n_rows);
        !observer.is_interrupted()
    };
    let fit = builder.finish_while(options, &watch);
    observer.end();
    fit
}

/// Values rows against a smoothed reference.
#[derive(Debug)]
pub(crate) struct DensityRows {
    pub(super) valuer: DensityValuer,
    pub(super) sizes: Sizes,
    sampled: Option<Arc<[u64]>>,
    is_whole: bool,
}

impl DensityRows {
    /// As [`RowValuer::values`].
    pub(super) fn values(
        &self,
        rows: Rows<'_>,
        first_row: u64,
        leave_one_out: bool,
    ) -> Result<Values, dshap::Error> {
        if !leave_one_out {
            return self.valuer.values_from(rows.x(), first_row);
        }
        let Some(sampled) = &self.sampled else {
            if !self.is_whole {
                let what = "it is not known which rows of the reference the sample is of";
                return Err(dshap::Error::BadOption { what });
            }
            return self.valuer.leave_one_out(first_row as usize, rows.len());
        };
        // Rows of the sample stand in it in their order; the others are met by all of it.
        let place = |row: u64| sampled.partition_point(|&number| number < row);
        let (start, end) = (place(first_row), place(first_row + rows.len() as u64));
        let mut is_inside = vec![false; rows.len()];
        sampled[start..end].iter().for_each(|&number| is_inside[(number - first_row) as usize] = true);
        let others: Vec<usize> = (0..rows.len()).filter(|&row| !is_inside[row]).collect();
        let x = Mat::from_fn(others.len(), rows.n_features(), |i, j| rows.x()[(others[i], j)]);
        // Random streams are numbered: first those of the sample, then those of the others.
        let stream = sampled.len() as u64 + first_row - start as u64;
        let outside = self.valuer.values_from(x.as_ref(), stream)?;
        let inside = self.valuer.leave_one_out(start, end - start)?;
        Ok(interleaved(&inside, &outside, &is_inside))
    }
}

/// One row after the other from either.
fn interleaved(inside: &Values, outside: &Values, is_inside: &[bool]) -> Values {
    let merge = |inside: &[f64], outside: &[f64]| -> Vec<f64> {
        let (mut inside, mut outside) = (inside.iter(), outside.iter());
        let next = |is_inside: &bool| if *is_inside { inside.next() } else { outside.next() };
        is_inside.iter().filter_map(next).copied().collect()
    };
    let errors = inside.std_error.as_ref().zip(outside.std_error.as_ref());
    let parts = inside.parts.iter().zip(&outside.parts);
    Values {
        value: merge(&inside.value, &outside.value),
        std_error: errors.map(|(inside, outside)| merge(inside, outside)),
        parts: parts.map(|((part, inside), (_, outside))| (*part, merge(inside, outside))).collect(),
        ..Values::default()
    }
}

/// Sums over rows, each less the first one: the same bits however they come.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSums {
    n_rows: u64,
    first: Vec<f64>,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl ColumnSums {
    pub(crate) fn new(n_columns: usize) -> Self {
        let zeros = || vec![0.0; n_columns];
        Self { n_rows: 0, first: zeros(), sum: zeros(), squares: zeros() }
    }

    pub(crate) fn add(&mut self, rows: Rows<'_>) {
        if rows.is_empty() {
            return;
        }
        for (j, cells) in rows.x().col_iter().enumerate() {
            if self.n_rows == 0 {
                self.first[j] = cells[0];
            }
            for cell in cells.iter() {
                let difference = cell - self.first[j];
                self.sum[j] += difference;
                self.squares[j] += difference * difference;
            }
        }
        self.n_rows += rows.len() as u64;
    }

    pub(crate) fn finish(self) -> ColumnStats {
        let n = self.n_rows.max(1) as f64;
        let mean = self.first.iter().zip(&self.sum).map(|(first, sum)| first + sum / n);
        let var = |(squares, sum): (&f64, &f64)| ((squares - sum * sum / n) / n).max(0.0);
        ColumnStats {
            mean: mean.collect(),
            std_dev: self.squares.iter().zip(&self.sum).map(|sums| var(sums).sqrt()).collect(),
        }
    }
}

impl Method {
    /// What core calls it, if it values densities.
    pub(crate) fn density(self) -> Option<DensityMethod> {
        match self {
            Method::Closed => Some(DensityMethod::Closed),
            Method::MonteCarlo(algorithm) => Some(DensityMethod::Algorithm5(algorithm)),
            _ => None,
        }
    }
}
