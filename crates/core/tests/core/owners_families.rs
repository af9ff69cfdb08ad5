//! Games of models without sufficient statistics, against their definitions.

use crate::common::Data;
use dshap::Error;
use dshap::density::{Bandwidth, DensityOptions, Kernel, Scaling};
use dshap::neighbours::{Metric, Scale, near_rows};
use dshap::owners::{
    DensityGame, Exact, Game, HeldMarket, Judged, LogisticGame, NeighbourGame, NeighbourGameOptions,
    NeighbourTarget, Parts, exact,
};
use dshap_testkit::{Draws, assert_same_bits, on_threads};
use faer::Mat;

/// Rows of three owners, the buyer's rows and test rows, with labels 0 … `n_classes − 1`.
struct Market {
    rows: Data,
    part: Vec<usize>,
    fold: Vec<usize>,
    own: Data,
    own_fold: Vec<usize>,
    test: Data,
    test_fold: Vec<usize>,
}

fn drawn(seed: u64, n: usize, n_classes: usize) -> Data {
    let mut draws = Draws::new(seed);
    let x = Mat::from_fn(n, 2, |_, _| draws.normal());
    let label = |i: usize, noise: f64| {
        let score = x[(i, 0)] - 0.5 * x[(i, 1)] + noise;
        (0..n_classes - 1).filter(|&cut| score > cut as f64 - 0.5 * (n_classes as f64 - 2.0)).count() as f64
    };
    let y = (0..n).map(|i| label(i, draws.normal())).collect();
    Data { x, y }
}

impl Market {
    fn new(n_classes: usize) -> Self {
        let part: Vec<usize> = (0..36).map(|i| (i * i) % 3).collect();
        let fold = |n: usize| (0..n).map(|i| i % 5).collect();
        Self {
            rows: drawn(1, 36, n_classes),
            part,
            fold: fold(36),
            own: drawn(2, 9, n_classes),
            own_fold: fold(9),
            test: drawn(3, 20, n_classes),
            test_fold: fold(20),
        }
    }

    fn held(&self, has_own: bool, crossed: bool) -> HeldMarket<'_> {
        HeldMarket {
            rows: self.rows.rows(),
            part: &self.part,
            fold: &self.fold,
            parts: Parts::one_each(3),
            own: has_own.then(|| (self.own.rows(), self.own_fold.as_slice())),
            test: self.test.rows(),
            test_fold: crossed.then_some(self.test_fold.as_slice()),
        }
    }

    /// The rows that a coalition trains on to predict test rows of a fold.
    fn train(&self, coalition: usize, has_own: bool, left_out: Option<usize>) -> Data {
        let mut rows: Vec<(Vec<f64>, f64)> = Vec::new();
        for i in 0..36 {
            if coalition >> self.part[i] & 1 == 1 && left_out != Some(self.fold[i]) {
                rows.push((vec![self.rows.x[(i, 0)], self.rows.x[(i, 1)]], self.rows.y[i]));
            }
        }
        for i in (0..9).filter(|_| has_own) {
            if left_out != Some(self.own_fold[i]) {
                rows.push((vec![self.own.x[(i, 0)], self.own.x[(i, 1)]], self.own.y[i]));
            }
        }
        Data {
            x: Mat::from_fn(rows.len(), 2, |i, j| rows[i].0[j]),
            y: rows.iter().map(|row| row.1).collect(),
        }
    }

    /// The mean worth over test rows, each with the rows it may be predicted from.
    fn mean(
        &self,
        coalition: usize,
        has_own: bool,
        crossed: bool,
        worth: impl Fn(&Data, [f64; 2], f64) -> f64,
    ) -> f64 {
        let each = (0..20).map(|t| {
            let train = self.train(coalition, has_own, crossed.then_some(self.test_fold[t]));
            worth(&train, [self.test.x[(t, 0)], self.test.x[(t, 1)]], self.test.y[t])
        });
        each.sum::<f64>() / 20.0
    }

    fn share(&self, label: f64) -> f64 {
        self.test.y.iter().filter(|y| **y == label).count() as f64 / 20.0
    }
}

fn solve<G: Game>(game: &G) -> Exact {
    exact(game, &|_, _| true).unwrap()
}

#[track_caller]
fn check(found: &Exact, expected: impl Fn(usize) -> f64, tolerance: f64) {
    for (coalition, found) in found.utilities.iter().enumerate() {
        let expected = expected(coalition);
        assert!((found - expected).abs() < tolerance, "{coalition:b}: found {found}, expected {expected}");
    }
    let total = found.utilities[7] - found.utilities[0];
    assert!((found.shapley.iter().sum::<f64>() - total).abs() < 1e-12);
    // Traces are the contributions to single test rows.
    for owner in 0..3 {
        let mean = found.traces.col_as_slice(owner).iter().sum::<f64>() / 20.0;
        assert!((mean - found.shapley[owner]).abs() < 1e-12);
    }
}

/// Logistic regression by plain gradient descent, sharing no code with core.
fn descent(train: &Data, positive: f64, ridge: f64) -> [f64; 3] {
    let mut beta = [0.0_f64; 3];
    let n = train.y.len() as f64;
    let curvature = 0.25 * n * 12.0 + ridge;
    for _ in 0..60_000 {
        let mut gradient = [0.0, ridge * beta[1], ridge * beta[2]];
        for i in 0..train.y.len() {
            let x = [1.0, train.x[(i, 0)], train.x[(i, 1)]];
            let margin: f64 = x.iter().zip(&beta).map(|(x, b)| x * b).sum();
            let residual = 1.0 / (1.0 + (-margin).exp()) - f64::from(u8::from(train.y[i] == positive));
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g += residual * x);
        }
        beta.iter_mut().zip(gradient).for_each(|(b, g)| *b -= 2.0 * g / curvature);
    }
    beta
}

fn probability(beta: [f64; 3], x: [f64; 2]) -> f64 {
    1.0 / (1.0 + (-(beta[0] + beta[1] * x[0] + beta[2] * x[1])).exp())
}

#[test]
fn logistic_coalitions_are_worth_what_refits_are_worth() {
    let market = Market::new(2);
    let has_both = |train: &Data| [0.0, 1.0].iter().all(|label| train.y.contains(label));
    for (has_own, judged) in [(false, Judged::LogLoss), (true, Judged::Brier), (true, Judged::Accuracy)] {
        let game = LogisticGame::new(&market.held(has_own, false), 2, judged, Some(0.8)).unwrap();
        let expected = |coalition: usize| {
            let train = market.train(coalition, has_own, None);
            let beta = has_both(&train).then(|| descent(&train, 1.0, 0.8));
            market.mean(coalition, has_own, false, |_, x, y| {
                let one = beta.map_or(market.share(1.0), |beta| probability(beta, x));
                let prob = if y == 1.0 { one } else { 1.0 - one };
                match judged {
                    Judged::LogLoss => prob.ln(),
                    Judged::Brier => -(1.0 - prob).powi(2),
                    Judged::Accuracy => f64::from(u8::from(prob > 0.5)),
                }
            })
        };
        check(&solve(&game), expected, 1e-7);
    }
}

#[test]
fn several_classes_are_told_apart_one_by_one() {
    let market = Market::new(3);
    let game = LogisticGame::new(&market.held(false, false), 3, Judged::LogLoss, Some(1.5)).unwrap();
    let expected = |coalition: usize| {
        let train = market.train(coalition, false, None);
        let has_all = [0.0, 1.0, 2.0].iter().all(|label| train.y.contains(label));
        let models = has_all.then(|| [0.0, 1.0, 2.0].map(|label| descent(&train, label, 1.5)));
        market.mean(coalition, false, false, |_, x, y| match models {
            None => market.share(y).ln(),
            Some(models) => {
                let each = models.map(|beta| probability(beta, x));
                (each[y as usize] / each.iter().sum::<f64>()).ln()
            }
        })
    };
    check(&solve(&game), expected, 1e-7);
}

#[test]
fn a_penalty_is_chosen_and_wrong_labels_are_refused() {
    let market = Market::new(2);
    let game = LogisticGame::new(&market.held(true, true), 2, Judged::LogLoss, None).unwrap();
    assert!(game.ridge() > 0.0 && game.ridge().is_finite());
    let refused = LogisticGame::new(&Market::new(3).held(true, false), 2, Judged::LogLoss, None).map(|_| ());
    assert!(matches!(refused, Err(Error::NotAClass { n_classes: 2, .. })), "{refused:?}");
}

#[test]
fn neighbours_of_coalitions_are_the_nearest_of_their_rows() {
    let market = Market::new(3);
    for (target, crossed) in [(NeighbourTarget::Labels, false), (NeighbourTarget::Numbers, true)] {
        for (has_own, metric) in [(false, Metric::Euclidean), (true, Metric::Manhattan)] {
            let options = NeighbourGameOptions { k: 4, metric, scale: Scale::AsGiven, target };
            let game = NeighbourGame::new(&market.held(has_own, crossed), options).unwrap();
            let mean = market.test.y.iter().sum::<f64>() / 20.0;
            let expected = |coalition: usize| {
                market.mean(coalition, has_own, crossed, |train, x, y| {
                    let distance = |i: usize| {
                        let (a, b) = (train.x[(i, 0)] - x[0], train.x[(i, 1)] - x[1]);
                        if metric == Metric::Manhattan { a.abs() + b.abs() } else { a.hypot(b) }
                    };
                    let mut order: Vec<usize> = (0..train.y.len()).collect();
                    order.sort_by(|&i, &j| distance(i).total_cmp(&distance(j)));
                    order.truncate(4);
                    let n = order.len() as f64;
                    match target {
                        NeighbourTarget::Labels if order.is_empty() => market.share(y),
                        NeighbourTarget::Labels => {
                            order.iter().filter(|&&i| train.y[i] == y).count() as f64 / n
                        }
                        NeighbourTarget::Numbers if order.is_empty() => -(y - mean).powi(2),
                        NeighbourTarget::Numbers => {
                            -(order.iter().map(|&i| train.y[i]).sum::<f64>() / n - y).powi(2)
                        }
                    }
                })
            };
            check(&solve(&game), expected, 1e-12);
        }
    }
}

/// A copy of an owner's rows ties with every one of them: the copies share places.
#[test]
fn copies_of_neighbours_are_worth_the_same() {
    let mut market = Market::new(2);
    for i in 0..12 {
        for j in 0..2 {
            market.rows.x[(i + 24, j)] = market.rows.x[(i, j)];
        }
        market.rows.y[i + 24] = market.rows.y[i];
        (market.part[i], market.part[i + 12], market.part[i + 24]) = (0, 1, 2);
    }
    let target = NeighbourTarget::Labels;
    let options = NeighbourGameOptions { k: 3, metric: Metric::Euclidean, scale: Scale::Standard, target };
    let found = solve(&NeighbourGame::new(&market.held(false, false), options).unwrap());
    assert!((found.shapley[0] - found.shapley[2]).abs() < 1e-12, "{:?}", found.shapley);
}

#[test]
fn densities_of_coalitions_follow_from_sums_between_owners() {
    let market = Market::new(2);
    for (kernel, has_own, crossed) in [(Kernel::Gaussian, false, false), (Kernel::Epanechnikov, true, true)] {
        let options = DensityOptions {
            kernel,
            bandwidth: Bandwidth::Given(0.7),
            scaling: Scaling::None,
            ..DensityOptions::default()
        };
        let game = DensityGame::new(&market.held(has_own, crossed), options).unwrap();
        let expected = |coalition: usize| {
            market.mean(coalition, has_own, crossed, |train, x, _| {
                let n = train.y.len();
                if n == 0 {
                    return 0.0;
                }
                let row = |i: usize| [train.x[(i, 0)], train.x[(i, 1)]];
                let k = |a: [f64; 2], b: [f64; 2]| {
                    (0..2).map(|j| kernel.at((a[j] - b[j]) / 0.7) / 0.7).product::<f64>()
                };
                let kk = |a: [f64; 2], b: [f64; 2]| {
                    (0..2).map(|j| kernel.convolved_at((a[j] - b[j]) / 0.7) / 0.7).product::<f64>()
                };
                let density = (0..n).map(|i| k(row(i), x)).sum::<f64>() / n as f64;
                let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                let square = pairs.map(|(i, j)| kk(row(i), row(j))).sum::<f64>() / (n * n) as f64;
                2.0 * density - square
            })
        };
        check(&solve(&game), expected, 1e-12);
    }
}

#[test]
fn games_of_held_rows_have_the_same_bits_on_any_number_of_threads() {
    let market = Market::new(2);
    let run = |n| {
        on_threads(n, || {
            let held = market.held(true, true);
            let logistic = solve(&LogisticGame::new(&held, 2, Judged::LogLoss, None).unwrap());
            let density = solve(&DensityGame::new(&held, DensityOptions::default()).unwrap());
            [logistic.utilities, density.utilities].concat()
        })
    };
    assert_same_bits(&run(1), &run(3), "utilities");
}

#[test]
fn rows_that_are_not_finite_are_refused() {
    let mut market = Market::new(2);
    market.test.x[(3, 1)] = f64::NAN;
    let refused = DensityGame::new(&market.held(false, false), DensityOptions::default()).map(|_| ());
    assert_eq!(refused, Err(Error::NotFinite { row: 3, column: 1 }));
}

/// The index finds what comparing all pairs finds.
#[test]
fn near_rows_are_found_without_comparing_all_pairs() {
    let data = drawn(9, 400, 3);
    let column =
        |j: usize| -> Vec<f64> { (0..400).map(|i| if j < 2 { data.x[(i, j)] } else { data.y[i] }).collect() };
    let scaled: Vec<Vec<f64>> = (0..3)
        .map(|j| {
            let cells = column(j);
            let mean = cells.iter().sum::<f64>() / 400.0;
            let std = (cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / 400.0).sqrt();
            cells.iter().map(|cell| cell / std).collect()
        })
        .collect();
    let tolerance = 0.1;
    let found = near_rows(data.rows(), tolerance, |_, near| near.to_vec()).unwrap();
    let mut n_near = 0;
    for i in 0..400 {
        let distance = |k: usize| {
            let squares: f64 = (0..3).map(|j| (scaled[j][i] - scaled[j][k]).powi(2)).sum();
            (squares / 3.0).sqrt()
        };
        for k in (0..400).filter(|&k| k != i) {
            // A standard deviation with another divisor moves the border by 0.13 %.
            if (distance(k) / tolerance - 1.0).abs() > 0.005 {
                assert_eq!(found[i].contains(&(k as u32)), distance(k) < tolerance, "rows {i} and {k}");
            }
        }
        assert!(found[i].is_sorted() && !found[i].contains(&(i as u32)));
        n_near += found[i].len();
    }
    assert!(n_near > 200, "{n_near} pairs");
}
