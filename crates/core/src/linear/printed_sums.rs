//! The printed bounds of all rows at once: two functions of the distance.
//!
//! A printed bound is linear in the noise variance and in the squared residual,
//!
//! ```text
//! lower:  Σ aL²(2 + aL)/(1 + aU)² · σ² − Σ aL²/(1 + aL)² · e²
//! upper:  Σ aU²(2 + aU)/(1 + aL)² · σ² − Σ aU²/(1 + aU)² · e²
//! ```
//!
//! so the sums over set sizes are functions of `a` alone. They are tabulated,
//! panel by panel, when a row first needs one.

use super::bounds::{Ends, Side};
use crate::numeric::BranchedRule;
use crate::numeric::Chebyshev;
use std::sync::OnceLock;

/// Distances that tables cover; for others the sums are computed directly.
const A_LOW: f64 = 1e-40;
const A_HIGH: f64 = 1e40;

/// Panels have unit width in `log a`. All poles are at negative `a`, that is at
/// `log |a| ± iπ`, as for the sums of Theorem 2.
const PANEL_NODES: usize = 14;

type Panel = OnceLock<Chebyshev<PANEL_NODES, 2>>;

/// Both sums over `a`, as functions of `a`.
#[derive(Debug)]
pub(super) struct PrintedSums {
    side: Side,
    panels: Vec<Panel>,
}

impl PrintedSums {
    pub(super) fn new(side: Side) -> Self {
        let n_panels = (A_HIGH.ln() - A_LOW.ln()).ceil() as usize;
        Self { side, panels: (0..n_panels).map(|_| OnceLock::new()).collect() }
    }

    /// What `a·σ²` and `a·e²` are multiplied by; `rule` and `ends` are those of
    /// the bound.
    #[inline]
    pub(super) fn at(&self, a: f64, rule: &BranchedRule, ends: impl Fn(f64) -> Ends) -> [f64; 2] {
        if !(A_LOW..=A_HIGH).contains(&a) {
            return self.summed(a, rule, ends);
        }
        let position = a.ln() - A_LOW.ln();
        let panel = (position as usize).min(self.panels.len() - 1);
        let table = self.panels[panel].get_or_init(|| {
            Chebyshev::interpolate(|x| {
                let a = (A_LOW.ln() + panel as f64 + (x + 1.0) / 2.0).exp();
                self.summed(a, rule, &ends)
            })
        });
        table.at(2.0 * (position - panel as f64) - 1.0)
    }

    /// The same, summed for this `a` alone.
    pub(super) fn summed(&self, a: f64, rule: &BranchedRule, ends: impl Fn(f64) -> Ends) -> [f64; 2] {
        let (inner, outer) = match self.side {
            Side::Lower => (Ends::low as fn(&Ends) -> f64, Ends::high as fn(&Ends) -> f64),
            Side::Upper => (Ends::high as fn(&Ends) -> f64, Ends::low as fn(&Ends) -> f64),
        };
        let noise = rule.sum(|j| {
            let ends = ends(j);
            let l = inner(&ends);
            (ends.branch(), (l / (1.0 + a * outer(&ends))).powi(2) * (2.0 + a * l))
        });
        let residual = rule.sum(|j| {
            let ends = ends(j);
            let l = inner(&ends);
            (ends.branch(), (l / (1.0 + a * l)).powi(2))
        });
        [noise, residual]
    }
}
