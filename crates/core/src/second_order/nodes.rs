//! Set sizes at which an expansion is made, and their weights in the sum over all sizes.
//!
//! An expansion that changes with the size of the sets (a ridge on the sum of losses
//! matters less in larger sets; accuracy is smoothed by the spread of estimates) is
//! smooth in `log(s + 1)`. It is made at a few nodes and interpolated; what is summed is
//! linear in it, so the sum over sizes becomes a few weights per node, the same for every
//! row.

use crate::Sizes;
use crate::numeric::CountingRule;

/// The smallest number of nodes if an expansion changes with the size: Chebyshev's points
/// in `log(s + 1)`.
const FEWEST_NODES: usize = 8;

/// Nodes for each factor of `e` that sizes span, if that is more. Terms that change
/// like `1/(1 + γ/(s + 1))` are then summed to about six digits.
const NODES_PER_FOLD: f64 = 1.5;

/// The weights of a node in the sum over set sizes, divided by `m`: sums over `s` of the
/// interpolating polynomial times
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct NodeWeight {
    /// `1/(s + 1)`, for φ₁.
    pub(super) first: f64,
    /// `1/(2(s + 1)²)`, for φ₂.
    pub(super) second: f64,
    /// `(2s + 1)/(2s(s + 1)²)`, for −Eφ₂.
    pub(super) mean_second: f64,
    /// `s/(2(s + 1)³)`, for Eφ₃.
    pub(super) third: f64,
    /// `1/(s + ½)²` at `s − ½`: the gain in utility of the target itself as the ridge
    /// matters less.
    pub(super) target: f64,
    /// Its change from `s − 1` to `s`, over `2s`: the same of Eφ₂.
    pub(super) mean_change: f64,
}

/// Nodes and their weights.
#[derive(Debug, Clone)]
pub(super) struct SizeNodes {
    /// `s`, not always whole.
    pub(super) sizes: Vec<f64>,
    /// `log(s + 1)`, to full precision.
    places: Vec<f64>,
}

impl SizeNodes {
    /// One node if the expansion is the same for all sizes.
    pub(super) fn new(sizes: Sizes, depends_on_size: bool) -> Self {
        // Starts one size before the first, because changes from one size to the next are
        // summed, too.
        let (low, high) = ((sizes.min() as f64 - 1.0).ln(), (sizes.max() as f64).ln());
        let enough = ((NODES_PER_FOLD * (high - low)).ceil() as usize).max(FEWEST_NODES);
        let count = if depends_on_size { enough } else { 1 };
        let angle = |j: usize| std::f64::consts::PI * (j as f64 + 0.5) / count as f64;
        let places: Vec<f64> =
            (0..count).map(|j| 0.5 * (low + high) - 0.5 * (high - low) * angle(j).cos()).collect();
        Self { sizes: places.iter().map(|place| place.exp() - 1.0).collect(), places }
    }

    /// The weight of each node in the sum over `sizes`. If there is more than one node,
    /// the sizes must be among those it was made for.
    pub(super) fn weights_for(&self, sizes: Sizes) -> Vec<NodeWeight> {
        let polynomial = Lagrange { places: &self.places };
        let mut weights = vec![NodeWeight::default(); self.places.len()];
        let m = sizes.max() as f64;
        let rule = CountingRule::new(sizes.min() as u64 - 1, sizes.max() as u64 - 1);
        for node in rule.nodes() {
            let (s, share) = (node.at, node.weight / m);
            let here = polynomial.at((s + 1.0).ln());
            let half = polynomial.at((s + 0.5).ln());
            let before = polynomial.at(s.ln());
            for (j, weight) in weights.iter_mut().enumerate() {
                weight.first += share * here[j] / (s + 1.0);
                weight.second += share * here[j] / (2.0 * (s + 1.0).powi(2));
                weight.mean_second += share * here[j] * (2.0 * s + 1.0) / (2.0 * s * (s + 1.0).powi(2));
                weight.third += share * here[j] * s / (2.0 * (s + 1.0).powi(3));
                weight.target += share * half[j] / (s + 0.5).powi(2);
                weight.mean_change += share * (here[j] - before[j]) / (2.0 * s);
            }
        }
        weights
    }
}

/// Polynomials that are 1 at one place and 0 at the others.
struct Lagrange<'a> {
    places: &'a [f64],
}

impl Lagrange<'_> {
    fn at(&self, place: f64) -> Vec<f64> {
        let basis = |j: usize| {
            let others = self.places.iter().enumerate().filter(|(k, _)| *k != j);
            others.map(|(_, other)| (place - other) / (self.places[j] - other)).product()
        };
        (0..self.places.len()).map(basis).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms that change with the size like those of a ridge, `1/(1 + γ/(s+1))`,
    /// summed one by one.
    #[test]
    fn a_few_nodes_sum_what_changes_slowly() {
        for (q, m, depends) in [
            (12, 12, true),
            (12, 15, true),
            (20, 900, true),
            (30, 40_000, true),
            (30, 10_000_000, true),
            (9, 500, false),
        ] {
            let shrink = |s: f64| if depends { 1.0 / (1.0 + 7.0 / (s + 1.0)) } else { 0.8 };
            let nodes = SizeNodes::new(Sizes::new(q, m), depends);
            let weights = nodes.weights_for(Sizes::new(q, m));
            let found: f64 = nodes.sizes.iter().zip(&weights).map(|(s, w)| w.second * shrink(*s)).sum();
            let plain: f64 =
                (q - 1..m).map(|s| s as f64).map(|s| shrink(s) / (2.0 * (s + 1.0).powi(2))).sum();
            let error = found * m as f64 / plain - 1.0;
            println!("{q} {m}: {} nodes, {error:e}", nodes.sizes.len());
            // A polynomial through that many points, not the term itself.
            assert!(error.abs() < 2e-6, "{q} {m}: {error:e}");
            let change: f64 = nodes.sizes.iter().zip(&weights).map(|(s, w)| w.mean_change * shrink(*s)).sum();
            let plain: f64 = (q - 1..m)
                .map(|s| s as f64)
                .map(|s| (shrink(s) - if depends { 1.0 / (1.0 + 7.0 / s) } else { 0.8 }) / (2.0 * s))
                .sum();
            assert!(
                (change * m as f64 - plain).abs() <= 1e-4 * plain.abs() + 1e-15,
                "{q} {m}: {change} {plain}"
            );
        }
    }

    #[test]
    fn nodes_sum_over_fewer_sizes_than_they_were_chosen_for() {
        let shrink = |s: f64| 1.0 / (1.0 + 7.0 / (s + 1.0));
        let nodes = SizeNodes::new(Sizes::new(20, 5000), true);
        for (q, m) in [(20, 5000), (31, 700), (400, 400)] {
            let weights = nodes.weights_for(Sizes::new(q, m));
            let found: f64 = nodes.sizes.iter().zip(&weights).map(|(s, w)| w.second * shrink(*s)).sum();
            let plain: f64 =
                (q - 1..m).map(|s| s as f64).map(|s| shrink(s) / (2.0 * (s + 1.0).powi(2))).sum();
            let error = found * m as f64 / plain - 1.0;
            // A polynomial through nine points, as above.
            assert!(error.abs() < 2e-6, "{q} {m}: {error:e}");
        }
    }
}
