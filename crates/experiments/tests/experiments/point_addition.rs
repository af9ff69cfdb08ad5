//! Figures 2, 5 and 6 on simulated data: what is written, and that neither kills nor
//! threads change it.

use crate::common::{csv, done, number, tiny, tiny_bounds};
use dshap_experiments::{Error, Experiment, Settings, Unwatched, run};

const HEADER: &str = "dataset,repetition,method,order,added,utility,relative";
/// 0, 2, … 50 points.
const STEPS: usize = 26;

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn every_curve_starts_from_the_same_model_at_a_hundred_per_cent() {
    let folder = done(Experiment::Fig2, &tiny("gaussian-r"));
    let (header, rows) = csv(&folder.path().join("fig2.csv"));
    assert_eq!(header, HEADER);
    // Two orders of two methods and random, twice; D-SHAPLEY once.
    assert_eq!(rows.len(), (2 * 5 + 2) * STEPS);
    for repetition in ["0", "1"] {
        let starts: Vec<&Vec<String>> =
            rows.iter().filter(|row| row[1] == repetition && row[4] == "0").collect();
        for start in &starts {
            // The mean of ten equal starts may differ in the last digit.
            assert!((number(&start[5]) / number(&starts[0][5]) - 1.0).abs() < 1e-14);
            assert_eq!(number(&start[6]), 100.0);
        }
    }
    for extension in ["svg", "png", "md", "json"] {
        assert!(folder.path().join(format!("fig2.{extension}")).metadata().unwrap().len() > 100);
    }
    let figure = std::fs::read_to_string(folder.path().join("fig2.svg")).unwrap();
    for words in
        ["means of 2 repetitions", "(regression, D-SHAPLEY of 1)", "the paper's algorithms, largest first"]
    {
        assert!(figure.contains(words), "{words}");
    }
    let summary = std::fs::read_to_string(folder.path().join("fig2.md")).unwrap();
    assert!(summary.contains("| gaussian-r | regression |") && summary.contains("| too few |"));
    assert!(summary.contains("Student's t") && !summary.contains("| holds |"));
}

#[test]
fn a_run_that_was_killed_ends_with_the_same_files() {
    let settings = tiny("gaussian-r");
    let whole = done(Experiment::Fig2, &settings);
    let text = std::fs::read_to_string(whole.path().join("fig2.csv")).unwrap();
    for cut in [0, 10, text.len() / 3, text.len() / 2 + 7, text.len() - 1] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(whole.path().join("fig2.json"), folder.path().join("fig2.json")).unwrap();
        std::fs::write(folder.path().join("fig2.csv"), &text[..cut]).unwrap();
        run(Experiment::Fig2, &settings, folder.path(), &Unwatched).unwrap();
        for extension in ["csv", "svg", "png", "md", "json"] {
            let bytes = |dir: &tempfile::TempDir| {
                std::fs::read(dir.path().join(format!("fig2.{extension}"))).unwrap()
            };
            assert_eq!(bytes(&folder), bytes(&whole), "fig2.{extension}, cut after {cut} bytes");
        }
    }
}

#[test]
fn threads_do_not_change_a_byte() {
    let settings = Settings { repetitions: Some(3), ..tiny("gaussian-r") };
    let tables: Vec<Vec<u8>> = [1, 2, 5]
        .map(|threads| {
            let folder = rayon_pool(threads).install(|| done(Experiment::Fig2, &settings));
            std::fs::read(folder.path().join("fig2.csv")).unwrap()
        })
        .into();
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
}

#[test]
fn more_repetitions_continue_from_fewer() {
    let few = Settings { d_shapley: Some(0), ..tiny("gaussian-r") };
    let more = Settings { repetitions: Some(4), ..few.clone() };
    let folder = done(Experiment::Fig2, &few);
    run(Experiment::Fig2, &more, folder.path(), &Unwatched).unwrap();
    let whole = done(Experiment::Fig2, &more);
    let bytes = |folder: &tempfile::TempDir| std::fs::read(folder.path().join("fig2.csv")).unwrap();
    assert_eq!(bytes(&folder), bytes(&whole));
}

#[test]
fn other_settings_are_not_mixed_into_a_folder() {
    let folder = done(Experiment::Fig5, &tiny_bounds("gaussian-r"));
    let before = std::fs::read(folder.path().join("fig5.csv")).unwrap();
    for other in [
        Settings { seed: 12, ..tiny_bounds("gaussian-r") },
        Settings { only: Some(vec!["gaussian-r".into(), "abalone".into()]), ..tiny_bounds("gaussian-r") },
        Settings { quick: false, ..tiny_bounds("gaussian-r") },
    ] {
        let refused = run(Experiment::Fig5, &other, folder.path(), &Unwatched);
        assert!(matches!(refused, Err(Error::OtherRun { .. })), "{refused:?}");
    }
    let fewer = Settings { repetitions: Some(1), ..tiny_bounds("gaussian-r") };
    let refused = run(Experiment::Fig5, &fewer, folder.path(), &Unwatched);
    assert!(matches!(refused, Err(Error::MoreThanAsked { .. })), "{refused:?}");
    assert_eq!(std::fs::read(folder.path().join("fig5.csv")).unwrap(), before);
}

#[test]
fn bounds_rank_in_both_figures() {
    for (experiment, panel) in [(Experiment::Fig5, "gaussian-r"), (Experiment::Fig6, "gaussian-c")] {
        let folder = done(experiment, &tiny_bounds(panel));
        let (header, rows) = csv(&folder.path().join(format!("{}.csv", experiment.name())));
        assert_eq!(header, HEADER);
        // Four bounds; exact values and D-SHAPLEY where models need no refitting.
        let n_methods = if experiment == Experiment::Fig5 { 6 } else { 4 };
        assert_eq!(rows.len(), 2 * (2 * n_methods + 1) * STEPS);
        let orders = |method: &str, order: &str| -> Vec<String> {
            let own = rows.iter().filter(|row| row[2] == method && row[3] == order);
            own.map(|row| row[5].clone()).collect()
        };
        for method in ["authors-upper", "authors-lower", "upper", "lower"] {
            assert_ne!(orders(method, "largest"), orders(method, "smallest"), "{method} ranks");
        }
        let figure =
            std::fs::read_to_string(folder.path().join(format!("{}.svg", experiment.name()))).unwrap();
        assert!(figure.contains(": means of 2 repetitions, bands of one standard error<"));
        let has_left_column = figure.contains(&format!("{panel}, exact values<"));
        assert_eq!(has_left_column, experiment == Experiment::Fig5);
        assert_eq!(figure.contains("D-SHAPLEY, largest first<"), experiment == Experiment::Fig5);
    }
}

#[test]
fn figure_6_has_the_curves_of_d_shapley() {
    let folder = done(Experiment::Fig6, &tiny("gaussian-c"));
    let (_, rows) = csv(&folder.path().join("fig6.csv"));
    // Four bounds and random in both repetitions, D-SHAPLEY in the first.
    assert_eq!(rows.len(), (2 * (2 * 4 + 1) + 2) * STEPS);
    let figure = std::fs::read_to_string(folder.path().join("fig6.svg")).unwrap();
    for curve in ["D-SHAPLEY, largest first<", "D-SHAPLEY, smallest first<"] {
        assert!(figure.contains(curve), "{curve}");
    }
    let summary = std::fs::read_to_string(folder.path().join("fig6.md")).unwrap();
    assert!(
        summary.contains("## D-SHAPLEY\n")
            && summary.contains("## Lower bound, as in the authors' program\n")
    );
}

/// Points added largest first give better models on Gaussian-R than smallest first.
/// In the full run (`docs/results/`) the gap between the two curves is 1.1 standard
/// deviations over repetitions, so 25 of them are expected to give z = 5.5. If values
/// were noise, z > 3 would happen once in 700 times.
#[test]
fn values_order_points_better_than_chance() {
    let n = 25;
    let settings = Settings { repetitions: Some(n), d_shapley: Some(0), ..tiny("gaussian-r") };
    let folder = done(Experiment::Fig2, &settings);
    let (_, rows) = csv(&folder.path().join("fig2.csv"));
    let curve = |repetition: usize, order: &str| -> f64 {
        let own = rows.iter().filter(|row| {
            row[1] == repetition.to_string() && row[2] == "closed" && row[3] == order && row[4] != "0"
        });
        own.map(|row| number(&row[6])).sum::<f64>() / (STEPS - 1) as f64
    };
    let gaps: Vec<f64> = (0..n).map(|r| curve(r, "largest") - curve(r, "smallest")).collect();
    let gap = dshap_experiments::statistics::MeanEstimate::of(&gaps);
    assert!(gap.z() > 3.0, "{gap:?}");
}

#[test]
fn unknown_panels_and_missing_data_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |panel: &str| run(Experiment::Fig2, &tiny(panel), folder.path(), &Unwatched).unwrap_err();
    let unknown = refused("abalon");
    assert!(matches!(&unknown, Error::UnknownPanel { panels, .. } if panels.contains(&"abalone")));
    let missing = refused("abalone");
    assert!(matches!(missing, Error::NotFound { dataset: "abalone", .. }));
}
