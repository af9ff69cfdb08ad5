//! The units of columns, even if they barely vary.

use super::options::{Metric, Scale};
use crate::numeric::DoubleDouble;
use faer::MatRef;

/// Columns that vary less than this cannot be squared in their own units: cells are
/// multiplied by a power of two first, which changes no digits.
const LITTLE_VARIATION: f64 = 1e-150;

/// A feature that distances use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) feature: usize,
    /// What cells are multiplied by before anything else: a power of two, which is 1
    /// unless they barely vary.
    pub(super) lift: f64,
    /// In units of lifted cells.
    pub(super) scale: f64,
    centre: f64,
}

impl Column {
    #[inline]
    pub(super) fn standardised(&self, cell: f64) -> f64 {
        (cell * self.lift - self.centre) * self.scale
    }
}

/// The range of the cells of a feature.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    low: f64,
    high: f64,
}

impl Span {
    pub(super) fn of(x: MatRef<'_, f64>, feature: usize) -> Self {
        let cells = x.col(feature).iter();
        let (low, high) = cells
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &cell| (low.min(cell), high.max(cell)));
        Self { low, high }
    }

    pub(super) fn range(&self) -> f64 {
        self.high - self.low
    }

    /// The largest number that is squared if columns are used as given: a difference, or
    /// a cell for angles seen from 0.
    pub(super) fn reach(&self, metric: Metric) -> f64 {
        if metric == Metric::Cosine { self.low.abs().max(self.high.abs()) } else { self.range() }
    }

    pub(super) fn lifted(&self, lift: f64) -> Self {
        Self { low: self.low * lift, high: self.high * lift }
    }
}

/// The power of two that brings `reach` near 1, or as near as a double can; 1 if squares
/// are in range anyway, or if there is nothing to square.
pub(super) fn lift_of(reach: f64) -> f64 {
    if reach >= LITTLE_VARIATION || reach == 0.0 {
        return 1.0;
    }
    // 2¹⁰²³ is the largest power of two; the smallest number times that is 4e-16.
    2.0_f64.powi((-reach.log2().floor()).min(1023.0) as i32)
}

/// Scale and centre of a feature with lifted cells in `span`; `None` if it is constant
/// and that matters.
///
/// Sums are taken in twice the digits, so that the order of rows cannot change the scale,
/// which could decide which of two rows is nearer.
pub(super) fn column_of(
    x: MatRef<'_, f64>,
    feature: usize,
    span: Span,
    lift: f64,
    metric: Metric,
    scale: Scale,
) -> Option<Column> {
    let n = x.nrows() as f64;
    let (middle, range) = (span.low / 2.0 + span.high / 2.0, span.range());
    let is_constant = range == 0.0;
    // In units of the range from the middle all cells are within a half.
    let unit = if range < LITTLE_VARIATION { 1.0 } else { range };
    let (mut sum, mut squares) = (DoubleDouble::ZERO, DoubleDouble::ZERO);
    for &cell in x.col(feature).iter() {
        let share = (cell * lift - middle) / unit;
        sum += DoubleDouble::from(share);
        squares += DoubleDouble::product(share, share);
    }
    let mean = sum.over(n);
    let centre = middle + unit * mean.value();
    match scale {
        // Cosines are seen from 0; for other products a centre keeps digits.
        Scale::AsGiven => {
            let centre = if metric == Metric::Cosine { 0.0 } else { centre };
            Some(Column { feature, lift, scale: 1.0, centre })
        }
        Scale::Standard if is_constant => None,
        Scale::Standard => {
            let variance = squares.over(n) - mean.square();
            Some(Column { feature, lift, scale: 1.0 / (unit * variance.value().sqrt()), centre })
        }
    }
}

/// The length of a row with such coordinates, however short it is.
pub(super) fn length(columns: &[Column], coordinate: impl Fn(&Column) -> f64) -> f64 {
    let squares = columns.iter().map(|column| coordinate(column).powi(2)).sum::<f64>();
    if squares > LITTLE_VARIATION {
        return squares.sqrt();
    }
    // Squares may have been lost, but not if the largest of them is near 1.
    let lift = lift_of(columns.iter().map(|column| coordinate(column).abs()).fold(0.0, f64::max));
    columns.iter().map(|column| (coordinate(column) * lift).powi(2)).sum::<f64>().sqrt() / lift
}
