//! What values rows against a smoothed reference.

use super::DensityModel;
use crate::row_valuer::{CoreRows, Outcome, RowValuer, WantsRows};
use crate::warning::Warning;
use dshap::density::DensityValuer;
use dshap::{Error, Part, Place, Rows, Sizes, Valuer, Values, Wants, Watch};
use faer::Mat;
use std::sync::Arc;

/// Values rows against a smoothed reference. The reference may be a sample: rows
/// that are in it are left out of it when they are valued.
#[derive(Debug)]
pub struct DensityRows {
    valuer: DensityValuer,
    sizes: Sizes,
    /// The numbers of the rows in the sample.
    sampled: Option<Arc<[u64]>>,
    is_whole: bool,
}

impl DensityRows {
    pub(super) fn new(valuer: DensityValuer, sizes: Sizes, model: &DensityModel) -> Self {
        Self { valuer, sizes, sampled: model.sampled.clone(), is_whole: !model.is_sample() }
    }

    /// Values rows of the reference, some of which are in the sample.
    fn values_beside(
        &self,
        sampled: &[u64],
        rows: Rows<'_>,
        first_row: u64,
        watch: Watch<'_>,
    ) -> Result<Values, Error> {
        // Rows of the sample stand in it in their order; the others are valued against all of it.
        let place = |row: u64| sampled.partition_point(|&number| number < row);
        let (start, end) = (place(first_row), place(first_row + rows.len() as u64));
        let mut is_inside = vec![false; rows.len()];
        sampled[start..end].iter().for_each(|&number| is_inside[(number - first_row) as usize] = true);
        let of = |wanted: bool| (0..rows.len()).filter(|&row| is_inside[row] == wanted).collect();
        let (others, own): (Vec<usize>, Vec<usize>) = (of(false), of(true));
        // Random streams are numbered: first those of the sample, then those of the others.
        let stream =
            Place { first_row: sampled.len() as u64 + first_row - start as u64, in_reference: false };
        let (n_rows, n_others) = (rows.len(), others.len());
        let first = |done: usize, _: usize| watch(done, n_rows);
        let then = |done: usize, _: usize| watch(n_others + done, n_rows);
        let outside = self.values_of(rows, &others, stream, &first)?;
        let inside = self.values_of(rows, &own, Place::of_reference(start as u64), &then)?;
        Ok(interleaved(&inside, &outside, &is_inside))
    }

    /// Values some of the rows.
    fn values_of(
        &self,
        rows: Rows<'_>,
        numbers: &[usize],
        place: Place,
        watch: Watch<'_>,
    ) -> Result<Values, Error> {
        let x = Mat::from_fn(numbers.len(), rows.n_features(), |i, j| rows.x()[(numbers[i], j)]);
        let y = vec![0.0; numbers.len()];
        self.valuer.values_at(Rows::new(x.as_ref(), &y)?, place, watch)
    }
}

impl Valuer for DensityRows {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        match &self.sampled {
            Some(sampled) if place.in_reference => self.values_beside(sampled, rows, place.first_row, watch),
            None if place.in_reference && !self.is_whole => {
                let what = "it is not known which rows of the reference are in the sample";
                Err(Error::BadOption { what })
            }
            _ => self.valuer.values_at(rows, place, watch),
        }
    }

    fn parts(&self) -> Vec<Part> {
        Valuer::parts(&self.valuer)
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<dshap::Warning> {
        Valuer::warnings(&self.valuer)
    }

    fn wants(&self) -> Wants {
        self.valuer.wants()
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

/// Values the points of a run. It also says what is doubtful about the reference.
pub(super) struct DensityRun<'a> {
    pub(super) rows: CoreRows<'a>,
    pub(super) model: &'a DensityModel,
}

impl RowValuer for DensityRun<'_> {
    fn parts(&self) -> Vec<Part> {
        self.rows.parts()
    }

    fn sizes(&self) -> Sizes {
        self.rows.sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.rows.warnings();
        warnings.extend(self.model.own_warnings());
        warnings
    }

    fn wants(&self) -> WantsRows {
        self.rows.wants()
    }

    fn values(&mut self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, crate::Error> {
        self.rows.values(rows, place, watch)
    }

    fn outcome(&self) -> Outcome {
        self.rows.outcome()
    }
}
