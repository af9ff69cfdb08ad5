//! Moments of more rows, of fewer rows, and of other columns.

use super::{Moments, MomentsForm};
use crate::Error;
use faer::Mat;

/// A column as a constant plus multiples of other columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// The constant.
    pub constant: f64,
    /// Columns and their factors.
    pub terms: Vec<(usize, f64)>,
}

impl Combination {
    /// A column as it is.
    pub fn column(column: usize) -> Self {
        Self { constant: 0.0, terms: vec![(column, 1.0)] }
    }

    fn as_column(&self) -> Option<usize> {
        match self.terms.as_slice() {
            &[(column, factor)] if factor == 1.0 && self.constant == 0.0 => Some(column),
            _ => None,
        }
    }

    pub(super) fn sum(&self, of: impl Fn(usize) -> f64) -> f64 {
        self.terms.iter().map(|&(column, factor)| factor * of(column)).sum()
    }
}

impl Moments {
    /// Adds the moments of other rows (Chan, Golub and LeVeque).
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`] when the columns differ in number, [`Error::TooLarge`]
    /// when the means are too far apart to be squared; the moments must not be used after
    /// that.
    pub fn merge(&mut self, other: &Moments) -> Result<(), Error> {
        self.check_columns(other)?;
        self.absorb(other);
        if !self.is_finite() {
            return Err(Error::TooLarge);
        }
        Ok(())
    }

    pub(super) fn absorb(&mut self, other: &Moments) {
        if other.n_rows == 0 {
            return;
        }
        if self.n_rows == 0 {
            self.clone_from(other);
            return;
        }
        let (w1, w2) = (self.weight, other.weight);
        let delta = self.mean_differences(other);
        let weight = w1 * w2 / (w1 + w2);
        if self.peak.is_some() || other.peak.is_some() {
            let peaks = (0..self.shift.len())
                .map(|j| self.peak_of(j) + other.peak_of(j) + weight * delta[j] * delta[j])
                .collect();
            self.peak = Some(peaks);
        }
        self.make_alike(other);
        // A triangle is as costly as a fit, so it is made only where it is needed.
        let triangle = if self.form == MomentsForm::Triangle { other.triangle() } else { None };
        match triangle {
            Some(triangle) => self.add_triangle(&triangle, &delta, weight),
            None => self.add_products(other, &delta, 1.0, weight),
        }
        for (offset, d) in self.offset.iter_mut().zip(&delta) {
            *offset += d * (w2 / (w1 + w2));
        }
        self.n_rows += other.n_rows;
        self.weight += w2;
        self.weight_sq += other.weight_sq;
    }

    /// Removes rows whose moments are given and which are among these.
    ///
    /// Sums of squares shrink while their rounding errors stay, so digits are lost when
    /// most of the variation is removed. [`digits`](Self::digits) says how many are left,
    /// and [`inflation`](Self::inflation) how much larger errors have become in each
    /// column.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`]; [`Error::NotAmong`] when no rows would be left,
    /// or when a column would be left with a negative sum of squares: then the
    /// rows cannot have been among these. The moments are unchanged after an
    /// error.
    pub fn remove(&mut self, other: &Moments) -> Result<(), Error> {
        self.check_columns(other)?;
        if other.n_rows == 0 {
            return Ok(());
        }
        // Weights are sums and have rounding errors of their own.
        let room = 16.0 * f64::EPSILON * self.weight;
        if other.n_rows >= self.n_rows || other.weight >= self.weight - room {
            return Err(Error::NotAmong { column: None });
        }
        let mut left = self.clone();
        let k = self.shift.len();
        left.peak = Some((0..k).map(|j| self.peak_of(j)).collect());
        left.n_rows -= other.n_rows;
        left.weight -= other.weight;
        left.weight_sq = (left.weight_sq - other.weight_sq).max(f64::MIN_POSITIVE);
        if self.weight == self.weight_sq && other.weight == other.weight_sq {
            // Without weights nothing was rounded.
            left.weight_sq = left.weight;
        }
        // The mean moves away from the removed rows, in proportion to their share.
        let delta = self.mean_differences(other);
        let share = other.weight / left.weight;
        for (offset, d) in left.offset.iter_mut().zip(&delta) {
            *offset -= d * share;
        }
        if left.take_from_triangle(other, &delta, self.weight * share) {
            *self = left;
            return Ok(());
        }
        left.add_products(other, &delta, -1.0, -(self.weight * share));
        for j in 0..k {
            let noise = 64.0 * f64::EPSILON * self.peak_of(j);
            let rest = &mut left.lower[(j, j)];
            if *rest < -noise {
                return Err(Error::NotAmong { column: Some(j) });
            }
            *rest = rest.max(0.0);
        }
        *self = left;
        Ok(())
    }

    /// Moments of other columns of the same rows, each a combination of these
    /// features; the target stays.
    ///
    /// # Panics
    ///
    /// If a combination names a column that does not exist.
    pub fn recombined(&self, columns: &[Combination]) -> Self {
        self.recombined_for(columns, &Combination::column(self.n_features()))
    }

    /// The same with another target.
    ///
    /// # Panics
    ///
    /// As [`recombined`](Self::recombined).
    pub fn recombined_for(&self, columns: &[Combination], target: &Combination) -> Self {
        let columns: Vec<&Combination> = columns.iter().chain([target]).collect();
        let lower = match self.form {
            MomentsForm::Products => self.recombined_products(&columns),
            MomentsForm::Triangle => self.recombined_triangle(&columns),
        };
        let shift = columns.iter().map(|c| c.constant + c.sum(|a| self.shift[a])).collect();
        let offset = columns.iter().map(|c| c.sum(|a| self.offset[a])).collect();
        let peak = self.peak.as_ref().map(|peak| {
            let reach = |c: &Combination| c.terms.iter().map(|&(a, f)| f.abs() * peak[a].sqrt()).sum::<f64>();
            let exact = |c: &Combination| c.as_column().map(|a| peak[a]);
            columns.iter().map(|c| exact(c).unwrap_or_else(|| reach(c).powi(2))).collect()
        });
        Self {
            n_rows: self.n_rows,
            weight: self.weight,
            weight_sq: self.weight_sq,
            shift,
            offset,
            form: self.form,
            lower,
            peak,
        }
    }

    fn recombined_products(&self, columns: &[&Combination]) -> Mat<f64> {
        Mat::from_fn(columns.len(), columns.len(), |i, j| {
            if i < j {
                return 0.0;
            }
            let sum = match (columns[i].as_column(), columns[j].as_column()) {
                (Some(a), Some(b)) => self.centred(a, b),
                _ => columns[i].sum(|a| columns[j].sum(|b| self.centred(a, b))),
            };
            // Rounding must not make a sum of squares negative.
            if i == j { sum.max(0.0) } else { sum }
        })
    }

    fn check_columns(&self, other: &Moments) -> Result<(), Error> {
        if other.n_features() != self.n_features() {
            return Err(Error::FeatureCount { found: other.n_features(), expected: self.n_features() });
        }
        Ok(())
    }

    pub(super) fn peak_of(&self, column: usize) -> f64 {
        self.peak.as_ref().map_or_else(|| self.centred(column, column), |peak| peak[column])
    }

    /// Means of `other` less the means here; exact where the shifts are close.
    fn mean_differences(&self, other: &Moments) -> Vec<f64> {
        (0..self.shift.len())
            .map(|j| (other.shift[j] - self.shift[j]) + (other.offset[j] - self.offset[j]))
            .collect()
    }

    /// Adds `sign ·` the products of `other` and `weight · δδᵀ`.
    fn add_products(&mut self, other: &Moments, delta: &[f64], sign: f64, weight: f64) {
        self.make_products();
        let other = &other.products();
        pulp::Arch::new().dispatch(|| {
            for j in 0..delta.len() {
                let scaled = weight * delta[j];
                let column = &mut self.lower.col_as_slice_mut(j)[j..];
                for ((sum, add), d) in column.iter_mut().zip(&other.col_as_slice(j)[j..]).zip(&delta[j..]) {
                    *sum += sign * add + scaled * d;
                }
            }
        });
    }
}
