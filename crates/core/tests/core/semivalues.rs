//! Set sizes weighted by a semivalue: tables with 22 digits, sums one by one, a simulation.

use dshap::density::SizeWeights;
use dshap::linear::{Constant, Convention, GaussianForm, PointStats};
use dshap::neighbours::WeightTable;
use dshap::{Error, Semivalue, Sizes};
use dshap_testkit::{Draws, MeanEstimate, cases_under, seeds};

const LAWS: [Semivalue; 6] = [
    Semivalue::Banzhaf,
    Semivalue::Beta(1.0, 4.0),
    Semivalue::Beta(4.0, 1.0),
    Semivalue::Beta(0.5, 16.0),
    Semivalue::Beta(1.0, 1.0),
    Semivalue::AtMax,
];

fn gain(p: usize, sizes: Sizes) -> GaussianForm {
    GaussianForm::new(p, sizes, Constant::Gain, Convention::Definition).unwrap()
}

/// `ω_s`, from the ratios of neighbouring weights, which add up to 1. Logarithms of factorials would cost five
/// digits at m = 2000.
fn weight(law: Semivalue, s: usize, m: usize) -> f64 {
    let (alpha, beta) = match law {
        Semivalue::Shapley => return 1.0 / m as f64,
        Semivalue::AtMax => return f64::from(u8::from(s + 1 == m)),
        // The ratio is (m−1−s)/(s+1): both of the other factors are equal.
        Semivalue::Banzhaf => (f64::INFINITY, f64::INFINITY),
        Semivalue::Beta(alpha, beta) => (alpha, beta),
    };
    let up = |s: usize| {
        let others = match alpha.is_finite() {
            true => (s as f64 + beta) / ((m - 2 - s) as f64 + alpha),
            false => 1.0,
        };
        (m - 1 - s) as f64 / (s + 1) as f64 * others
    };
    // From about the largest weight in both directions, so that nothing overflows.
    let share = if alpha.is_finite() { beta / (alpha + beta) } else { 0.5 };
    let start = ((m - 1) as f64 * share) as usize;
    let mut weights = vec![1.0; m];
    for s in start + 1..m {
        weights[s] = weights[s - 1] * up(s - 1);
    }
    for s in (0..start).rev() {
        weights[s] = weights[s + 1] / up(s);
    }
    weights[s] / weights.iter().sum::<f64>()
}

/// Rows whose test population is the training population are those of Theorem 2.
#[test]
fn gains_match_the_table() {
    let mut n_cases = 0;
    for case in cases_under("reference/extensions.json", "target") {
        let (p, a) = (case.count("p"), case.number("a"));
        if case.number("b") != a || case.number("tau") != p as f64 || case.number("c") != 0.0 {
            continue;
        }
        let law: Semivalue = case.text("semivalue").parse().unwrap();
        let sizes = Sizes::new(case.count("q"), case.count("m")).with_semivalue(law);
        let row =
            PointStats { dist_sq: a, resid_sq: case.number("e").powi(2), noise_var: case.number("sigma2") };
        let form = gain(p, sizes);
        for found in [form.value(row), form.value_once(row)] {
            let error = (found.value - case.number("value")).abs();
            assert!(
                error <= 1e-12 * found.potential.max(found.penalty),
                "{case:?}: {found:?}, error {error:.1e}"
            );
        }
        n_cases += 1;
    }
    assert!(n_cases >= 4, "the table has {n_cases} such cases");
}

/// `Σ ω_s M_s`, where `M_s` is the value at one size alone times that size.
#[test]
fn values_are_weighted_sums_over_sizes() {
    for (p, q, m) in [(1, 4, 9), (3, 9, 70), (6, 9, 700)] {
        for law in LAWS {
            let form = gain(p, Sizes::new(q, m).with_semivalue(law));
            for (dist_sq, resid_sq) in [(0.3, 0.0), (2.0, 5.0), (60.0, 1.0)] {
                let row = PointStats { dist_sq, resid_sq, noise_var: 1.3 };
                let (mut potential, mut penalty) = (0.0, 0.0);
                for size in (q..=m).rev() {
                    let at = gain(p, Sizes::new(size, size)).value_once(row);
                    let share = weight(law, size - 1, m) * size as f64;
                    potential += share * at.potential;
                    penalty += share * at.penalty;
                }
                let found = form.value(row);
                let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-11 * expected.abs();
                assert!(
                    close(found.potential, potential) && close(found.penalty, penalty),
                    "{law} {p} {q} {m}: {found:?}, not {potential} and {penalty}"
                );
            }
        }
    }
}

/// Beta(1, 1) is Shapley, computed by another rule.
#[test]
fn beta_1_1_is_shapley() {
    for (p, q, m) in [(2, 12, 40), (10, 20, 5000), (30, 60, 1_000_000)] {
        let beta = gain(p, Sizes::new(q, m).with_semivalue(Semivalue::Beta(1.0, 1.0)));
        let shapley = gain(p, Sizes::new(q, m));
        for dist_sq in [1e-9, 0.4, 11.0, 1e4] {
            let row = PointStats { dist_sq, resid_sq: 0.0, noise_var: 1.0 };
            let (one, other) = (beta.value(row).value, shapley.value(row).value);
            assert!((one / other - 1.0).abs() < 1e-11, "{p} {q} {m} {dist_sq}: {one} {other}");
        }
    }
}

/// Banzhaf by its definition: each of `m − 1` others joins by the toss of a coin. One regressor
/// without intercept, so that the fit is a quotient; false alarms at |z| > 5, one in 2 million.
/// Weighing sizes alike would be off by a third of the value, dozens of standard errors.
#[test]
fn banzhaf_values_are_those_of_coin_tosses() {
    for seed in seeds(24) {
        let (q, m, x, y, sigma) = (5, 16, 1.4, 0.9, 0.7);
        let mut draws = Draws::new(seed);
        let mut found = MeanEstimate::default();
        for _ in 0..400_000 {
            let (mut s, mut xx, mut xy) = (0, 0.0, 0.0);
            for _ in 0..m - 1 {
                if draws.uniform() < 0.5 {
                    let (x, e) = (draws.normal(), sigma * draws.normal());
                    (s, xx, xy) = (s + 1, xx + x * x, xy + x * e);
                }
            }
            // The coefficient is 0, and so is the mean: the loss of a fit is its square.
            let (before, after) = (xy / xx, (xy + x * y) / (xx + x * x));
            found.push(if s + 1 < q { 0.0 } else { before * before - after * after });
        }
        let row = PointStats { dist_sq: x * x, resid_sq: y * y, noise_var: sigma * sigma };
        let exact = gain(1, Sizes::new(q, m).with_semivalue(Semivalue::Banzhaf)).value(row).value;
        assert!(found.z(exact).abs() < 5.0, "seed {seed}: {exact}, z = {}", found.z(exact));
        let shapley = gain(1, Sizes::new(q, m)).value(row).value;
        assert!(found.z(shapley).abs() > 5.0, "seed {seed}: no power against {shapley}");
    }
}

#[test]
fn only_the_gain_has_other_semivalues() {
    let sizes = Sizes::new(12, 40).with_semivalue(Semivalue::Banzhaf);
    for (constant, convention) in [
        (Constant::Theorem, Convention::Definition),
        (Constant::Full(1.0), Convention::Definition),
        (Constant::Gain, Convention::Printed),
    ] {
        let refused = GaussianForm::new(3, sizes, constant, convention).map(|_| ());
        assert!(matches!(refused, Err(Error::BadOption { .. })), "{constant:?} {convention:?}");
    }
    assert!(gain(3, sizes).with_constant(Constant::Theorem).is_err());
}

#[test]
fn density_weights_are_sums_over_sizes() {
    for (n, m) in [(1, 1), (1, 30), (3, 500), (40, 2000)] {
        for law in LAWS {
            let found = SizeWeights::weighted(n, m, law).unwrap();
            let (mut own, mut joint, mut spread) = (0.0, 0.0, 0.0);
            for s in (0..m).rev() {
                let (omega, n, s) = (weight(law, s, m), n as f64, s as f64);
                own += omega * (n / (n + s)).powi(2);
                joint += omega * 2.0 * n * s / (n + s).powi(2);
                if s > 0.0 {
                    spread += omega * (1.0 - (s / (n + s)).powi(2)) / s;
                }
            }
            for (found, exact) in [(found.own, own), (found.joint, joint), (found.spread, spread)] {
                assert!((found - exact).abs() <= 2e-11 * exact, "{law} {n} {m}: {found} {exact}");
            }
        }
    }
    assert_eq!(SizeWeights::weighted(3, 50, Semivalue::Shapley), SizeWeights::new(3, 50));
}

/// Each size by binomial coefficients, and the closed forms for all sizes.
#[test]
fn neighbour_weights_are_sums_over_sizes() {
    let choose = |n: usize, r: usize| (0..r).map(|i| (n - i) as f64 / (r - i) as f64).product::<f64>();
    for (n, k, q, m) in [(12, 1, 2, 13), (12, 3, 4, 13), (20, 4, 9, 15), (20, 2, 3, 30), (60, 5, 6, 50)] {
        for law in LAWS {
            let table = WeightTable::new(n, k, Sizes::new(q, m).with_semivalue(law)).unwrap();
            for i in 1..=n {
                let sizes = k.max(q - 1)..=(m - 1).min(n);
                let sizes = sizes.filter(|s| i >= k && s - k <= n - i);
                let exact: f64 = sizes
                    .map(|s| {
                        // The largest sets that can be drawn stand for those of m − 1 rows.
                        let is_last = law == Semivalue::AtMax && s == (m - 1).min(n);
                        let omega = if is_last { 1.0 } else { weight(law, s, m) };
                        omega * choose(i - 1, k - 1) * choose(n - i, s - k) / choose(n, s)
                    })
                    .sum();
                let found = table.weight(i);
                assert!(
                    (found - exact).abs() <= 1e-13 * exact + 1e-17,
                    "{law} {n} {k} {q} {m} {i}: {found} {exact}"
                );
            }
        }
        if m == n + 1 && q == k + 1 {
            let table = |law| WeightTable::new(n, k, Sizes::new(q, m).with_semivalue(law)).unwrap();
            for i in k..=n {
                let banzhaf = choose(i - 1, k - 1) / 2.0_f64.powi(i as i32);
                assert!((table(Semivalue::Banzhaf).weight(i) / banzhaf - 1.0).abs() < 1e-12, "{n} {k} {i}");
                let plain = (k as f64) / (i * (i + 1)) as f64;
                assert!(
                    (table(Semivalue::Beta(1.0, 1.0)).weight(i) / plain - 1.0).abs() < 1e-12,
                    "{n} {k} {i}"
                );
            }
        }
    }
    // Beyond the range of doubles on the way: many neighbours of few rows.
    let far = WeightTable::new(30_000, 150, Sizes::new(151, 400).with_semivalue(Semivalue::Beta(1.0, 1.0)))
        .unwrap();
    let plain = WeightTable::new(30_000, 150, Sizes::new(151, 400)).unwrap();
    for i in [12_000, 18_000, 25_000] {
        assert!(
            (far.weight(i) / plain.weight(i) - 1.0).abs() < 1e-9,
            "{i}: {} {}",
            far.weight(i),
            plain.weight(i)
        );
    }
}
