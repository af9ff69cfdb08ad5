//! `dshap` without a command: a demonstration on data that it makes.

use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::render;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use dshap_catalogue::options::{EXCLUDE, KEEP, TARGET};
use dshap_catalogue::{Given, Value};
use dshap_io::AtomicFile;
use dshap_run::{Arrange, Collected, Resources, ValueRequest};
use dshap_words::in_shell;
use dshap_words::run_words::describe;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const N_ROWS: usize = 1000;
const N_FEATURES: usize = 10;
/// Rows that are not part of the reference, in a file of their own.
const N_NEW: usize = 200;
const NEW_FILE: &str = "new.csv";
/// Every twentieth row is corrupted: 5 %.
const CORRUPTED_EVERY: usize = 20;
/// How far the target of a corrupted row is moved, in standard deviations of the noise.
const CORRUPTION: f64 = 5.0;
/// Width of the longest bar of the histogram.
const BAR: usize = 40;
const BINS: usize = 12;
/// What is tried when the data are written.
const WRITING: &str = "cannot write the demonstration data";

pub(crate) fn run() -> Result<(), Failure> {
    let path = write_data()?;
    let file = path.display().to_string();
    let column = || Value::List(vec!["corrupted".into()]);
    let request = ValueRequest {
        points: vec![file.clone()],
        valuer: None,
        method: None,
        given: Given::new()
            .with(&TARGET, Value::Word("y".into()))
            .with(&EXCLUDE, column())
            .with(&KEEP, column()),
        digests: false,
        outputs: Vec::new(),
        resources: Resources::default(),
    };

    let failed = |error| Failure::run("cannot value the demonstration data", &error, CommandLine::default());
    let mut collected = Collected::default();
    let summary = dshap_run::value(&request, &Progress::new(false), &mut collected).map_err(failed)?;
    let lowest = collected.arranged(Arrange::Lowest(N_ROWS)).map_err(failed)?;

    let n_corrupted = N_ROWS / CORRUPTED_EVERY;
    let found = (0..n_corrupted).filter(|&i| is_corrupted(&lowest, i)).count();
    let by_chance = n_corrupted as f64 / CORRUPTED_EVERY as f64;
    let mut text = format!(
        "dshap computes what each row of a dataset is worth to a model.\n\n\
         Made for you: {N_ROWS} rows, {N_FEATURES} features, y = xᵀβ + noise (the paper's Gaussian-R).\n\
         In {n_corrupted} rows the target was moved by {CORRUPTION} standard deviations of the noise. The column\n\
         `corrupted` marks them; dshap does not use it.\n\n"
    );
    text += &describe(&summary);
    text += "\nThe ten lowest values:\n\n";
    text += &render(&lowest.slice(0, 10), |_| String::new());
    let _ = write!(
        text,
        "\nAmong the {n_corrupted} lowest values are {found} of the {n_corrupted} corrupted rows; a random choice would have {by_chance:.1}.\n\n"
    );
    text += &histogram(&lowest);
    // The command that Python installs runs inside an interpreter.
    let program = std::env::args().next().filter(|name| name.ends_with("dshap"));
    let program = in_shell(&program.unwrap_or_else(|| "dshap".into()));
    let (file, new) = (in_shell(&file), in_shell(&path.with_file_name(NEW_FILE).display().to_string()));
    let worst = lowest.column(0).as_primitive::<UInt64Type>().value(0);
    let _ = write!(
        text,
        "\nTry next:\n\
         \x20 {program} explain {file} --target y --exclude corrupted --row {worst}        why is this row so low?\n\
         \x20 {program} value {file} --target y --exclude corrupted --bottom 20\n\
         \x20 {program} value {file} --target y --exclude corrupted --stderr -o values.csv\n\
         \x20 {program} fit {file} --target y --exclude corrupted -o y.dshap\n\
         \x20 {program} value {new} --valuer y.dshap --top 5        fit once, value any row later\n\
         \x20 {program} value --help        your own table: `{program} value TABLE.csv --target COLUMN`\n"
    );
    crate::print(&text)
}

/// Gaussian-R: `β`, `x` and noise standard normal; some targets moved.
fn write_data() -> Result<PathBuf, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(2021);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let beta: Vec<f64> = (0..N_FEATURES).map(|_| normal()).collect();
    let names: Vec<String> = (1..=N_FEATURES).map(|j| format!("x{j}")).collect();
    let header = format!("{},y,corrupted\n", names.join(","));
    let (mut csv, mut new) = (header.clone(), header);
    for row in 0..N_ROWS + N_NEW {
        let csv = if row < N_ROWS { &mut csv } else { &mut new };
        let x: Vec<f64> = (0..N_FEATURES).map(|_| normal()).collect();
        let mut y: f64 = x.iter().zip(&beta).map(|(x, b)| x * b).sum::<f64>() + normal();
        let corrupted = row % CORRUPTED_EVERY == CORRUPTED_EVERY / 2;
        if corrupted {
            y += CORRUPTION * if normal() > 0.0 { 1.0 } else { -1.0 };
        }
        for x in &x {
            let _ = write!(csv, "{x:.6},");
        }
        let _ = writeln!(csv, "{y:.6},{}", u8::from(corrupted));
    }
    // A fresh folder that only this user can write to. In a shared folder, somebody else
    // could have placed a link under a name that is easy to guess.
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.prefix("dshap-demo-").tempdir().map_err(not_written)?.keep();
    let path = folder.join("demo.csv");
    write_file(&folder.join(NEW_FILE), &new)?;
    write_file(&path, &csv).map(|()| path)
}

fn not_written(reason: std::io::Error) -> Failure {
    let file = std::env::temp_dir().display().to_string();
    Failure::file(WRITING, dshap_io::Error::Write { file, reason })
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::file(WRITING, error);
    let mut file = AtomicFile::create(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(Failure::output)?;
    file.commit().map_err(failed)
}

fn is_corrupted(rows: &RecordBatch, row: usize) -> bool {
    rows.column_by_name("corrupted").is_some_and(|column| column.as_string::<i32>().value(row) == "1")
}

/// Values of intact and corrupted rows, side by side.
fn histogram(rows: &RecordBatch) -> String {
    let Some(column) = rows.column_by_name("value") else { return String::new() };
    let values = column.as_primitive::<Float64Type>().values();
    let (lowest, highest) = (values[0], values[values.len() - 1]);
    let width = (highest - lowest) / BINS as f64;
    let mut counts = [[0usize; 2]; BINS];
    for (row, value) in values.iter().enumerate() {
        let bin = (((value - lowest) / width) as usize).min(BINS - 1);
        counts[bin][usize::from(is_corrupted(rows, row))] += 1;
    }
    let most = counts.iter().map(|[intact, corrupted]| intact + corrupted).max().unwrap_or(1);
    let mut text = String::from("      value  rows   (# corrupted, - intact)\n");
    for (bin, [intact, corrupted]) in counts.into_iter().enumerate() {
        // Even a single row is seen.
        let bar = |count: usize| (count * BAR).div_ceil(most);
        let _ = writeln!(
            text,
            "{:>11.4}  {:>4}   {}{}",
            lowest + width * (bin as f64 + 0.5),
            intact + corrupted,
            "#".repeat(bar(corrupted)),
            "-".repeat(bar(intact))
        );
    }
    text
}
