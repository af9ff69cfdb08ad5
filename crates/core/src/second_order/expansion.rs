//! The expansion of a refitted model's utility about the reference.
//!
//! All of it is in coordinates `z` in which `H₀ = E[w xxᵀ]` is the identity: `z = √n
//! L⁻¹x` with `LLᵀ = Σ w xxᵀ`, as in the logistic fit. The result does not depend on
//! coordinates, and in these only the ridge can make a matrix ill-conditioned.

use super::options::{SecondOrderOptions, Spread, Utility};
use super::sums::{Spreading, Task, TaskSums};
use crate::Error;
use crate::classification::LogisticFit;
use faer::linalg::solvers::DenseSolveCore;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Col, Mat, Par, Side};
use std::sync::Arc;

/// All moments of the reference that values need, for sets of one size. Names are words,
/// with the letters of the derivation beside them; see the [module page](super).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Expansion {
    /// `s`, the size of the sets that it was made for.
    pub size: f64,
    /// `Pβ`, the slope of the ridge, per unit of it.
    pub penalty_slope: Col<f64>,
    /// `g₀ = λPβ`: the pull of the fit's ridge; 0 without one.
    pub pull: Col<f64>,
    /// `H⁻¹ = (H₀ + λP)⁻¹`.
    pub inverse: Mat<f64>,
    /// `J = E[e²zzᵀ] − g₀g₀ᵀ`.
    pub noise: Mat<f64>,
    /// `V = H⁻¹JH⁻¹`: `V/s` is the spread of an estimate from `s` rows.
    pub spread: Mat<f64>,
    /// `K[V] = E[w₁(zᵀVz)z]`.
    pub skew: Col<f64>,
    /// `h = E[we(zᵀH⁻¹z)z] − H₀H⁻¹g₀`.
    pub feedback: Col<f64>,
    /// `b = −½H⁻¹(K[V] + 2h)`: `b/s` is the bias of an estimate from `s` rows.
    pub bias: Col<f64>,
    /// `q = E[ℓ'z]`.
    pub slope: Col<f64>,
    /// `D = E[ℓ''zzᵀ]`.
    pub curvature: Mat<f64>,
    /// `r = H⁻¹q`.
    pub turn: Col<f64>,
    /// `K_r = E[w₁(rᵀz)zzᵀ]`.
    pub turned_skew: Mat<f64>,
    /// `D̃ = D − K_r`.
    pub net_curvature: Mat<f64>,
    /// `Q₃ = E[ℓ'''(zᵀVz)z]`.
    pub third: Col<f64>,
    /// `l₄ = E[w₂(rᵀz)(zᵀVz)z]`.
    pub fourth: Col<f64>,
    /// `m_r = E[w₁e(zᵀH⁻¹z)(rᵀz)z] − K_rH⁻¹g₀`.
    pub turned_feedback: Col<f64>,
    /// `HHH = E[w²(zᵀH⁻¹z)(rᵀz)z] − H₀H⁻¹H₀r`.
    pub turned_weight: Col<f64>,
    /// `W = sym(VD̃H⁻¹)`.
    pub position: Mat<f64>,
    /// `N = sym(H⁻¹(E[we(rᵀz)zzᵀ] − g₀(H₀r)ᵀ)H⁻¹)`.
    pub turned_position: Mat<f64>,
    /// `v₃`, the third derivative along a row's influence.
    pub along_influence: Col<f64>,
    /// `c₃`, the part of it that is the same for every row.
    pub constant: f64,
    /// `Eφ₂ = −tr(DV) − 2qᵀb`.
    pub mean_second: f64,
}

/// An expansion in progress, pass by pass.
#[derive(Debug, Clone)]
pub(super) struct ExpansionBuilder {
    pub(super) fit: Arc<LogisticFit>,
    utility: Utility,
    stage: Stage,
    made: Expansion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// `J`, and slope and curvature of smooth utilities.
    Second,
    /// The bias, and the moments that need `r`, if it is known.
    Third,
    /// Slope and curvature of accuracy.
    Smoothed,
    /// The moments that need `r`, if it was not known before.
    Turned,
    Closing,
    Done,
}

impl ExpansionBuilder {
    pub(super) fn new(fit: Arc<LogisticFit>, size: f64, options: &SecondOrderOptions) -> Result<Self, Error> {
        let p = fit.dim();
        let n = fit.n_rows() as f64;
        let (lower, _) = fit.factors();
        let design = fit.design();
        let cost = |k: usize| design.cost(k);
        // Pβ and, for the inverse, the root of P.
        let beta = fit.beta();
        let mut slope = Mat::from_fn(p, 1, |k, _| n.sqrt() * cost(k) * beta[k]);
        solve_lower_triangular_in_place(lower.as_ref(), slope.as_mut(), Par::Seq);
        let penalty_slope = slope.col(0).to_owned();
        let identity = Mat::identity(p, p);
        let inverse = if fit.ridge() > 0.0 {
            let mut root = Mat::from_fn(p, p, |i, j| if i == j { cost(i).sqrt() } else { 0.0 });
            solve_lower_triangular_in_place(lower.as_ref(), root.as_mut(), Par::Seq);
            // n cancels: λ = γ/n, and z has √n.
            let penalised = &identity + faer::Scale(fit.ridge()) * (&root * root.transpose());
            let factor = penalised.llt(Side::Lower).map_err(|_| Error::TooLarge)?;
            symmetric(factor.inverse())
        } else {
            identity.clone()
        };
        let pull = faer::Scale(fit.ridge() / n) * &penalty_slope;
        let zero = || Col::zeros(p);
        let made = Expansion {
            size,
            penalty_slope,
            // At the maximum E[ez] = g₀, so this is the slope of log-loss.
            slope: -&pull,
            turn: -(&inverse * &pull),
            pull,
            noise: identity.clone(),
            spread: identity.clone(),
            curvature: identity,
            inverse,
            skew: zero(),
            feedback: zero(),
            bias: zero(),
            turned_skew: Mat::zeros(p, p),
            net_curvature: Mat::zeros(p, p),
            third: zero(),
            fourth: zero(),
            turned_feedback: zero(),
            turned_weight: zero(),
            position: Mat::zeros(p, p),
            turned_position: Mat::zeros(p, p),
            along_influence: zero(),
            constant: 0.0,
            mean_second: 0.0,
        };
        // For the model E[e²zzᵀ] is known to be H₀.
        let knows_noise = options.spread == Spread::ModelBased && options.utility != Utility::Brier;
        let stage = if knows_noise { Stage::Third } else { Stage::Second };
        Ok(Self { fit, utility: options.utility, stage, made })
    }

    /// What the next pass has to sum; `None` once the expansion is complete.
    pub(super) fn task(&self) -> Option<Task> {
        let made = &self.made;
        let utility = self.utility;
        // Without a ridge the coordinates make it the identity.
        let inverse = (self.fit.ridge() > 0.0).then(|| made.inverse.clone());
        let third = |turn| Task::Third {
            utility,
            spread: Spreading::new(&made.spread),
            inverse: inverse.clone(),
            turn,
        };
        Some(match self.stage {
            Stage::Second => Task::Second { utility },
            Stage::Third => third(self.early_turn()),
            Stage::Smoothed => Task::Smoothed {
                centre: self.made.centre(&self.fit),
                spread: faer::Scale(1.0 / made.size) * &made.spread,
            },
            Stage::Turned => third(Some(made.turn.clone())),
            Stage::Closing => {
                let g = &made.inverse;
                Task::Closing { a: &made.position - &made.turned_position, b: g * &made.net_curvature * g }
            }
            Stage::Done => return None,
        })
    }

    /// Uses the sums of a pass.
    pub(super) fn take(&mut self, mut sums: TaskSums) {
        let made = &mut self.made;
        let g = made.inverse.clone();
        self.stage = match self.stage {
            Stage::Second => {
                made.noise = mirrored(sums.matrices.swap_remove(0)) - &made.pull * made.pull.transpose();
                made.spread = symmetric(&g * &made.noise * &g);
                if self.utility == Utility::Brier {
                    made.curvature = mirrored(sums.matrices.swap_remove(0));
                    made.slope = sums.vectors.swap_remove(0);
                    made.turn = &g * &made.slope;
                }
                Stage::Third
            }
            Stage::Third | Stage::Turned => {
                let mut vectors = sums.vectors.into_iter();
                let mut next = || vectors.next().expect("a third-order sweep has two vectors or six");
                made.skew = next();
                made.feedback = next() - &g * &made.pull;
                made.bias = faer::Scale(-0.5) * (&g * (&made.skew + faer::Scale(2.0) * &made.feedback));
                let is_turned = sums.matrices.len() == 2;
                if is_turned {
                    (made.third, made.fourth) = (next(), next());
                    let mut matrices = sums.matrices.into_iter().map(mirrored);
                    let mut next_matrix = || matrices.next().expect("a turned sweep has two matrices");
                    made.turned_skew = next_matrix();
                    made.net_curvature = &made.curvature - &made.turned_skew;
                    made.turned_feedback = next() - &made.turned_skew * (&g * &made.pull);
                    made.turned_weight = next() - &g * &made.turn;
                    made.position = symmetric(&made.spread * &made.net_curvature * &g);
                    let inner = next_matrix() - &made.pull * made.turn.transpose();
                    made.turned_position = symmetric(&g * inner * &g);
                }
                match (self.utility, is_turned) {
                    (_, true) => Stage::Closing,
                    (Utility::Accuracy, false) => Stage::Smoothed,
                    (_, false) => {
                        made.close_plain_log_loss();
                        Stage::Done
                    }
                }
            }
            Stage::Smoothed => {
                made.curvature = mirrored(sums.matrices.swap_remove(0));
                made.slope = sums.vectors.swap_remove(0);
                made.turn = &g * &made.slope;
                Stage::Turned
            }
            Stage::Closing => {
                let feedback = sums.vectors.swap_remove(1) - &g * &made.net_curvature * (&g * &made.pull);
                made.close(&sums.vectors[0], &feedback, self.utility);
                Stage::Done
            }
            Stage::Done => Stage::Done,
        };
    }

    /// Whether the next pass is the first for which the size of the sets matters.
    pub(super) fn is_about_size(&self) -> bool {
        self.stage == Stage::Smoothed
    }

    /// The same up to here, for sets of another size.
    pub(super) fn for_size(&self, size: f64) -> Self {
        let mut other = self.clone();
        other.made.size = size;
        other
    }

    pub(super) fn finish(self) -> (Arc<LogisticFit>, Expansion) {
        (self.fit, self.made)
    }

    /// `r`, if it is not 0 and known before the bias.
    fn early_turn(&self) -> Option<Col<f64>> {
        let known = match self.utility {
            Utility::LogLoss => self.fit.ridge() > 0.0,
            Utility::Brier => true,
            Utility::Accuracy => false,
        };
        known.then(|| self.made.turn.clone())
    }
}

impl Expansion {
    /// `β + b/s` in these coordinates: `zᵀLᵀβ/√n = xᵀβ`.
    pub(super) fn centre(&self, fit: &LogisticFit) -> Col<f64> {
        let beta = fit.beta();
        let (lower, _) = fit.factors();
        let root = (fit.n_rows() as f64).sqrt();
        let target = lower.transpose() * Col::from_fn(beta.len(), |k| beta[k] / root);
        target + faer::Scale(1.0 / self.size) * &self.bias
    }

    /// From `K[W − N]` and `h_D̃` to the end.
    fn close(&mut self, skew: &Col<f64>, feedback: &Col<f64>, utility: Utility) {
        let two = faer::Scale(2.0);
        self.along_influence = &self.fourth - &self.third - two * (&self.net_curvature * &self.bias)
            + two * (skew + feedback + &self.turned_feedback - &self.turned_weight);
        if utility == Utility::Accuracy {
            // The mean that accuracy is smoothed about already includes the bias.
            self.along_influence += two * (&self.curvature * &self.bias);
        }
        let dot = |a: &Col<f64>, b: &Col<f64>| a.transpose() * b;
        self.constant =
            -2.0 * trace(&self.position) - dot(&self.skew, &self.turn) - 2.0 * dot(&self.turn, &self.bias)
                + 2.0 * trace(&self.turned_position);
        let spread = &self.curvature * &self.spread;
        self.mean_second = -trace(&spread) - 2.0 * dot(&self.slope, &self.bias);
    }

    /// Log-loss without a ridge: `q = r = 0`, `D = H`, and only the bias is left of `v₃`.
    fn close_plain_log_loss(&mut self) {
        self.third = self.skew.clone();
        self.net_curvature = self.curvature.clone();
        self.position = self.spread.clone();
        self.along_influence = faer::Scale(-4.0) * &self.bias;
        self.constant = -2.0 * trace(&self.spread);
        self.mean_second = -trace(&self.spread);
    }
}

fn symmetric(matrix: Mat<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| 0.5 * (matrix[(i, j)] + matrix[(j, i)]))
}

/// The symmetric matrix of a lower triangle.
fn mirrored(lower: Mat<f64>) -> Mat<f64> {
    Mat::from_fn(lower.nrows(), lower.ncols(), |i, j| lower[(i.max(j), i.min(j))])
}

fn trace(matrix: &Mat<f64>) -> f64 {
    (0..matrix.ncols()).map(|k| matrix[(k, k)]).sum()
}
