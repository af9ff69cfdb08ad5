//! Earlier results: which are continued, and which are refused.

use crate::common::{csv, done, library, tiny, tiny_bounds};
use dshap_experiments::{Error, Experiment, Settings, ShownConstant, Unwatched, Watch, gaussian_r, run};
use std::path::Path;
use std::sync::Mutex;

const AIRFOIL: [&str; 5] =
    ["frequency", "angle_of_attack", "chord_length", "free_stream_velocity", "displacement_thickness"];

/// A folder with a table that has the columns of `airfoil`, or the first of them.
fn airfoil(seed: u64, features: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut table = gaussian_r(1503, features, seed);
    table.names = AIRFOIL[..features].iter().map(|name| name.to_string()).collect();
    table.write(&folder.path().join("airfoil.csv")).unwrap();
    folder
}

fn on(data: &Path) -> Settings {
    Settings { library: library(data), d_shapley: Some(0), repetitions: Some(1), ..tiny("airfoil") }
}

/// Collects doubts.
#[derive(Default)]
struct Doubts(Mutex<Vec<String>>);

impl Watch for Doubts {
    fn begin(&self, _: &str, _: usize, _: usize) {}
    fn advance(&self, _: usize) {}
    fn end(&self) {}
    fn doubt(&self, what: &str) {
        self.0.lock().unwrap().push(what.into());
    }
}

#[test]
fn another_table_is_not_mixed_into_the_results() {
    let (one, other) = (airfoil(1, 5), airfoil(2, 5));
    let folder = done(Experiment::Fig2, &on(one.path()));
    let before = std::fs::read(folder.path().join("fig2.csv")).unwrap();
    let more = Settings { repetitions: Some(2), ..on(other.path()) };
    let refused = run(Experiment::Fig2, &more, folder.path(), &Unwatched).unwrap_err();
    let file = other.path().join("airfoil.csv").display().to_string();
    assert!(matches!(&refused, Error::OtherData { file: found, .. } if *found == file), "{refused}");
    assert_eq!(std::fs::read(folder.path().join("fig2.csv")).unwrap(), before);
    // A copy elsewhere is the same table.
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(one.path().join("airfoil.csv"), copy.path().join("airfoil.csv")).unwrap();
    let more = Settings { repetitions: Some(2), ..on(copy.path()) };
    run(Experiment::Fig2, &more, folder.path(), &Unwatched).unwrap();
}

#[test]
fn a_table_with_other_columns_is_not_taken_for_the_dataset() {
    let data = airfoil(1, 3);
    let folder = tempfile::tempdir().unwrap();
    let refused = run(Experiment::Fig2, &on(data.path()), folder.path(), &Unwatched).unwrap_err();
    let words =
        "`airfoil` has 5 features, this table 3; it lacks `free_stream_velocity`, `displacement_thickness`";
    assert!(matches!(&refused, Error::WrongTable { reason, .. } if reason == words), "{refused}");
    // As many columns, but one has another name.
    let data = airfoil(1, 5);
    let file = data.path().join("airfoil.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("free_stream_velocity", "velocity", 1)).unwrap();
    let refused = run(Experiment::Fig2, &on(data.path()), folder.path(), &Unwatched).unwrap_err();
    let words = "`airfoil` has other features; it lacks `free_stream_velocity` and has `velocity`";
    assert!(matches!(&refused, Error::WrongTable { reason, .. } if reason == words), "{refused}");
}

#[test]
fn a_table_with_other_numbers_is_used_and_reported() {
    let data = airfoil(1, 5);
    let (folder, doubts) = (tempfile::tempdir().unwrap(), Doubts::default());
    run(Experiment::Fig2, &on(data.path()), folder.path(), &doubts).unwrap();
    let doubts = doubts.0.into_inner().unwrap();
    assert_eq!(doubts.len(), 1);
    assert!(doubts[0].contains("airfoil.csv` has other numbers"), "{doubts:?}");
}

#[test]
fn more_repetitions_include_d_shapley_by_default() {
    let few = Settings { d_shapley: None, repetitions: Some(1), ..tiny("gaussian-r") };
    let more = Settings { repetitions: Some(2), ..few.clone() };
    let folder = done(Experiment::Fig2, &few);
    run(Experiment::Fig2, &more, folder.path(), &Unwatched).unwrap();
    let (_, rows) = csv(&folder.path().join("fig2.csv"));
    let with = |repetition: &str| rows.iter().any(|row| row[1] == repetition && row[2] == "d-shapley");
    assert!(with("0") && with("1"), "by default D-SHAPLEY is in all repetitions");
}

#[test]
fn a_run_that_failed_leaves_the_folder_free() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = tempfile::tempdir().unwrap();
    assert!(run(Experiment::Fig2, &on(nowhere.path()), folder.path(), &Unwatched).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let settings = Settings { d_shapley: Some(0), ..tiny("gaussian-r") };
    run(Experiment::Fig2, &settings, folder.path(), &Unwatched).unwrap();
}

#[test]
fn settings_that_differ_are_named_and_no_others() {
    let settings = Settings { repetitions: Some(1), ..tiny_bounds("gaussian-r") };
    let folder = done(Experiment::Fig5, &settings);
    let other = Settings { seed: 12, ..settings };
    let refused = run(Experiment::Fig5, &other, folder.path(), &Unwatched).unwrap_err();
    assert!(refused.to_string().ends_with("other settings: `seed` was 11 and is now 12"), "{refused}");
}

#[test]
fn results_of_an_older_program_are_not_continued() {
    let settings = Settings { repetitions: Some(1), d_shapley: Some(0), ..tiny("gaussian-r") };
    let folder = done(Experiment::Fig2, &settings);
    let path = folder.path().join("fig2.json");
    let record = std::fs::read_to_string(&path).unwrap();
    // A record from before D-SHAPLEY followed its authors' program, and from before the constant.
    let is_new = |line: &&str| line.contains("\"revision\"") || line.contains("\"constant\"");
    assert_eq!(record.lines().filter(is_new).count(), 2, "{record}");
    let old: Vec<&str> = record.lines().filter(|line| !is_new(line)).collect();
    std::fs::write(&path, old.join("\n")).unwrap();
    let refused = run(Experiment::Fig2, &settings, folder.path(), &Unwatched).unwrap_err();
    let Error::OtherRun { differences, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(differences.len(), 1, "{refused}");
    assert!(refused.to_string().contains("(experiments 0)"), "{refused}");
}

#[test]
fn the_constant_of_figure_4_is_recorded_and_tabulated() {
    let settings = Settings { quick: true, ..Settings::default() };
    let theorem = Settings { constant: ShownConstant::Theorem, ..settings.clone() };
    let read =
        |folder: &tempfile::TempDir, name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (gain, other) = (done(Experiment::Fig4, &settings), done(Experiment::Fig4, &theorem));
    assert!(read(&gain, "fig4.json").contains("\"constant\": \"gain\""));
    assert!(read(&other, "fig4.json").contains("\"constant\": \"theorem\""));
    assert_eq!(read(&gain, "fig4.csv"), read(&other, "fig4.csv"));
    let tables = [&gain, &other].map(|folder| read(folder, "fig4.md"));
    assert_ne!(tables[0], tables[1]);
    // The first line of the table: p = 10, m = 100, e² = 0, at d² = p.
    let (_, rows) = csv(&gain.path().join("fig4.csv"));
    let row = rows.iter().find(|row| row[..5] == ["10", "100", "50", "0", "10"]).expect("it is on the grid");
    for (table, cell) in tables.iter().zip(&row[5..7]) {
        let line = table.lines().find(|line| line.starts_with("| 10 | 100 | 0 |")).unwrap();
        let shown: f64 = line.split('|').nth(4).unwrap().trim().replace('−', "-").parse().unwrap();
        assert!((shown / cell.parse::<f64>().unwrap() - 1.0).abs() < 0.01, "{line}, {cell}");
    }
    let refused = run(Experiment::Fig4, &theorem, gain.path(), &Unwatched).unwrap_err();
    assert!(refused.to_string().ends_with("was gain and is now theorem"), "{refused}");
}

#[test]
fn results_without_settings_are_not_continued() {
    let settings = Settings { quick: true, ..Settings::default() };
    let folder = done(Experiment::Fig4, &settings);
    let record = folder.path().join("fig4.json");
    std::fs::write(&record, "{\"seed\": 11").unwrap();
    let refused = run(Experiment::Fig4, &settings, folder.path(), &Unwatched);
    assert!(matches!(refused, Err(Error::NoRecord { .. })), "{refused:?}");
    std::fs::remove_file(&record).unwrap();
    let refused = run(Experiment::Fig4, &settings, folder.path(), &Unwatched);
    assert!(matches!(refused, Err(Error::NoRecord { .. })), "{refused:?}");
}

#[test]
fn unused_settings_are_refused() {
    let plain = Settings { quick: true, ..Settings::default() };
    let only = Settings { only: Some(vec!["airfoil".into()]), ..plain.clone() };
    let d_shapley = Settings { d_shapley: Some(2), ..plain.clone() };
    let repetitions = Settings { repetitions: Some(2), ..plain.clone() };
    let of = Settings { d_shapley_of: vec![("mnist".into(), 1)], ..plain.clone() };
    let seed = Settings { seed: 3, ..plain.clone() };
    let data = Settings { library: library(Path::new("nowhere")), ..plain };
    for (experiment, settings) in [
        (Experiment::Fig1, &only),
        (Experiment::Fig1, &of),
        (Experiment::Fig4, &only),
        (Experiment::Fig3, &d_shapley),
        (Experiment::Fig3, &repetitions),
        (Experiment::Table2, &d_shapley),
        (Experiment::Table2, &seed),
        (Experiment::Fig3, &seed),
        (Experiment::Fig4, &seed),
        (Experiment::Fig1, &data),
        (Experiment::Fig4, &data),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let refused = run(experiment, settings, folder.path(), &Unwatched);
        assert!(matches!(refused, Err(Error::NoUse { .. })), "{refused:?}");
    }
}

#[test]
fn a_file_is_not_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results");
    std::fs::write(&file, "mine").unwrap();
    let settings = Settings { quick: true, ..Settings::default() };
    let refused = run(Experiment::Fig4, &settings, &file, &Unwatched);
    assert!(matches!(refused, Err(Error::NotAFolder { .. })), "{refused:?}");
}
