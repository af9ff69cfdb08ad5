//! Principal components in the place of columns.

use crate::common::{Asked, Folder, column};
use dshap_catalogue::options::{MISSING, PCA, SAMPLES};
use dshap_models::Fixed;
use dshap_run::{Error, ExtraPass, ValueRequest};
use dshap_testkit::{Draws, assert_same_bits};
use faer::{Mat, Side};
use std::fmt::Write;

/// Twelve features of which three directions carry nearly all variance, and a
/// label and a number that follow them.
struct Embedded {
    x: Mat<f64>,
    y: Vec<f64>,
}

impl Embedded {
    fn new(seed: u64, n: usize) -> Self {
        let mut mixing = Draws::new(7);
        let mix = Mat::from_fn(12, 3, |_, k| mixing.normal() * [4.0, 2.0, 1.0][k]);
        let mut draws = Draws::new(seed);
        let (mut x, mut y) = (Mat::zeros(n, 12), Vec::new());
        for i in 0..n {
            let z = [draws.normal(), draws.normal(), draws.normal()];
            (0..12).for_each(|j| {
                x[(i, j)] = 10.0 + (0..3).map(|k| mix[(j, k)] * z[k]).sum::<f64>() + 0.1 * draws.normal();
            });
            y.push(z[0] - z[1] + draws.normal());
        }
        Self { x, y }
    }

    fn csv(&self, x: &Mat<f64>, target: impl Fn(f64) -> String) -> String {
        let names: Vec<String> = (0..x.ncols()).map(|j| format!("e{j}")).collect();
        let mut csv = names.join(",") + ",y\n";
        for (i, y) in self.y.iter().enumerate() {
            (0..x.ncols()).for_each(|j| {
                let _ = write!(csv, "{},", x[(i, j)]);
            });
            let _ = writeln!(csv, "{}", target(*y));
        }
        csv
    }

    /// The same rows along the leading axes of `reference`, by another way.
    fn projected(&self, reference: &Self, k: usize) -> Mat<f64> {
        let n = reference.x.nrows() as f64;
        let mean: Vec<f64> = (0..12).map(|j| reference.x.col(j).iter().sum::<f64>() / n).collect();
        let centred = |x: &Mat<f64>| Mat::from_fn(x.nrows(), 12, |i, j| x[(i, j)] - mean[j]);
        let of_reference = centred(&reference.x);
        let cov = of_reference.transpose() * &of_reference;
        let axes = cov.self_adjoint_eigen(Side::Lower).unwrap().U().to_owned();
        centred(&self.x) * Mat::from_fn(12, k, |j, c| axes[(j, 11 - c)])
    }
}

fn label(y: f64) -> String {
    if y > 0.0 { "cat".into() } else { "dog".into() }
}

fn reduced() -> Asked {
    Asked::new("y").set(&PCA, 3)
}

#[test]
fn values_are_those_of_the_leading_components() {
    let folder = Folder::new();
    let (reference, points) = (Embedded::new(1, 700), Embedded::new(2, 90));
    type Written = fn(f64) -> String;
    let targets: [(&str, Written); 2] = [("label", label), ("number", |y| y.to_string())];
    for (task, target) in targets {
        folder.write("reference.csv", &reference.csv(&reference.x, target));
        folder.write("points.csv", &points.csv(&points.x, target));
        folder.write("short.csv", &reference.csv(&reference.projected(&reference, 3), target));
        folder.write("short-points.csv", &points.csv(&points.projected(&reference, 3), target));
        let against = |file: &str, asked: Asked| asked.against(&[folder.name(file)]);
        let (found, summary) = folder.value("points.csv", against("reference.csv", reduced()));
        let (expected, _) = folder.value("short-points.csv", against("short.csv", Asked::new("y")));
        for name in ["value", "stderr", "dist_sq"] {
            for (found, expected) in column(&found, name).iter().zip(column(&expected, name)) {
                assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-4), "{task}, {name}");
            }
        }
        let pca = summary.facts.pca.unwrap();
        assert_eq!((pca.components, pca.columns), (3, 12));
        assert!(pca.explained > 0.99 && pca.explained < 1.0);
        assert!(summary.extra_passes.contains(&ExtraPass::Components));
    }
}

#[test]
fn a_saved_valuer_projects_points_with_the_same_bits() {
    let folder = Folder::new();
    let (reference, points) = (Embedded::new(3, 400), Embedded::new(4, 300));
    folder.write("reference.csv", &reference.csv(&reference.x, label));
    folder.write("points.csv", &points.csv(&points.x, label));
    let drawn = reduced().by("general").set(&SAMPLES, 32);
    for asked in [reduced(), reduced().by("calibrated"), drawn] {
        let against = asked.clone().against(&[folder.name("reference.csv")]);
        let (direct, _) = folder.value("points.csv", against);
        folder.fit(&["reference.csv"], asked, "v.dshap");
        assert_eq!(folder.value_by("points.csv", "v.dshap", Asked::nothing()).0, direct);
    }
    let design = folder.load("v.dshap").design;
    assert_eq!((design.n_columns(), design.n_encoded(), design.column_name(1)), (3, 12, "pca_2"));
}

#[test]
fn memory_and_batches_change_no_bit() {
    let folder = Folder::new();
    let rows = Embedded::new(5, 9000);
    folder.write("t.csv", &rows.csv(&rows.x, label));
    let value = |memory| {
        let mut request = ValueRequest::new(vec![folder.name("t.csv")], reduced().given);
        request.resources.memory = memory;
        let mut collected = dshap_run::Collected::default();
        dshap_run::value(&request, &dshap_run::Unwatched, &mut collected).unwrap();
        column(&collected.arranged(dshap_run::Arrange::ByRow).unwrap(), "value")
    };
    assert_same_bits(&value(Some(60_000_000)), &value(None), "a few rows at a time");
}

#[test]
fn gaps_are_filled_before_components_are_formed() {
    let folder = Folder::new();
    let rows = Embedded::new(6, 200);
    let whole = rows.csv(&rows.x, label);
    folder.write("whole.csv", &whole);
    let mut lines: Vec<String> = whole.lines().map(String::from).collect();
    let rest = lines[5].split_once(',').unwrap().1.to_string();
    let mean = rows.x.col(0).iter().sum::<f64>() / 200.0;
    lines[5] = format!(",{rest}");
    folder.write("gap.csv", &lines.join("\n"));
    lines[5] = format!("{mean},{rest}");
    folder.write("filled.csv", &lines.join("\n"));
    folder.fit(&["whole.csv"], reduced(), "v.dshap");
    let (found, _) = folder.value_by("gap.csv", "v.dshap", Asked::nothing().set(&MISSING, "mean"));
    let (expected, _) = folder.value_by("filled.csv", "v.dshap", Asked::nothing());
    for (found, expected) in column(&found, "value").iter().zip(column(&expected, "value")) {
        assert!((found - expected).abs() < 1e-11 * expected.abs().max(1e-5));
    }
}

#[test]
fn references_with_components_do_not_change_and_too_many_are_refused() {
    let folder = Folder::new();
    let rows = Embedded::new(8, 200);
    folder.write("t.csv", &rows.csv(&rows.x, |y| y.to_string()));
    folder.fit(&["t.csv"], reduced(), "v.dshap");
    for changed in [folder.update("v.dshap", &["t.csv"], &[]), folder.merge(&["v.dshap", "v.dshap"])] {
        assert!(matches!(changed, Err(Error::FixedReference { why: Fixed::Components })));
    }
    let error = folder.try_value("t.csv", Asked::new("y").set(&PCA, 13)).unwrap_err();
    let Error::Core { error, .. } = error else { panic!("{error}") };
    assert_eq!(error, dshap::Error::TooManyComponents { wanted: 13, n_features: 12, n_rows: 200 });
}
