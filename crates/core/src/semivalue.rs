//! How much each set size counts: Shapley values and other semivalues.

use crate::numeric::{CountingRule, Node, gauss_block};
use std::fmt;

/// Up to this many sizes are added one by one.
const EXACT_SIZES: u64 = 32;

/// A block is fine enough if its halves agree with it to this share of the whole sum. The
/// weights themselves have about one digit more.
const AGREEMENT: f64 = 1e-13;

/// Sizes with less weight than this do not count: no term is larger by that factor.
const NO_WEIGHT: f64 = 1e-60;

/// The largest parameter of [`Semivalue::Beta`]: beyond it digits are lost.
const LARGEST: f64 = 1000.0;

/// A law `ω` over the sizes `s = 0 … m − 1` of the sets that a row joins. A value is
/// `Σ ω_s M_s`, where `M_s` is the expected gain of joining a set of `s` rows.
///
/// ```text
/// Shapley      ω_s = 1/m
/// Banzhaf      ω_s = C(m−1, s) / 2^(m−1)
/// Beta(α, β)   ω_s = C(m−1, s) B(s+β, m−1−s+α) / B(α, β)      (1, 1) is Shapley; a large β favours large sets
/// at m         ω_(m−1) = 1
/// ```
///
/// Sizes below `q − 1` have no utility. Their weight is lost: the rest is not scaled up.
///
/// ```
/// use dshap::Semivalue;
///
/// let beta: Semivalue = "beta:1,16".parse()?;
/// assert_eq!(beta, Semivalue::Beta(1.0, 16.0));
/// assert!(beta.weight_below(50, 100) < 1e-4);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Semivalue {
    /// All sizes count alike.
    #[default]
    Shapley,
    /// All sets count alike.
    Banzhaf,
    /// Beta(α, β)-Shapley, with parameters above 0.
    Beta(f64, f64),
    /// Only sets of `m − 1` rows count.
    AtMax,
}

impl Semivalue {
    /// `ω_s` for sets that are smaller than `m`; `s` need not be whole.
    pub fn weight(self, s: f64, m: usize) -> f64 {
        let (n, m) = (m as f64 - 1.0, m as f64);
        match self {
            Semivalue::Shapley => 1.0 / m,
            Semivalue::AtMax => f64::from(u8::from(s == n)),
            Semivalue::Banzhaf => half_binomial(s, n),
            Semivalue::Beta(alpha, beta) => {
                let by_s = ln_ratio(s + 1.0, beta - 1.0) + ln_ratio(m - s, alpha - 1.0);
                let by_m = ln_ratio(m, alpha + beta - 1.0);
                // 1/B(α, β) = Γ(α + β)/(Γ(α)Γ(β)), from Γ(1) = 1.
                let shape = ln_ratio(alpha, beta) - ln_ratio(1.0, beta - 1.0);
                (by_s - by_m + shape).exp()
            }
        }
    }

    /// The weight of all sets of fewer than `s` rows.
    pub fn weight_below(self, s: usize, m: usize) -> f64 {
        match (self, s.min(m)) {
            (_, 0) => 0.0,
            (Semivalue::Shapley, s) => s as f64 / m as f64,
            (_, s) => {
                let nodes = self.counts(0, s as u64 - 1, 0.0, m);
                nodes.iter().map(|node| node.weight).sum::<f64>() / m as f64
            }
        }
    }

    /// Nodes and weights with `Σ_i m ω_{i+offset} f(i) = Σ_k weight_k f(node_k)` over `first ..=
    /// last` for smooth `f`. There is always a node.
    pub(crate) fn counts(self, first: u64, last: u64, offset: f64, m: usize) -> Vec<Node> {
        let weight = |at: f64| m as f64 * self.weight(at + offset, m);
        if self == Semivalue::Shapley {
            return CountingRule::new(first, last).nodes().to_vec();
        }
        if self == Semivalue::AtMax {
            return vec![Node { at: last as f64, weight: weight(last as f64) }];
        }
        // The law may change fast at either end, so blocks double from both.
        let (mut low, mut high, mut len) = (first, last + 1, EXACT_SIZES);
        let (mut blocks, mut upper) = (Vec::new(), Vec::new());
        while high - low > 2 * len {
            blocks.push((low, len));
            upper.push((high - len, len));
            (low, high) = (low + len, high - len);
            len *= 2;
        }
        blocks.push((low, high - low));
        blocks.extend(upper.into_iter().rev());
        // Gains fall like 1/s², so that is what sums are made of.
        let term = |at: f64| weight(at) * (at + offset + 1.0).powi(-2);
        // Near its mode a law may be narrower than a block.
        let mode = match self {
            Semivalue::Beta(alpha, beta) if alpha + beta > 2.0 => {
                (beta - 1.0).max(0.0) / (alpha + beta - 2.0)
            }
            _ => 0.5,
        };
        let mode = (mode.min(1.0) * (m as f64 - 1.0) - offset).clamp(first as f64, last as f64);
        let largest = term(mode).max(term(first as f64)).max(term(last as f64));
        // Roughly first, so that it is known what little is.
        let (_, rough) = refined(&blocks, 1e-3 * largest, &term);
        let (mut nodes, _) = refined(&blocks, AGREEMENT * rough.max(largest), &term);
        nodes.iter_mut().for_each(|node| node.weight *= weight(node.at));
        nodes.retain(|node| node.weight > NO_WEIGHT);
        if nodes.is_empty() {
            nodes.push(Node { at: last as f64, weight: weight(last as f64) });
        }
        nodes
    }
}

/// Nodes that sum `term` over blocks of sizes, each halved until its halves agree with it to
/// `tolerance`; and the sum.
fn refined(blocks: &[(u64, u64)], tolerance: f64, term: &impl Fn(f64) -> f64) -> (Vec<Node>, f64) {
    let sum = |nodes: &[Node]| nodes.iter().map(|node| node.weight * term(node.at)).sum::<f64>();
    let mut waiting: Vec<(u64, u64)> = blocks.iter().rev().copied().collect();
    let (mut nodes, mut total) = (Vec::new(), 0.0);
    while let Some((start, len)) = waiting.pop() {
        if len <= EXACT_SIZES {
            let exact: Vec<Node> = (start..start + len).map(|i| Node { at: i as f64, weight: 1.0 }).collect();
            total += sum(&exact);
            nodes.extend(exact);
            continue;
        }
        let half = len / 2;
        let one = gauss_block(start, len);
        let two = [gauss_block(start, half), gauss_block(start + half, len - half)].concat();
        let found = sum(&one);
        if (found - sum(&two)).abs() <= tolerance {
            total += found;
            nodes.extend(one);
        } else {
            waiting.extend([(start + half, len - half), (start, half)]);
        }
    }
    (nodes, total)
}

impl std::str::FromStr for Semivalue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|number| (1e-3..=LARGEST).contains(number));
        let parameters = text.strip_prefix("beta:").and_then(|rest| rest.split_once(','));
        match (text, parameters.map(|(alpha, beta)| (number(alpha), number(beta)))) {
            ("shapley", _) => Ok(Semivalue::Shapley),
            ("banzhaf", _) => Ok(Semivalue::Banzhaf),
            ("at-m" | "loo", _) => Ok(Semivalue::AtMax),
            (_, Some((Some(alpha), Some(beta)))) => Ok(Semivalue::Beta(alpha, beta)),
            _ => Err(format!(
                "`{text}` is not one of shapley, banzhaf, at-m, or beta:A,B with numbers from 0.001 to {LARGEST}"
            )),
        }
    }
}

impl fmt::Display for Semivalue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Semivalue::Shapley => f.write_str("shapley"),
            Semivalue::Banzhaf => f.write_str("banzhaf"),
            Semivalue::Beta(alpha, beta) => write!(f, "beta:{alpha},{beta}"),
            Semivalue::AtMax => f.write_str("at-m"),
        }
    }
}

/// From here on Stirling's series is exact to the last digit.
const ASYMPTOTIC: f64 = 20.0;

/// `log Γ(x)` less `(x − ½) log x − x + ½ log 2π`, for large `x`.
fn stirling(x: f64) -> f64 {
    let x2 = 1.0 / (x * x);
    (1.0 / 12.0 - x2 * (1.0 / 360.0 - x2 * (1.0 / 1260.0 - x2 * (1.0 / 1680.0 - x2 / 1188.0)))) / x
}

/// `log Γ(x + d) − log Γ(x)` for positive arguments, without the digits that the
/// difference of two large logarithms would lose.
fn ln_ratio(x: f64, d: f64) -> f64 {
    if d == 0.0 {
        return 0.0;
    }
    let (mut x, mut more) = (x, 0.0);
    while x.min(x + d) < ASYMPTOTIC {
        more -= (d / x).ln_1p();
        x += 1.0;
    }
    more + (x - 0.5) * (d / x).ln_1p() + d * (x + d).ln() - d + stirling(x + d) - stirling(x)
}

/// `C(n, s)/2ⁿ` by Loader's saddle-point form.
fn half_binomial(s: f64, n: f64) -> f64 {
    if s == 0.0 || s == n {
        return (-n).exp2();
    }
    let error = |x: f64| {
        let (mut x, mut more) = (x, 0.0);
        while x < ASYMPTOTIC {
            // What the series leaves out for x and for x + 1 differs by this.
            more += (x + 0.5) * (1.0 / x).ln_1p() - 1.0;
            x += 1.0;
        }
        more + stirling(x)
    };
    let half = n / 2.0;
    // x log(x/h) + h − x = h·D(x/h − 1)
    let deviance = |x: f64| {
        let u = (x - half) / half;
        if u.abs() < 0.1 {
            // (1+u) log(1+u) − u = u²/2 − u³/6 + u⁴/12 − …
            let series = (2..=24).rev().fold(0.0, |sum, k| {
                let k = f64::from(k);
                1.0 / (k * (k - 1.0)) - u * sum
            });
            half * u * u * series
        } else {
            half * ((1.0 + u) * u.ln_1p() - u)
        }
    };
    let exponent = error(n) - error(s) - error(n - s) - deviance(s) - deviance(n - s);
    (n / (std::f64::consts::TAU * s * (n - s))).sqrt() * exponent.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAWS: [Semivalue; 8] = [
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::AtMax,
        Semivalue::Beta(1.0, 1.0),
        Semivalue::Beta(16.0, 1.0),
        Semivalue::Beta(1.0, 16.0),
        Semivalue::Beta(4.0, 1.0),
        Semivalue::Beta(0.5, 0.5),
    ];

    #[test]
    fn weights_add_up_to_one() {
        for m in [1, 2, 7, 40, 300, 5000] {
            for law in LAWS {
                let sum: f64 = (0..m).map(|s| law.weight(s as f64, m)).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{law} {m}: {:e}", sum - 1.0);
                assert!((law.weight_below(m, m) - 1.0).abs() < 1e-12, "{law} {m}");
            }
        }
    }

    /// Against weights made by multiplication, one size from the one before.
    #[test]
    fn weights_follow_their_ratios() {
        for (law, alpha, beta) in
            [(Semivalue::Beta(3.5, 0.7), 3.5, 0.7), (Semivalue::Beta(1.0, 40.0), 1.0, 40.0)]
        {
            let m = 60;
            for s in 0..m - 1 {
                let (real, n) = (s as f64, m as f64 - 1.0);
                let ratio = (n - real) / (real + 1.0) * (real + beta) / (n - 1.0 - real + alpha);
                let found = law.weight(real + 1.0, m) / law.weight(real, m);
                assert!((found / ratio - 1.0).abs() < 1e-13, "{law} {s}: {found} {ratio}");
            }
        }
        // C(10, 3)/2¹⁰, and the middle of 2·10⁶ tosses by its own expansion.
        assert!((Semivalue::Banzhaf.weight(3.0, 11) / (120.0 / 1024.0) - 1.0).abs() < 1e-14);
        let n = 2e6_f64;
        let middle = (2.0 / (std::f64::consts::PI * n)).sqrt() * (1.0 - 0.25 / n);
        assert!((Semivalue::Banzhaf.weight(1e6, 2_000_001) / middle - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_few_nodes_sum_over_all_sizes() {
        for (first, last, offset, m) in
            [(4, 190, 2.0, 193), (3, 4990, 9.0, 5000), (20, 99_980, 19.0, 100_000)]
        {
            for law in LAWS {
                let nodes = law.counts(first, last, offset, m);
                assert!(nodes.len() < 1200, "{law} {m}: {} nodes", nodes.len());
                for power in [-2, -1, -3] {
                    let plain: f64 = (first..=last)
                        .rev()
                        .map(|i| m as f64 * law.weight(i as f64 + offset, m) * (i as f64).powi(power))
                        .sum();
                    let found: f64 = nodes.iter().map(|node| node.weight * node.at.powi(power)).sum();
                    assert!(
                        (found / plain - 1.0).abs() < 3e-12,
                        "{law} {m} {power}: {:e}",
                        found / plain - 1.0
                    );
                }
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for law in LAWS {
            assert_eq!(law.to_string().parse(), Ok(law));
        }
        for wrong in ["", "beta", "beta:1", "beta:0,1", "beta:1,x", "beta:-1,2", "beta:1,1e9", "Shapley"] {
            assert!(wrong.parse::<Semivalue>().is_err(), "{wrong}");
        }
    }
}
