//! Theorem 5 and Examples 1 and 2 for given numbers.

use super::table::{all_of, carried_fields};
use super::{case_error, unusable};
use crate::Receiver;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use dshap::density::{BANDWIDTH_RANGE, Border, Kernel, PairIntegrals, SizeWeights, UniformExample};
use dshap_io::{ScanOptions, Source};
use dshap_models::{Error, Observer, Unwatched};
use dshap_table::{ReadAs, Wanted};
use rayon::prelude::*;
use std::sync::Arc;

/// What Theorem 5 takes beside rows, as they are: no scaling, no column left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityCase {
    kernel: Kernel,
    bandwidth: f64,
    m: usize,
}

/// What Example 2 comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SynergyForms {
    /// The smallest distance at which two points are worth at least as much
    /// together as apart; none if no distance will do.
    pub threshold: Option<f64>,
    /// The probability that two independent points are, where the forms hold.
    pub probability: f64,
    /// The probability as printed, also of points near the ends of `[0, 1]`.
    pub printed: f64,
}

/// What Example 1 comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairForms {
    /// The value of both points as one set.
    pub value: f64,
    /// The value of the first point.
    pub first: f64,
    /// The value of the second point.
    pub second: f64,
    /// The value of both less that of each.
    pub synergy: f64,
}

/// The numbers of Theorem 5 that depend on sizes only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeForms {
    /// `A(n, m)`
    pub a: f64,
    /// `B(n, m)`
    pub b: f64,
}

impl SizeForms {
    /// For sets of `n` rows that join sets of up to `m − 1`.
    ///
    /// # Errors
    ///
    /// What is wrong with the sizes.
    pub fn new(n: usize, m: usize) -> Result<Self, String> {
        let weights = SizeWeights::new(n, m).map_err(|error| error.to_string())?;
        Ok(Self { a: weights.own, b: weights.joint })
    }
}

/// As printed, or with what the borders of `[0, 1]` take.
fn uniform(h: f64, m: usize, c_den: f64, with_border: bool) -> Result<UniformExample, String> {
    let border = if with_border { Border::Exact } else { Border::Printed };
    UniformExample::new(h, m, c_den, border).map_err(|error| error.to_string())
}

impl PairForms {
    /// For points `z` on `[h/2, 1 − h/2]`, bandwidth `h`, sets of up to `m` rows and
    /// `C_den`; as printed, or with what the borders of `[0, 1]` take.
    ///
    /// # Errors
    ///
    /// What is wrong with the numbers.
    pub fn new(z: [f64; 2], h: f64, m: usize, c_den: f64, with_border: bool) -> Result<Self, String> {
        let example = uniform(h, m, c_den, with_border)?;
        let [first, second] = [example.point(z[0]), example.point(z[1])];
        let wrong = |error: dshap::Error| error.to_string();
        let (first, second) = (first.map_err(wrong)?, second.map_err(wrong)?);
        let value = example.pair(z[0], z[1]).map_err(wrong)?;
        Ok(Self { value, first, second, synergy: value - first - second })
    }
}

impl SynergyForms {
    /// For bandwidth `h`, sets of up to `m` rows and `C_den`; as printed, or with
    /// what the borders of `[0, 1]` take.
    ///
    /// # Errors
    ///
    /// What is wrong with the numbers.
    pub fn new(h: f64, m: usize, c_den: f64, with_border: bool) -> Result<Self, String> {
        let example = uniform(h, m, c_den, with_border)?;
        let (probability, printed) = (example.synergy_probability(), example.printed_probability());
        Ok(Self { threshold: example.threshold(), probability, printed })
    }
}

impl DensityCase {
    /// Checks the numbers.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn new(kernel: Kernel, bandwidth: f64, m: usize) -> Result<Self, String> {
        if !BANDWIDTH_RANGE.contains(&bandwidth) {
            return Err(format!("the bandwidth must be a number from 1e-30 to 1e30, got {bandwidth}"));
        }
        SizeWeights::new(1, m).map_err(|error| error.to_string())?;
        Ok(Self { kernel, bandwidth, m })
    }

    /// The value of some rows as one set, without the constant that depends on
    /// their number only; cells are row by row, `dim` to a row.
    ///
    /// ```text
    /// ν(S*) = −A n⁻² Σᵢₗ (k*k)_h(zᵢ − zₗ) + (2A + B) mean k_h(zᵢ − z̃_b) − B mean (k*k)_h(zᵢ − z̃_b)
    /// ```
    ///
    /// It is NaN once the observer has interrupted it: large sets take long.
    ///
    /// # Errors
    ///
    /// What is wrong with the rows.
    pub fn value(
        &self,
        members: &[f64],
        reference: &[f64],
        dim: usize,
        observer: &dyn Observer,
    ) -> Result<f64, String> {
        if dim == 0 || reference.is_empty() {
            return Err("the reference is empty".into());
        }
        let weights = SizeWeights::new(members.len() / dim, self.m).map_err(|error| error.to_string())?;
        let (a, b) = (weights.own, weights.joint);
        let mean = |rows: &[f64], of: fn(Kernel, f64) -> f64| {
            let each = |member: &[f64]| -> f64 {
                if observer.is_interrupted() {
                    return f64::NAN;
                }
                rows.chunks_exact(dim).map(|row| self.product(member, row, of)).sum()
            };
            let total: Vec<f64> = members.par_chunks_exact(dim).map(each).collect();
            total.iter().sum::<f64>() / (total.len() * (rows.len() / dim)) as f64
        };
        let own = mean(members, Kernel::convolved_at);
        let plain = mean(reference, Kernel::at);
        let convolved = mean(reference, Kernel::convolved_at);
        Ok(-a * own + (2.0 * a + b) * plain - b * convolved)
    }

    /// `C_den − ∫p²` with which sets of `n` rows have no constant, from all pairs of
    /// reference rows.
    fn constant(&self, n: usize, reference: &[f64], dim: usize) -> Result<f64, String> {
        let rows: Vec<&[f64]> = reference.chunks_exact(dim.max(1)).collect();
        if rows.len() < 2 {
            return Err("the reference has no pairs of rows".into());
        }
        let weights = SizeWeights::new(n, self.m).map_err(|error| error.to_string())?;
        let n_pairs = (rows.len() * (rows.len() - 1)) as f64 / 2.0;
        let mean = |of: fn(Kernel, f64) -> f64| {
            let with_later = |i: usize| rows[i + 1..].iter().map(|row| self.product(rows[i], row, of)).sum();
            let sums: Vec<f64> = (0..rows.len()).into_par_iter().map(with_later).collect();
            sums.iter().sum::<f64>() / n_pairs
        };
        let integrals = PairIntegrals {
            cross: mean(Kernel::at),
            smoothed_square: mean(Kernel::convolved_at),
            kernel_square: self.product(rows[0], rows[0], Kernel::convolved_at),
        };
        // An offset counts once in m.
        Ok(-integrals.constant(weights, 0.0) * self.m as f64)
    }

    /// `h^{−d} Π k(uᵢ/h)`
    fn product(&self, one: &[f64], other: &[f64], of: fn(Kernel, f64) -> f64) -> f64 {
        let h = self.bandwidth;
        one.iter().zip(other).map(|(one, other)| of(self.kernel, (one - other) / h) / h).product()
    }
}

/// `C_den − ∫p²` for sets of `n` rows, with the integrals of a table of reference rows:
/// the constant of the paper's appendix C.3, with which values have no constant but those
/// of their rows. `∫p²` itself is not estimated.
///
/// # Errors
///
/// [`Error::Case`] for cells that are no numbers, whatever is wrong with the file, and a
/// reference of fewer than two rows.
pub fn density_constant(reference: &[String], case: DensityCase, n: usize) -> Result<f64, Error> {
    let source = Source::open(reference)?;
    let features = features_of(&source);
    let rows = reference_cells(&source, &features)?;
    case.constant(n, &rows, features.len()).map_err(|reason| case_error(&source, 0, reason))
}

/// All columns, as numbers.
fn features_of(source: &Source) -> Vec<Wanted> {
    source.schema().names().map(|name| Wanted { name: name.into(), read_as: ReadAs::Number }).collect()
}

/// The cells of all rows, row by row.
fn reference_cells(source: &Source, features: &[Wanted]) -> Result<Vec<f64>, Error> {
    let mut rows = Vec::new();
    for batch in source.scan(features, ScanOptions::default())? {
        let batch = batch.map_err(unusable)?;
        rows.extend(cells(&batch.rows, 0, features, source, batch.first_row)?);
    }
    Ok(rows)
}

/// Values the rows of a table by Theorem 5 itself, against those of another with
/// the same columns: the rows with `value` added, or, `as_set`, one row with the
/// number of rows and the value of all of them as one set.
///
/// # Errors
///
/// [`Error::Case`] for cells that are no numbers, and whatever is wrong with a file.
pub fn density_cases(
    reference: &[String],
    points: &[String],
    case: DensityCase,
    as_set: bool,
    receiver: &mut dyn Receiver,
) -> Result<(), Error> {
    let reference = Source::open(reference)?;
    let points = Source::open(points)?;
    let features = features_of(&reference);
    let rows = reference_cells(&reference, &features)?;
    let dim = features.len();
    let mut wanted = all_of(&points);
    let n_carried = wanted.len();
    wanted.extend(features.iter().cloned());
    let value = Field::new("value", DataType::Float64, true);
    let mut fields = match as_set {
        true => vec![Field::new("n", DataType::UInt64, false)],
        false => carried_fields(&points, &wanted, n_carried, &["value"])?,
    };
    fields.push(value);
    let schema = Arc::new(Schema::new(fields));
    receiver.begin(&schema)?;
    let batch_of = |columns: Vec<ArrayRef>| {
        RecordBatch::try_new(schema.clone(), columns).expect("columns were built to the schema")
    };
    let mut members = Vec::new();
    for batch in points.scan(&wanted, ScanOptions::default())? {
        let batch = batch.map_err(unusable)?;
        let cells = cells(&batch.rows, n_carried, &features, &points, batch.first_row)?;
        if as_set {
            members.extend(cells);
            continue;
        }
        let value = |point: &[f64]| case.value(point, &rows, dim, &Unwatched);
        let values: Result<Vec<f64>, String> = cells.par_chunks_exact(dim).map(value).collect();
        let values = values.map_err(|reason| case_error(&points, batch.first_row, reason))?;
        let mut columns = batch.rows.columns()[..n_carried].to_vec();
        columns.push(Arc::new(Float64Array::from(values)));
        receiver.rows(batch_of(columns))?;
    }
    if as_set {
        let value = case.value(&members, &rows, dim, &Unwatched);
        let value = value.map_err(|reason| case_error(&points, 0, reason))?;
        let n = (members.len() / dim) as u64;
        let columns: Vec<ArrayRef> =
            vec![Arc::new(UInt64Array::from(vec![n])), Arc::new(Float64Array::from(vec![value]))];
        receiver.rows(batch_of(columns))?;
    }
    Ok(())
}

/// The cells of features from column `first` on, row by row.
fn cells(
    rows: &RecordBatch,
    first: usize,
    features: &[Wanted],
    source: &Source,
    first_row: u64,
) -> Result<Vec<f64>, Error> {
    let columns: Vec<_> =
        (0..features.len()).map(|j| rows.column(first + j).as_primitive::<Float64Type>()).collect();
    let mut cells = Vec::with_capacity(rows.num_rows() * features.len());
    for row in 0..rows.num_rows() {
        for (column, feature) in columns.iter().zip(features) {
            let fault = match column.is_valid(row).then(|| column.value(row)) {
                Some(cell) if cell.is_finite() => {
                    cells.push(cell);
                    continue;
                }
                Some(_) => "not finite",
                None => "missing",
            };
            let location = source.locate(first_row + row as u64)?;
            return Err(Error::Case { location, reason: format!("{} is {fault}", feature.name) });
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_beside_one_reference_row_is_worth_what_it_is_on_paper() {
        // m = 2: A = (1 + ¼)/2 and B = (2/4)/2. Two columns, h = 2, u = ½ and 0.
        let case = DensityCase::new(Kernel::Uniform, 2.0, 2).expect("in range");
        let found = case.value(&[1.0, 5.0], &[0.0, 5.0], 2, &Unwatched).expect("rows of two cells");
        let (a, b) = (0.625, 0.25);
        let expected = (-a + (2.0 * a + b) - b * 0.5) / 4.0;
        assert!((found - expected).abs() < 1e-16, "{found}, {expected}");
    }

    /// The definition: `C_den = mA∫p² − Σ h₂` for a uniform density on `[0, 1]`. Integrals are over
    /// the whole line, `∫p_h² = 1 − h/3`, while those of the paper's Example 1 end at 0 and 1.
    #[test]
    fn the_constant_of_the_paper_removes_that_of_a_value() {
        let (h, m, n) = (0.1, 12, 2);
        let rows: Vec<f64> = (0..4000).map(|i| (f64::from(i) + 0.5) / 4000.0).collect();
        let case = DensityCase::new(Kernel::Uniform, h, m).expect("in range");
        let found = case.constant(n, &rows, 1).expect("there are pairs");
        let (mut own, mut sum) = (0.0, 0.0);
        for s in 0..m {
            let (s, n) = (s as f64, n as f64);
            own += n * n / (n + s).powi(2);
            if s > 0.0 {
                let error = (1.0 / h - 1.0 + h / 3.0) / s + h / 6.0;
                sum +=
                    (n * n + 2.0 * n * s) / (n + s).powi(2) * error - 2.0 * n * s / (n + s).powi(2) * h / 4.0;
            }
        }
        // ∫p² is 1; the grid of rows stands for the density to about one in 4000.
        let expected = own - sum - 1.0;
        assert!((found / expected - 1.0).abs() < 1e-3, "{found}, {expected}");
        assert!(case.constant(n, &rows[..1], 1).is_err());
    }
}
