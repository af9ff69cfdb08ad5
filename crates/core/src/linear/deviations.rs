//! What makes a row unusual: the parts of its squared distance.

use super::fit::{LinearFit, PanelWork};
use crate::{Error, Rows};

impl LinearFit {
    /// What each feature of a row contributes to its squared distance `n·dᵀS⁻¹d` is the product
    /// of two numbers: its deviation `d` from the reference mean, and the pull `n·S⁻¹d` of all
    /// deviations on it. Both are returned for every feature; those left out have no pull. The
    /// products add up to the squared distance. One is negative where a feature agrees with the
    /// others better than they let expect.
    ///
    /// Leaving the row out of the reference multiplies all products by the same number.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`], [`Error::TooLarge`].
    pub fn deviations(&self, row: Rows<'_>) -> Result<Vec<(f64, f64)>, Error> {
        if row.n_features() != self.n_features() {
            return Err(Error::FeatureCount { found: row.n_features(), expected: self.n_features() });
        }
        let mut work = PanelWork::new(self);
        self.solve_panel(row, 0, 1, &mut work)?;
        let mut out = vec![(0.0, 0.0); self.n_features()];
        for (k, (deviation, pull)) in self.pulled(row, &work).into_iter().enumerate() {
            out[self.kept()[k]] = (deviation, self.n_rows() as f64 * pull);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{FitOptions, LinearValuer};
    use faer::Mat;

    /// The products add up to the distance, and vanish for a feature that was left out.
    #[test]
    fn contributions_add_up_to_the_squared_distance() {
        let cell = |i: usize, j: usize| match j {
            0 => ((i * 37 % 11) as f64).sqrt(),
            1 => (i * i % 17) as f64 - ((i * 37 % 11) as f64).sqrt(),
            2 => 3.0,
            _ => (i as f64 * 0.7).sin() * 1e4,
        };
        let x = Mat::from_fn(40, 4, cell);
        let y: Vec<f64> = (0..40).map(|i| (i * 29 % 13) as f64).collect();
        let rows = Rows::new(x.as_ref(), &y).expect("as many targets as rows");
        for intercept in [true, false] {
            let options = FitOptions { intercept, ..FitOptions::default() };
            let fit = LinearFit::of(rows, options).expect("a fit");
            let distances = LinearValuer::distances(&fit, rows).expect("distances");
            for (i, distance) in distances.iter().enumerate() {
                let parts = fit.deviations(rows.slice(i, 1)).expect("deviations");
                let sum: f64 = parts.iter().map(|(deviation, pull)| deviation * pull).sum();
                assert!((sum - distance).abs() < 1e-10 * (1.0 + distance), "{sum} {distance}");
                assert!(!intercept || parts[2] == (0.0, 0.0), "a constant column has no part");
            }
        }
    }

    /// With independent columns a contribution is a squared standard score.
    #[test]
    fn contributions_of_independent_features_are_squared_scores() {
        let x = Mat::from_fn(
            4,
            2,
            |i, j| if j == 0 { [1.0, -1.0, 1.0, -1.0][i] } else { [6.0, 6.0, 2.0, 2.0][i] },
        );
        let all = Mat::from_fn(8, 2, |i, j| x[(i % 4, j)]);
        let y: Vec<f64> = (0..8).map(|i| [1.0, 2.0, 0.5, 3.0, 1.5, 2.5, 0.0, 4.0][i]).collect();
        let fit =
            LinearFit::of(Rows::new(all.as_ref(), &y).expect("rows"), FitOptions::default()).expect("a fit");
        let row = Mat::from_fn(1, 2, |_, j| [2.0, 10.0][j]);
        let parts = fit.deviations(Rows::new(row.as_ref(), &[0.0]).expect("a row")).expect("deviations");
        let products: Vec<f64> = parts.iter().map(|(deviation, pull)| deviation * pull).collect();
        assert!((products[0] - 4.0).abs() < 1e-12 && (products[1] - 9.0).abs() < 1e-12, "{products:?}");
    }
}
