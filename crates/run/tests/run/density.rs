//! Densities from files: the core's bits, whatever the columns look like.

use crate::common::{Asked, Folder, column};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use dshap::density::{
    Algorithm5, Bandwidth, DensityFit, DensityMethod, DensityOptions, DensityValuer, Kernel, Scaling, Search,
};
use dshap::{Part, Values};
use dshap_catalogue::options::{
    BANDWIDTH, EVERY_ROW, EXCLUDE, KERNEL, M, MISSING, Q, SAMPLES, SCALE, SEED, TARGET,
};
use dshap_catalogue::{Misuse, Task};
use dshap_models::density::DensityModel;
use dshap_models::{Fixed, Lack, MergeConflict, RowRole};
use dshap_run::{Error, ExtraPass, FittedValuer, Warning};
use dshap_testkit::{Draws, assert_same_bits};
use faer::Mat;
use std::fmt::Write;

/// Two clusters in two columns.
fn cells(seed: u64, n: usize) -> Mat<f64> {
    let mut draws = Draws::new(seed);
    Mat::from_fn(n, 2, |i, j| draws.normal() * (1.0 + 20.0 * j as f64) + if i % 3 == 0 { 4.0 } else { 0.0 })
}

fn csv(x: &Mat<f64>) -> String {
    let mut csv = String::from("a,b\n");
    for i in 0..x.nrows() {
        let _ = writeln!(csv, "{},{}", x[(i, 0)], x[(i, 1)]);
    }
    csv
}

fn given(bandwidth: f64) -> Asked {
    Asked::density().set(&BANDWIDTH, bandwidth)
}

fn density_of(valuer: &FittedValuer) -> &DensityFit {
    &valuer.model.of::<DensityModel>().unwrap().fit
}

fn core(x: &Mat<f64>, options: DensityOptions, m: usize) -> DensityValuer {
    let fit = DensityFit::of(x.as_ref(), options).unwrap();
    DensityValuer::new(fit, m, DensityMethod::Closed).unwrap().with_std_error(true)
}

#[track_caller]
fn assert_is(rows: &RecordBatch, values: &Values) {
    assert_same_bits(&column(rows, "value"), &values.value, "value");
    assert_same_bits(&column(rows, "stderr"), values.std_error.as_ref().unwrap(), "stderr");
    for part in [Part::LogDensity, Part::Relative] {
        assert_same_bits(&column(rows, &part.name()), values.part(part).unwrap(), &part.name());
    }
}

#[test]
fn density_values_are_those_of_the_core() {
    let folder = Folder::new();
    let (reference, points) = (cells(1, 700), cells(2, 150));
    folder.write("reference.csv", &csv(&reference));
    folder.write("points.csv", &csv(&points));
    let default = DensityOptions::default();
    let cases = [
        (Asked::density(), default),
        (
            Asked::density()
                .set(&KERNEL, "epanechnikov")
                .set(&BANDWIDTH, "scott")
                .set(&SCALE, "none")
                .on(&EVERY_ROW),
            DensityOptions {
                kernel: Kernel::Epanechnikov,
                bandwidth: Bandwidth::Scott,
                scaling: Scaling::None,
                search: Search::All,
            },
        ),
        (
            given(0.7).set(&KERNEL, "triangular"),
            DensityOptions { kernel: Kernel::Triangular, bandwidth: Bandwidth::Given(0.7), ..default },
        ),
    ];
    for (asked, options) in cases {
        let core = core(&reference, options, 700);
        let (rows, summary) =
            folder.value("points.csv", asked.clone().against(&[folder.name("reference.csv")]));
        assert_is(&rows, &core.values_from(points.as_ref(), 0).unwrap());
        assert_eq!((summary.facts.task, summary.facts.task_guessed), ("density", false));
        assert_eq!((summary.facts.p, summary.facts.q, summary.facts.m), (2, 1, 700));
        assert_eq!((summary.reference_passes, summary.facts.target), (1, None));
        let facts = summary.facts.density.unwrap();
        assert_eq!((facts.kernel, facts.bandwidth), (options.kernel.name(), core.fit().bandwidth()));
        assert_eq!(facts.bandwidths_tried.len(), core.fit().curve().len());

        let (rows, _) = folder.value("reference.csv", asked);
        assert_is(&rows, &core.leave_one_out(0, 700).unwrap());
    }
}

#[test]
fn the_paper_s_monte_carlo_has_no_parts_and_its_own_seed() {
    let folder = Folder::new();
    let x = cells(3, 80);
    folder.write("t.csv", &csv(&x));
    let algorithm = Algorithm5 { seed: 7 };
    let fit =
        DensityFit::of(x.as_ref(), DensityOptions { bandwidth: Bandwidth::Given(0.5), ..Default::default() });
    let core = DensityValuer::new(fit.unwrap(), 30, DensityMethod::Algorithm5(algorithm)).unwrap();
    let asked = given(0.5).by("monte-carlo").set(&SEED, 7).set(&M, 30);
    let (rows, summary) = folder.value("t.csv", asked);
    assert_same_bits(&column(&rows, "value"), &core.leave_one_out(0, 80).unwrap().value, "value");
    assert!(rows.column_by_name("stderr").is_none() && rows.column_by_name("relative").is_none());
    assert_eq!((summary.facts.method, summary.facts.seed), ("monte-carlo", Some(7)));
}

#[test]
fn a_row_left_out_keeps_its_place_and_the_others_leave_themselves_out() {
    let folder = Folder::new();
    let x = cells(4, 60);
    let mut text = csv(&x);
    text = text.replacen('\n', "\n,1\n", 1) + "2,\n";
    folder.write("t.csv", &text);
    let (rows, summary) = folder.value("t.csv", given(0.5).set(&MISSING, "drop"));
    let value = rows.column_by_name("value").unwrap();
    assert!((rows.num_rows(), value.null_count()) == (62, 2) && value.is_null(0) && value.is_null(61));
    let expected = core(&x, DensityOptions { bandwidth: Bandwidth::Given(0.5), ..Default::default() }, 60);
    assert_is(&rows.slice(1, 60), &expected.leave_one_out(0, 60).unwrap());
    assert_eq!(summary.facts.n_reference, 60);
    let left_out = Warning::RowsLeftOut { role: RowRole::Reference, n_rows: 2, lack: Lack::Cell };
    assert!(summary.warnings.contains(&left_out), "{:?}", summary.warnings);
}

#[test]
fn every_level_of_a_text_column_has_a_column() {
    let folder = Folder::new();
    let levels = ["a", "b", "c"];
    let number = |i: usize| (i * i % 17) as f64;
    let mut text = String::from("city,constant,size\n");
    for i in 0..50 {
        let _ = writeln!(text, "{},5,{}", levels[i % 3], number(i));
    }
    folder.write("t.csv", &text);
    let x = Mat::from_fn(50, 5, |i, j| match j {
        3 => 5.0,
        4 => number(i),
        level => f64::from(i % 3 == level),
    });
    let (rows, summary) = folder.value("t.csv", given(0.8));
    let options = DensityOptions { bandwidth: Bandwidth::Given(0.8), ..Default::default() };
    assert_is(&rows, &core(&x, options, 50).leave_one_out(0, 50).unwrap());
    assert_eq!(summary.extra_passes, [ExtraPass::Levels]);
    assert_eq!(summary.facts.dropped_columns, ["constant"]);
    let [Warning::Core(dshap::Warning::ConstantColumns { columns }, names)] = &summary.warnings[..] else {
        panic!("{:?}", summary.warnings)
    };
    assert_eq!((columns.as_slice(), names.column(3)), ([3].as_slice(), "constant".into()));
}

#[test]
fn rows_of_a_sampled_reference_leave_themselves_out_where_they_are_in_it() {
    let folder = Folder::new();
    let x = cells(5, 3000);
    folder.write("t.csv", &csv(&x));
    let asked = given(1.5).set(&SCALE, "none").set(&SAMPLES, 400).set(&SEED, 3);
    let (rows, summary) = folder.value("t.csv", asked.clone());
    folder.fit(&["t.csv"], asked, "v.dshap");
    let saved = folder.load("v.dshap");
    let parts = density_of(&saved).to_parts();
    let sample = Mat::from_fn(400, 2, |i, j| parts.rows[2 * i + j]);
    let options =
        DensityOptions { bandwidth: Bandwidth::Given(1.5), scaling: Scaling::None, ..Default::default() };
    let core = core(&sample, options, 3000);
    let (inside, outside) = (core.leave_one_out(0, 400).unwrap(), core.values_from(x.as_ref(), 0).unwrap());
    let mut next = 0;
    let expected: Vec<f64> = (0..3000)
        .map(|i| {
            let is_next = next < 400 && (0..2).all(|j| sample[(next, j)] == x[(i, j)]);
            next += usize::from(is_next);
            if is_next { inside.value[next - 1] } else { outside.value[i] }
        })
        .collect();
    assert_eq!(next, 400, "the sample stands in the order of the table");
    assert_same_bits(&column(&rows, "value"), &expected, "value");
    let facts = summary.facts.density.unwrap();
    assert_eq!((facts.rows_used, facts.sample_seed, summary.facts.n_reference), (400, Some(3), 3000));
    assert!(summary.warnings.is_empty(), "it was asked for: {:?}", summary.warnings);
}

/// A column that the sample has one value of is no constant, and the scale is that of
/// all rows.
#[test]
fn a_sampled_reference_is_scaled_by_all_of_its_rows() {
    let folder = Folder::new();
    let mut x = cells(8, 2000);
    for i in 0..2000 {
        x[(i, 1)] = f64::from(i == 8);
    }
    folder.write("t.csv", &csv(&x));
    let asked = given(0.5).set(&SAMPLES, 100);
    let (rows, summary) = folder.value("t.csv", asked.clone());
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    let log_density = column(&rows, "log_density");
    // One row in 2000 is 45 standard deviations away from all others.
    assert!(
        log_density[8] < log_density.iter().copied().fold(0.0, f64::min) + 1.0 && log_density[8] < -2000.0
    );
    folder.fit(&["t.csv"], asked, "v.dshap");
    let saved = folder.load("v.dshap");
    let parts = density_of(&saved).to_parts();
    let mean = x.col(0).iter().sum::<f64>() / 2000.0;
    let var = x.col(0).iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / 2000.0;
    assert!((parts.centre[0] - mean).abs() < 1e-12 && (parts.factor[0] * var.sqrt() - 1.0).abs() < 1e-12);
}

#[test]
fn a_saved_density_gives_the_bits_of_the_reference() {
    let folder = Folder::new();
    folder.write("r.csv", &csv(&cells(6, 2500)));
    folder.write("p.csv", &csv(&cells(7, 90)));
    for asked in [Asked::density(), given(0.3).set(&KERNEL, "uniform")] {
        let against = asked.clone().against(&[folder.name("r.csv")]);
        let direct = folder.value("p.csv", against.clone()).0;
        folder.fit(&["r.csv"], asked, "v.dshap");
        let saved = folder.value_by("p.csv", "v.dshap", Asked::nothing()).0;
        assert_eq!(saved, direct);
        let fewer = folder.value_by("p.csv", "v.dshap", Asked::nothing().set(&M, 9)).0;
        assert_eq!(fewer, folder.value("p.csv", against.set(&M, 9)).0);
        let bytes = std::fs::read(folder.path("v.dshap")).unwrap();
        let again = folder.load("v.dshap").to_container().to_bytes().unwrap();
        assert!(bytes == again, "a file that is read and written is the same file");
    }
}

#[test]
fn what_does_not_go_with_a_density_is_refused() {
    let folder = Folder::new();
    folder.write("t.csv", &csv(&cells(8, 40)));
    folder.write("two.csv", "a\n1\n2\n");
    folder.write("same.csv", "a\n1\n1\n1\n1\n1\n");
    let refused = |table: &str, asked: Asked| folder.try_value(table, asked).map(|_| ()).unwrap_err();
    let misused = |asked: Asked| match refused("t.csv", asked) {
        Error::Misuse(misuse) => misuse,
        error => panic!("{error}"),
    };
    let core = |table: &str, asked: Asked| match refused(table, asked) {
        Error::Core { error, .. } => error,
        error => panic!("{error}"),
    };

    // Every column is a feature, unless it is excluded.
    let misuse = misused(Asked::density().set(&TARGET, "b"));
    let Misuse::NotTaken { option: "target", method: "closed", why, .. } = misuse else {
        panic!("{misuse:?}")
    };
    assert!(why.contains("{exclude}"), "{why}");
    assert_eq!(folder.value("t.csv", Asked::density().set(&EXCLUDE, "b")).1.facts.p, 1);
    // Sets of every size count.
    let misuse = misused(Asked::density().set(&Q, 3));
    assert!(matches!(misuse, Misuse::NotTaken { option: "q", method: "closed", .. }), "{misuse:?}");
    let misuse = misused(Asked::density().by("calibrated"));
    assert!(
        matches!(misuse, Misuse::NotForTask { method: "calibrated", task: Task::Density, .. }),
        "{misuse:?}"
    );
    let misuse = misused(Asked::new("b").set(&BANDWIDTH, 1));
    assert!(
        matches!(misuse, Misuse::NotTaken { option: "bandwidth", only_task: Some(Task::Density), .. }),
        "{misuse:?}"
    );

    // Too few for cross-validation, not for a rule.
    assert_eq!(core("two.csv", Asked::density()), dshap::Error::FewRows { n_rows: 2, needed: 5 });
    folder.value("two.csv", Asked::density().set(&BANDWIDTH, "scott"));
    let error = core("t.csv", given(1e-9));
    let dshap::Error::NoDensity { bandwidth, enough } = error else { panic!("{error}") };
    assert!(bandwidth == 1e-9 && enough > bandwidth, "{bandwidth}, {enough}");
    assert_eq!(core("same.csv", Asked::density()), dshap::Error::NoFeatures { n_features: 1 });

    folder.fit(&["t.csv"], given(0.5), "v.dshap");
    let error = folder.update("v.dshap", &["t.csv"], &[]).err().unwrap();
    assert!(matches!(error, Error::FixedReference { why: Fixed::Density }), "{error}");
}

#[test]
fn a_note_stands_where_a_row_has_no_value() {
    let folder = Folder::new();
    folder.write("r.csv", &csv(&cells(9, 30)));
    folder.write("p.csv", "a,b\n1,2\n,3\n");
    let asked = given(0.5).set(&MISSING, "drop").against(&[folder.name("r.csv")]);
    let (rows, _) = folder.value("p.csv", asked);
    let notes: Vec<_> = rows.column_by_name("note").unwrap().as_string::<i32>().iter().collect();
    assert_eq!(notes, [None, Some("missing cell")]);
}

/// Rows with a city: all of them, the first part and the second.
fn with_cities(n: usize, first: usize) -> [String; 3] {
    let x = cells(10, n);
    let row = |i: usize| {
        let city = if i < first { ["Bonn", "Rome"][i % 2] } else { ["Oslo", "Rome", "Wien"][i % 3] };
        // All of the first part have the same size.
        let size = if i < first { 3.0 } else { x[(i, 1)] };
        format!("{},{city},{size}\n", x[(i, 0)])
    };
    let table =
        |rows: std::ops::Range<usize>| "a,city,size\n".to_string() + &rows.map(row).collect::<String>();
    [table(0..n), table(0..first), table(first..n)]
}

#[test]
fn merged_densities_are_the_density_of_all_rows() {
    let folder = Folder::new();
    let [whole, first, second] = with_cities(300, 120);
    folder.write("whole.csv", &whole);
    folder.write("first.csv", &first);
    folder.write("second.csv", &second);
    for (asked, tolerance) in [
        // Unscaled rows come back as they were, so the bits are those of the whole.
        (given(2.0).set(&SCALE, "none"), 0.0),
        // Scaled ones are rounded three times; a distance of order 1 to 1e-15 each.
        (Asked::density(), 1e-12),
    ] {
        folder.fit(&["whole.csv"], asked.clone(), "whole.dshap");
        folder.fit(&["first.csv"], asked.clone(), "first.dshap");
        folder.fit(&["second.csv"], asked, "second.dshap");
        let merged = folder.merge(&["first.dshap", "second.dshap"]).unwrap();
        assert_eq!(merged.summary.new_levels, ["city=Oslo", "city=Wien"]);
        let expected = folder.value_by("whole.csv", "whole.dshap", Asked::nothing());
        let found = folder.value_by("whole.csv", "merged.dshap", Asked::nothing());
        assert_eq!(found.1.facts.n_reference, 300);
        for name in ["value", "stderr", "log_density", "relative"] {
            for (found, expected) in column(&found.0, name).iter().zip(column(&expected.0, name)) {
                assert!(
                    (found - expected).abs() <= tolerance * expected.abs(),
                    "{name}: {found}, {expected}"
                );
            }
        }
        let mean = |valuer: &str, column: &str| {
            let found = dshap_run::inspect(&folder.path(valuer)).unwrap();
            let facts = found.columns.into_iter().find(|facts| facts.name == column).unwrap();
            (facts.mean, facts.std_dev)
        };
        for name in ["a", "city=Bonn", "city=Oslo", "size"] {
            let (one, two) = (mean("merged.dshap", name), mean("whole.dshap", name));
            assert!(
                (one.0 - two.0).abs() < 1e-12 && (one.1 - two.1).abs() < 1e-10,
                "{name}: {one:?} {two:?}"
            );
        }
    }
}

#[test]
fn samples_are_merged_in_equal_shares() {
    let folder = Folder::new();
    folder.write("large.csv", &csv(&cells(11, 2000)));
    folder.write("small.csv", &csv(&cells(12, 100)));
    let asked = given(1.0).set(&SAMPLES, 400);
    folder.fit(&["large.csv"], asked.clone(), "large.dshap");
    folder.fit(&["small.csv"], asked, "small.dshap");
    let merged = folder.merge(&["large.dshap", "small.dshap"]).unwrap();
    // A fifth of 2000 and of 100.
    assert_eq!(density_of(&merged.valuer).n_rows(), 420);
    assert_eq!(merged.summary.facts.n_reference, 2100);
    let warnings = &merged.summary.warnings;
    assert!(warnings.contains(&Warning::UnequalShares { n_kept: 420, n_held: 500 }), "{warnings:?}");
}

#[test]
fn densities_that_differ_are_not_merged() {
    let folder = Folder::new();
    folder.write("t.csv", &csv(&cells(13, 50)));
    folder.write("u.csv", &csv(&cells(14, 50)));
    folder.fit(&["t.csv"], given(1.0), "t.dshap");
    let conflict = |other: Asked| {
        folder.fit(&["u.csv"], other, "u.dshap");
        match folder.merge(&["t.dshap", "u.dshap"]).err().unwrap() {
            Error::CannotMerge { first, second, why } => {
                assert_eq!((first, second), (folder.name("t.dshap"), folder.name("u.dshap")));
                why
            }
            error => panic!("{error}"),
        }
    };
    assert_eq!(conflict(given(2.0)), MergeConflict::Bandwidths("1".into(), "2".into()));
    let tried = MergeConflict::Bandwidths("1".into(), "cross-validated".into());
    assert_eq!(conflict(Asked::density()), tried);
    let uniform = given(1.0).set(&KERNEL, "uniform");
    assert_eq!(conflict(uniform), MergeConflict::Kernels("gaussian", "uniform"));
    assert_eq!(conflict(given(1.0).set(&SCALE, "none")), MergeConflict::Scaling);
    assert_eq!(conflict(Asked::new("b")), MergeConflict::Tasks(Task::Density, Task::Regression));
}

/// The third format: a sample of a reference with a text column, by a compact kernel.
#[test]
fn the_third_format_is_read_for_ever() {
    let folder = Folder::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers/version-3.dshap");
    std::fs::copy(stored, folder.path("v.dshap")).unwrap();
    let valuer = folder.load("v.dshap");
    let fit = density_of(&valuer);
    assert_eq!((fit.n_rows(), fit.bandwidth(), fit.kernel()), (40, 1.0, Kernel::Epanechnikov));
    folder.write("points.csv", "length,city,width\n0.5,Rome,9\n-3,Bonn,22\n");
    let (found, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
    assert_eq!((said.facts.m, said.facts.density.unwrap().sample_seed), (60, Some(7)));
    // What the dshap that wrote it said.
    assert_same_bits(&column(&found, "value"), &[0.0023232239303435267, -0.002110413550690846], "value");
    // Standard errors are computed in another order since.
    let std_error = column(&found, "stderr");
    assert!((std_error[0] / 0.0014562089426748267 - 1.0).abs() < 1e-14 && std_error[1] == 0.0);
}
