//! How likely each place in a list of neighbours is to be the `k`-th of a set.

use crate::numeric::DoubleDouble;
use crate::{Error, Semivalue, Sizes};
use std::ops::RangeInclusive;

/// Terms below this share of the largest count as zero: doubles could not distinguish
/// them.
const NO_TERM: f64 = 1e-290;

/// Weights of the places in a list of `n` reference rows, nearest first.
///
/// ```text
/// w_i = (1/m) Σ_s C(i−1, k−1) C(n−i, s−k) / C(n, s)        s = s₀ … min(m − 1, n),  s₀ = max(q − 1, k)
/// G_i = Σ_{l>i} w_l
/// ```
///
/// `m·w_i` is the number of set sizes times the probability that the `k`-th
/// nearest of a set drawn without replacement is row `i`. The sum over sizes is
/// that of a negative hypergeometric distribution and has a closed form:
///
/// ```text
/// w_i = k(n+1) / (m·i(i+1)) · [ F(s₀) − F(min(m − 1, n) + 1) ]      F(r) = P(at most k of r draws are marked)
/// ```
///
/// with `i + 1` of `n + 1` marked. As a function of `i`, `1 − F(r)` is a sum of positive
/// terms whose ratios are rational, so all weights together cost `O(n)`, whatever `m` is.
/// With twice the digits of a double, neither the recurrence nor the difference of the
/// two probabilities affects the result: weights above 1e-280 are correct to 1e-15.
///
/// With all sizes (`q ≤ k + 1`, `m = n + 1`) this is `w_i = k/(i(i+1))`, the weights of
/// finite KNN-Shapley.
///
/// ```
/// use dshap::Sizes;
/// use dshap::neighbours::WeightTable;
///
/// let table = WeightTable::new(9, 2, Sizes::new(3, 10))?;
/// assert!((table.weight(4) - 2.0 / 20.0).abs() < 1e-16);
/// // Two of any set are nearest, so the first place cannot be the second.
/// assert_eq!(table.weight(1), 0.0);
/// # Ok::<(), dshap::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct WeightTable {
    k: usize,
    /// `w_i` at index `i`, from 0 (which has no weight) to `n`.
    weight: Vec<f64>,
    /// `G_i` at index `i`, from 0 to `n`.
    tail: Vec<f64>,
    /// Sums up to each place, as long as there are weights.
    sums: Vec<Sums>,
    left_out: usize,
}

/// Sums over places `1 … i` of `w`, `i·w` and `w/(i−1)`. Sums over any range are
/// differences of these, to full precision.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    plain: DoubleDouble,
    by_place: DoubleDouble,
    over_nearer: DoubleDouble,
}

/// The weights of a run of tied rows, which share `len` places after the first `nearer`
/// in random order. `r = 1 … len` counts the places among them and `c = (k − 1)/(i − 1)`
/// is the share of one nearer row in a mean of `k − 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunWeights {
    /// `Σ w`.
    pub(super) w: f64,
    /// `Σ w·c`.
    pub(super) wc: f64,
    /// `Σ w·c·(r − 1)`.
    pub(super) wcr: f64,
}

impl WeightTable {
    /// The weights for `n` reference rows and the `k` nearest of a set.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for `k = 0`; [`Error::NeighbourSizes`] if no size
    /// counts, `m ≤ max(q − 1, k)`; [`Error::FewNeighbours`] if no set of the
    /// smallest size can be drawn; [`Error::TooLargeSize`].
    pub fn new(n: usize, k: usize, sizes: Sizes) -> Result<Self, Error> {
        let first = Self::check(n, k, sizes)?;
        let last = (sizes.max() - 1).min(n);
        let mut weight = vec![0.0; n + 1];
        let mut exact = vec![DoubleDouble::ZERO; n + 1];
        if sizes.semivalue() != Semivalue::Shapley {
            add_sizes(&mut weight, k, first..=last, sizes);
            exact = weight.iter().map(|&w| DoubleDouble::from(w)).collect();
            return Ok(Self::of_weights(k, weight, &exact, sizes.max() - 1 - last));
        }
        let (few, many) = (AtMost::new(n, k, first), AtMost::new(n, k, last + 1));
        for i in k..=n {
            let share = few.less(&many, i + 1) * k as f64 * (n + 1) as f64;
            if share.value() == 0.0 {
                continue;
            }
            let w = share.over(sizes.max() as f64).over(i as f64).over((i + 1) as f64);
            exact[i] = w;
            weight[i] = w.value();
        }
        Ok(Self::of_weights(k, weight, &exact, sizes.max() - 1 - last))
    }

    fn of_weights(k: usize, weight: Vec<f64>, exact: &[DoubleDouble], left_out: usize) -> Self {
        let n = weight.len() - 1;
        let mut tail = vec![0.0; n + 1];
        let mut sum = DoubleDouble::ZERO;
        for i in (0..n).rev() {
            sum += exact[i + 1];
            tail[i] = sum.value();
        }
        // Most places have no weight if the smallest sets are large.
        let n_weighted = weight.iter().rposition(|&w| w != 0.0).map_or(1, |last| last + 1);
        let mut sums = Vec::with_capacity(n_weighted);
        let mut so_far = Sums::default();
        for (i, &w) in exact[..n_weighted].iter().enumerate() {
            so_far.plain += w;
            so_far.by_place += w * i as f64;
            // The first place is the k-th only for k = 1, where nothing is nearer.
            if i > 1 {
                so_far.over_nearer += w.over((i - 1) as f64);
            }
            sums.push(so_far);
        }
        Self { k, weight, tail, sums, left_out }
    }

    /// Whether there are such weights; returns `s₀`, the smallest set that counts.
    pub(super) fn check(n: usize, k: usize, sizes: Sizes) -> Result<usize, Error> {
        if k == 0 {
            return Err(Error::BadOption { what: "k must be at least 1" });
        }
        let first = k.max(sizes.min().saturating_sub(1));
        if sizes.max() <= first {
            return Err(Error::NeighbourSizes { k, min: sizes.min(), max: sizes.max() });
        }
        sizes.check(k, 0)?;
        if n < first {
            return Err(Error::FewNeighbours { n_rows: n, needed: first });
        }
        Ok(first)
    }

    /// Number of reference rows in the list.
    pub fn n_rows(&self) -> usize {
        self.weight.len() - 1
    }

    /// `w_i`, for `i` from 1 to the number of rows; 0 elsewhere.
    pub fn weight(&self, i: usize) -> f64 {
        self.weight.get(i).copied().unwrap_or(0.0)
    }

    /// `G_i`: all weights after the first `i` rows.
    pub fn tail(&self, i: usize) -> f64 {
        self.tail.get(i).copied().unwrap_or(0.0)
    }

    /// Requested set sizes that are left out because sets that large cannot be drawn from
    /// the reference: those from `n + 1` to `m − 1`.
    pub fn n_left_out(&self) -> usize {
        self.left_out
    }

    /// The first `i` with `G_i ≤ share · G_0`: rows further away than the `i` nearest
    /// have at most this share of all weight.
    pub fn cut_off(&self, share: f64) -> usize {
        let small = share * self.tail[0];
        self.tail.partition_point(|&tail| tail > small)
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// Weights of `len` tied rows after the first `nearer`.
    pub(super) fn run(&self, nearer: usize, len: usize) -> RunWeights {
        let Sums { plain, over_nearer, .. } = self.range(nearer, len);
        let k1 = (self.k - 1) as f64;
        RunWeights {
            w: plain.value(),
            wc: k1 * over_nearer.value(),
            wcr: k1 * (plain - over_nearer * nearer as f64).value(),
        }
    }

    /// The same for a point that is tied with them: it comes before place `r` of
    /// them in `r` of `len + 1` orders, so that each `w` counts `r/(len + 1)`.
    pub(super) fn run_with_point(&self, nearer: usize, len: usize) -> RunWeights {
        let Sums { plain, by_place, over_nearer } = self.range(nearer, len);
        let (a, k1, orders) = (nearer as f64, (self.k - 1) as f64, (len + 1) as f64);
        // With i = a + r: r/(i−1) = 1 + (1−a)/(i−1) and (r−1)/(i−1) = 1 − a/(i−1).
        let w = by_place - plain * a;
        let over = plain + over_nearer * (1.0 - a);
        RunWeights {
            w: w.over(orders).value(),
            wc: k1 * over.over(orders).value(),
            wcr: k1 * (w - over * a).over(orders).value(),
        }
    }

    fn range(&self, nearer: usize, len: usize) -> Sums {
        let up_to = |place: usize| &self.sums[place.min(self.sums.len() - 1)];
        let (from, to) = (up_to(nearer), up_to(nearer + len));
        Sums {
            plain: to.plain - from.plain,
            by_place: to.by_place - from.by_place,
            over_nearer: to.over_nearer - from.over_nearer,
        }
    }
}

/// Adds `Σ_s ω_s C(i−1, k−1) C(n−i, s−k) / C(n, s)` to each place, one size after the other. From
/// one place to the next a term changes by a rational factor, and it vanishes beyond about
/// `(k + 40)·n/s`: all sizes together take `O(k·n log m)`.
fn add_sizes(weight: &mut [f64], k: usize, range: RangeInclusive<usize>, sizes: Sizes) {
    /// Terms are scaled by this where they would leave the range of doubles.
    const SCALE: f64 = 1e250;
    let n = weight.len() - 1;
    let (law, m) = (sizes.semivalue(), sizes.max());
    let range = if law == Semivalue::AtMax { *range.end()..=*range.end() } else { range };
    for s in range {
        // The largest sets that can be drawn stand for those of m − 1 rows.
        let share = if law == Semivalue::AtMax { 1.0 } else { law.weight(s as f64, m) };
        if share < NO_TERM {
            continue;
        }
        // C(n−k, s−k)/C(n, s), the probability that the k nearest are all drawn.
        let (mut term, mut scale) = (share, 0);
        for j in 0..k {
            term *= (s - j) as f64 / (n - j) as f64;
            if term < 1.0 / SCALE {
                (term, scale) = (term * SCALE, scale - 1);
            }
        }
        let mut largest = 0.0_f64;
        for (i, sum) in weight.iter_mut().enumerate().take(n - (s - k) + 1).skip(k) {
            if scale == 0 {
                *sum += term;
                largest = largest.max(term);
                if term < largest * 1e-18 {
                    break;
                }
            }
            if i < n {
                term *= i as f64 / (i + 1 - k) as f64 * ((n - i - (s - k)) as f64 / (n - i) as f64);
            }
            if term > 1.0 && scale < 0 {
                (term, scale) = (term / SCALE, scale + 1);
            }
        }
    }
}

/// `P(at most k of r draws are marked)` for every number `j` of marked among
/// `n + 1`.
///
/// Marking one more changes it by `P(exactly k are marked)·(r−k)/(n+1−j)`, a term that
/// goes from `j` to `j + 1` by a rational factor. Terms are computed from the largest in
/// both directions, and divided by their sum, which is 1.
struct AtMost {
    k: usize,
    /// At index `j − k`: the sum of the terms before `j`, and from `j` on.
    below: Vec<DoubleDouble>,
    above: Vec<DoubleDouble>,
}

impl AtMost {
    fn new(n: usize, k: usize, r: usize) -> Self {
        if r == k {
            // There are at most k draws.
            return Self { k, below: Vec::new(), above: Vec::new() };
        }
        // The terms are those of k ≤ j ≤ n + 1 − (r − k).
        let last = n + 1 - (r - k);
        let mut terms = vec![DoubleDouble::ZERO; last - k + 1];
        // term(j + 1)/term(j) = up(j)/down(j)
        let up = |j: usize| ((last - j) as f64, (j + 1) as f64);
        let down = |j: usize| ((j + 1 - k) as f64, (n - j) as f64);
        // The factor falls with j: terms rise up to the first j where it is below 1.
        let (mut mode, mut behind) = (k, last);
        while mode < behind {
            let j = mode.midpoint(behind);
            if up(j).0 * up(j).1 >= down(j).0 * down(j).1 { mode = j + 1 } else { behind = j }
        }
        terms[mode - k] = DoubleDouble::from(1.0);
        for j in mode..last {
            let term = (terms[j - k] * up(j).0 * up(j).1).over(down(j).0).over(down(j).1);
            if term.value() < NO_TERM {
                // Only zeros would follow.
                terms.truncate(j + 1 - k);
                break;
            }
            terms[j + 1 - k] = term;
        }
        for j in (k..mode).rev() {
            let term = (terms[j + 1 - k] * down(j).0 * down(j).1).over(up(j).0).over(up(j).1);
            if term.value() < NO_TERM {
                break;
            }
            terms[j - k] = term;
        }
        let total = terms.iter().fold(DoubleDouble::ZERO, |sum, &term| sum + term);
        let mut below = Vec::with_capacity(terms.len() + 1);
        let mut sum = DoubleDouble::ZERO;
        for &term in &terms {
            below.push(sum);
            sum += term.over_double(total);
        }
        below.push(sum);
        let mut above = vec![DoubleDouble::ZERO; terms.len() + 1];
        for (at, &term) in terms.iter().enumerate().rev() {
            above[at] = above[at + 1] + term.over_double(total);
        }
        Self { k, below, above }
    }

    /// `F(r) − F(r')` at `j` marked, where `self` has fewer draws `r < r'`: a difference
    /// of small numbers: of the probabilities, or of one minus them.
    fn less(&self, many: &Self, j: usize) -> DoubleDouble {
        let at = j - self.k;
        if self.below.is_empty() {
            return many.below(at);
        }
        if self.below(at).value() < 0.5 {
            many.below(at) - self.below(at)
        } else {
            self.above(at) - many.above(at)
        }
    }

    fn below(&self, at: usize) -> DoubleDouble {
        let beyond = self.below.len().saturating_sub(1);
        self.below.get(at.min(beyond)).copied().unwrap_or(DoubleDouble::ZERO)
    }

    fn above(&self, at: usize) -> DoubleDouble {
        self.above.get(at).copied().unwrap_or(DoubleDouble::ZERO)
    }
}
