//! A row of the reference, left out.
//!
//! With `A = FFᵀ`, `FᵀRF = QΛQᵀ` (`row.rs`) and `G = FQ`, a row that has the share `c`
//! of the reference is left out of `H` and `J` by
//!
//! ```text
//! η − cGD·Gᵀe     A: (1 − c)GDGᵀ     S: (1 − c)GD(G⁻¹SG⁻ᵀ − c·Gᵀeeᵀ G)DGᵀ     u: (1 − c)GD·G⁻¹u
//! ```
//!
//! with `D = (1 − cΛ)⁻¹`. Third moments stay.

use super::fit::ClassProbabilities;
use super::row::{RowForms, Small};
use crate::second_order::options::Spread;

/// A leverage this close to 1 leaves no digits for the row's own coefficients.
const LEVERAGE_ROOM: f64 = 1e-10;

impl RowForms {
    /// The row's predictors without it, by one step of Newton's method, and the moments
    /// of the others at its position. `None` if the row alone determines a coefficient.
    pub(super) fn left_out(
        &self,
        eta: &[f64],
        row: &ClassProbabilities,
        label: usize,
        share: f64,
        known_by: Spread,
    ) -> Option<(Vec<f64>, Self)> {
        let Some((factor, values, vectors)) = self.decomposed(row) else {
            return Some((eta.to_vec(), self.clone()));
        };
        let n = eta.len();
        let surprise: Vec<f64> = (0..n).map(|a| row.surprise(a, label)).collect();
        let along = vectors.transposed_times(&factor.transposed_times(&surprise));
        let mut damped = Vec::with_capacity(n);
        for value in values {
            let room = 1.0 - share * value;
            if room.is_nan() || room < LEVERAGE_ROOM {
                return None;
            }
            damped.push(1.0 / room);
        }
        let back = |along: Vec<f64>| factor.times(&vectors.times(&along));
        let moved = back(along.iter().zip(&damped).map(|(along, d)| share * d * along).collect());
        let rest = 1.0 - share;
        let axes: Vec<Vec<f64>> = (0..n).map(|j| factor.times(&vectors.column(j))).collect();
        let from_axes = |inner: &dyn Fn(usize, usize) -> f64| {
            let cell = |a: usize, b: usize| {
                let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                pairs.map(|(i, j)| axes[i][a] * inner(i, j) * axes[j][b]).sum::<f64>()
            };
            Small::from_fn(n, |a, b| cell(a.max(b), a.min(b)))
        };
        let inverse = from_axes(&|i, j| if i == j { rest * damped[i] } else { 0.0 });
        let spread = match known_by {
            Spread::ModelBased => inverse.clone(),
            Spread::Sandwich => {
                // QᵀF⁻¹S, then the same from the other side.
                let half: Vec<Vec<f64>> =
                    (0..n).map(|j| vectors.transposed_times(&factor.solve(&self.spread.column(j)))).collect();
                let whole = |i: usize| {
                    let column: Vec<f64> = half.iter().map(|half| half[i]).collect();
                    vectors.transposed_times(&factor.solve(&column))
                };
                let inner: Vec<Vec<f64>> = (0..n).map(whole).collect();
                from_axes(&|i, j| rest * damped[i] * damped[j] * (inner[i][j] - share * along[i] * along[j]))
            }
        };
        let bias = vectors.transposed_times(&factor.solve(&self.bias));
        let bias = back(bias.iter().zip(&damped).map(|(bias, d)| rest * d * bias).collect());
        let eta = eta.iter().zip(moved).map(|(eta, moved)| eta - moved).collect();
        Some((eta, Self { inverse, spread, bias }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `η − cA(1 − cRA)⁻¹e`, here by the series of the inverse: the share is so small
    /// that twenty terms are enough.
    #[test]
    fn one_step_leaves_a_row_out() {
        let forms = RowForms {
            inverse: Small::from_fn(3, |i, j| if i == j { 5.0 + i as f64 } else { 0.7 }),
            spread: Small::from_fn(3, |_, _| 0.0),
            bias: vec![0.0; 3],
        };
        let eta = [0.4, -0.8, 1.3];
        let row = ClassProbabilities::new(eta.into_iter());
        let share = 0.04;
        let mut term: Vec<f64> = (0..3).map(|a| row.surprise(a, 3)).collect();
        let mut sum = term.clone();
        let weights = Small::from_fn(3, |a, b| row.weight(a, b));
        for _ in 0..20 {
            term = weights.times(&forms.inverse.times(&term)).iter().map(|cell| share * cell).collect();
            sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
        }
        let moved = forms.inverse.times(&sum);
        let (found, others) =
            forms.left_out(&eta, &row, 3, share, Spread::Sandwich).expect("leverage is far from 1");
        for a in 0..3 {
            assert!((found[a] - (eta[a] - share * moved[a])).abs() < 1e-14, "{} {}", found[a], moved[a]);
        }
        assert!(forms.left_out(&eta, &row, 3, 1.0, Spread::Sandwich).is_none(), "a leverage beyond 1");
        // (1 − c)(A⁻¹ − cR)⁻¹, multiplied back: A₋(1 − cRA) = (1 − c)A.
        for a in 0..3 {
            for b in 0..3 {
                let turned: f64 = (0..3)
                    .map(|k| {
                        let product: f64 = (0..3).map(|l| weights.at(k, l) * forms.inverse.at(l, b)).sum();
                        others.inverse.at(a, k) * (f64::from(u8::from(k == b)) - share * product)
                    })
                    .sum();
                let expected = (1.0 - share) * forms.inverse.at(a, b);
                assert!((turned - expected).abs() < 1e-13, "{turned} {expected}");
            }
        }
    }
}
