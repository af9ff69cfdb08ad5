//! The bandwidth that cross-validation chooses.

use crate::classification_data::data;
use crate::common::density::{given, normal_rows};
use dshap::density::{Bandwidth, DensityFit, DensityMethod, DensityOptions, DensityValuer, Kernel};
use dshap_testkit::{on_threads, seeds};
use faer::Mat;

/// Six more bandwidths do no worse than the grid, and bracket a maximum of the score.
#[test]
fn the_best_bandwidth_is_refined() {
    for seed in seeds(9900) {
        for (kernel, dim) in [(Kernel::Gaussian, 1), (Kernel::Gaussian, 4), (Kernel::Epanechnikov, 2)] {
            let rows = normal_rows(seed, 300, dim);
            let fit = |bandwidth| {
                let options = DensityOptions { bandwidth, ..given(kernel, 1.0) };
                DensityFit::of(rows.as_ref(), options).unwrap()
            };
            let (refined, grid) = (fit(Bandwidth::CrossValidated), fit(Bandwidth::Grid));
            let score = |fit: &DensityFit| {
                fit.curve().iter().find(|trial| trial.bandwidth == fit.bandwidth()).unwrap().score
            };
            let (fine, coarse) = (score(&refined), score(&grid));
            assert!(fine >= coarse, "{kernel:?} {dim}: {fine} is worse than {coarse}");
            let (h, h_grid) = (refined.bandwidth(), grid.bandwidth());
            assert!((h / h_grid).ln().abs() < 10.0_f64.ln() / 2.0, "{h} is not beside {h_grid}");
            let curve = refined.curve();
            assert!(curve.windows(2).all(|pair| pair[0].bandwidth < pair[1].bandwidth));
            // Both neighbours of the best were tried, and are no better.
            let place = curve.iter().position(|trial| trial.bandwidth == h).unwrap();
            let (below, above) = (curve[place - 1], curve[place + 1]);
            assert!(below.score <= fine && above.score <= fine);
            assert!(above.bandwidth / below.bandwidth < 1.35, "{} to {}", below.bandwidth, above.bandwidth);
            let threads = [1, 3].map(|n| on_threads(n, || fit(Bandwidth::CrossValidated).bandwidth()));
            assert_eq!(threads.map(f64::to_bits), [h.to_bits(); 2]);
        }
    }
}

/// Mean log density of rows under the others outside their fold, at many bandwidths.
fn fine_optimum(rows: &Mat<f64>) -> f64 {
    let (n, dim) = (rows.nrows(), rows.ncols());
    let gap = |i: usize, b: usize| (0..dim).map(|j| (rows[(i, j)] - rows[(b, j)]).powi(2)).sum::<f64>();
    let gaps: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).filter(|b| b % 5 != i % 5).map(|b| gap(i, b)).collect()).collect();
    let score = |h: f64| {
        let log = |gaps: &Vec<f64>| {
            let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
            let sum: f64 = gaps.iter().map(|gap| ((least - gap) / (2.0 * h * h)).exp()).sum();
            (sum / gaps.len() as f64).ln() - least / (2.0 * h * h)
        };
        gaps.iter().map(log).sum::<f64>() / n as f64 - dim as f64 * h.ln()
    };
    let tried = (-40..=0).map(|step| 10.0_f64.powf(f64::from(step) / 40.0));
    let scores = tried.map(|h| (h, score(h)));
    scores.max_by(|one, other| one.1.total_cmp(&other.1)).expect("there are some").0
}

/// Spearman's correlation of numbers without ties.
fn spearman(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        order.into_iter().enumerate().for_each(|(rank, row)| ranks[row] = rank as f64);
        ranks
    };
    let n = one.len() as f64;
    let gaps: f64 = ranks(one).iter().zip(ranks(other)).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * gaps / (n * (n * n - 1.0))
}

/// On a real table, values rank rows as they do at the best of forty bandwidths per decade.
#[test]
fn whitewine_is_ranked_as_at_the_fine_optimum() {
    let Some(table) = data("whitewine.csv") else { return };
    // Every fifth row, standardised.
    let n = table.n_rows() / 5;
    let column = |column: &Vec<f64>| {
        let cells: Vec<f64> = (0..n).map(|i| column[5 * i]).collect();
        let mean = cells.iter().sum::<f64>() / n as f64;
        let spread = (cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        cells.iter().map(|cell| (cell - mean) / spread).collect::<Vec<f64>>()
    };
    let columns: Vec<Vec<f64>> = table.columns.iter().map(column).collect();
    let rows = Mat::from_fn(n, columns.len(), |i, j| columns[j][i]);
    let values = |bandwidth| {
        let options = DensityOptions { bandwidth, ..given(Kernel::Gaussian, 1.0) };
        let fit = DensityFit::of(rows.as_ref(), options).unwrap();
        let h = fit.bandwidth();
        let valuer = DensityValuer::new(fit, n, DensityMethod::Closed).unwrap();
        (h, valuer.leave_one_out(0, n).unwrap().part(dshap::Part::Relative).unwrap().to_vec())
    };
    let best = fine_optimum(&rows);
    let (_, exact) = values(Bandwidth::Given(best));
    let [refined, grid] = [Bandwidth::CrossValidated, Bandwidth::Grid].map(|bandwidth| {
        let (h, found) = values(bandwidth);
        (h, spearman(&found, &exact))
    });
    println!(
        "fine optimum {best:.4}; refined {:.4}: {:.4}; grid {:.4}: {:.4}",
        refined.0, refined.1, grid.0, grid.1
    );
    assert!((refined.0 / best).ln().abs() < 0.1, "{} instead of {best}", refined.0);
    assert!(refined.1 > 0.99, "{refined:?}");
    assert!(grid.1 < refined.1, "the grid is as good: {grid:?}");
}
