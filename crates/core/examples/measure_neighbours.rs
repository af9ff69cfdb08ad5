//! How long values of nearest neighbours take. Prints JSON.
//!
//! ```text
//! measure_neighbours values ROWS TESTS COLUMNS     leave-one-out and unseen values, both tasks
//! measure_neighbours unseen ROWS POINTS TESTS COLUMNS   unseen points, and leave-one-out beside them
//! measure_neighbours kept ROWS TESTS COLUMNS TOLERANCE   unseen points one by one, by lists that are kept and without
//! measure_neighbours rows COLUMNS                  growth with the number of reference rows, 64 test rows
//! measure_neighbours columns ROWS                  growth with the number of columns, 64 test rows
//! measure_neighbours sizes ROWS                    growth with k, m and q, 64 test rows and 8 columns
//! measure_neighbours index ROWS TESTS              large q by blocks and by an index, and building it
//! measure_neighbours weights                       the table of weights alone
//! measure_neighbours textbook ROWS                 every row a test row, beside the n × n implementation
//! ```
//!
//! Runs on `RAYON_NUM_THREADS` threads; seconds are the best of three.

use dshap::neighbours::{
    NeighbourOptions, NeighbourTask, NeighbourValuer, ReferenceSpace, Search, TestMeans, TestRows,
    WeightTable,
};
use dshap::{Rows, Sizes, Valuer};
use faer::Mat;
use std::hint::black_box;
use std::time::Instant;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const LABELS: NeighbourTask = NeighbourTask::Classification { n_classes: 2 };

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["values", rows, tests, columns] => values(rows.parse()?, tests.parse()?, columns.parse()?),
        ["unseen", rows, points, tests, columns] => {
            unseen(rows.parse()?, points.parse()?, tests.parse()?, columns.parse()?)
        }
        ["kept", rows, tests, columns, tolerance] => {
            kept(rows.parse()?, tests.parse()?, columns.parse()?, tolerance.parse()?)
        }
        ["rows", columns] => rows(columns.parse()?),
        ["columns", rows] => columns(rows.parse()?),
        ["sizes", rows] => sizes(rows.parse()?),
        ["index", rows, tests] => index(rows.parse()?, tests.parse()?),
        ["weights"] => weights(),
        ["textbook", rows] => textbook(rows.parse()?),
        _ => Err("usage: measure_neighbours values ROWS TESTS COLUMNS | unseen ROWS POINTS TESTS COLUMNS | kept ROWS TESTS COLUMNS TOLERANCE | rows COLUMNS | columns ROWS | sizes ROWS | index ROWS TESTS | weights | textbook ROWS".into()),
    }
}

/// Numbers in (−0.5, 0.5) from a short shift register: sums of four of them are nearly
/// Gaussian, and they are fast to make.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

fn best_of_three(mut work: impl FnMut() -> Outcome) -> Result<f64, Box<dyn std::error::Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Features, a label that depends on the first, and a number that does.
struct Table {
    x: Mat<f64>,
    label: Vec<f64>,
    number: Vec<f64>,
}

impl Table {
    fn new(seed: u64, n: usize, p: usize) -> Self {
        let mut number = numbers(seed);
        let x = Mat::from_fn(n, p, |_, _| number() + number() + number() + number());
        let label = (0..n).map(|i| f64::from(u8::from(x[(i, 0)] + 0.5 * number() > 0.0))).collect();
        let number = (0..n).map(|i| x[(i, 0)] + number()).collect();
        Self { x, label, number }
    }

    fn rows(&self, task: NeighbourTask) -> Result<Rows<'_>, dshap::Error> {
        Rows::new(self.x.as_ref(), if task == LABELS { &self.label } else { &self.number })
    }
}

fn values(n: usize, n_tests: usize, p: usize) -> Outcome {
    let (reference, test, points) =
        (Table::new(1, n, p), Table::new(2, n_tests, p), Table::new(3, n / 10, p));
    let mut lines = Vec::new();
    for (name, task) in [("classification", LABELS), ("regression", NeighbourTask::Regression)] {
        let options = NeighbourOptions::new(task);
        let valuer = NeighbourValuer::new(
            reference.rows(task)?,
            TestRows::Given(test.rows(task)?),
            NeighbourValuer::default_sizes(options.k, n),
            options,
        )?;
        let own = best_of_three(|| {
            black_box(valuer.leave_one_out(&|_, _| true)?);
            Ok(())
        })?;
        let unseen = best_of_three(|| {
            black_box(valuer.values(points.rows(task)?)?);
            Ok(())
        })?;
        lines.push(format!("\"{name}\": {{\"leave_one_out\": {own}, \"unseen, a tenth\": {unseen}}}"));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

/// The given number of unseen points, and the reference rows themselves.
fn unseen(n: usize, n_points: usize, n_tests: usize, p: usize) -> Outcome {
    let (reference, test, points) =
        (Table::new(1, n, p), Table::new(2, n_tests, p), Table::new(3, n_points, p));
    let mut lines = Vec::new();
    for (name, task) in [("classification", LABELS), ("regression", NeighbourTask::Regression)] {
        let options = NeighbourOptions::new(task);
        let sizes = NeighbourValuer::default_sizes(options.k, n);
        let test = TestRows::Given(test.rows(task)?);
        let valuer = NeighbourValuer::new(reference.rows(task)?, test, sizes, options)?;
        let own = best_of_three(|| {
            black_box(valuer.leave_one_out(&|_, _| true)?);
            Ok(())
        })?;
        let unseen = best_of_three(|| {
            black_box(valuer.values(points.rows(task)?)?);
            Ok(())
        })?;
        lines.push(format!("\"{name}\": {{\"leave_one_out\": {own}, \"unseen\": {unseen}}}"));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

/// Unseen points that come one by one, each to a valuer that is made for it: as they were
/// valued before lists were kept, with the same reference space, and by kept lists. Values
/// are compared, too.
fn kept(n: usize, n_tests: usize, p: usize, tolerance: f64) -> Outcome {
    const POINTS: usize = 20;
    let (reference, test, points) =
        (Table::new(1, n, p), Table::new(2, n_tests, p), Table::new(3, POINTS, p));
    let go_on: dshap::Watch<'_> = &|_, _| true;
    let mut lines = Vec::new();
    for (name, task) in [("classification", LABELS), ("regression", NeighbourTask::Regression)] {
        let options = NeighbourOptions { tolerance, ..NeighbourOptions::new(task) };
        let sizes = NeighbourValuer::default_sizes(options.k, n);
        let (rows, test) = (reference.rows(task)?, TestRows::Given(test.rows(task)?));
        let points = points.rows(task)?;
        let sorted = best_of_three(|| {
            black_box(NeighbourValuer::new(rows, test, sizes, options)?.values(points.slice(0, 1))?);
            Ok(())
        })?;
        let space = ReferenceSpace::new(rows, options)?;
        let valuer = || NeighbourValuer::in_space(&space, rows, test, sizes, options);
        let start = Instant::now();
        let lists = valuer()?.keep_lists(go_on)?;
        let build = start.elapsed().as_secs_f64();
        let value = |row: usize| -> Result<f64, dshap::Error> {
            let mut means = TestMeans::new(1);
            valuer()?.add_values_by(&lists, points.slice(row, 1), &mut means, go_on)?;
            Ok(means.values(false)?.value[0])
        };
        // The sums along lists are made for the first point.
        let start = Instant::now();
        let first = value(0)?;
        let first_seconds = start.elapsed().as_secs_f64();
        let by_lists =
            best_of_three(|| (0..POINTS).try_for_each(|row| Ok(black_box(value(row)).map(|_| ())?)))?;
        let expected = valuer()?.values(points.slice(0, 1))?.value[0];
        if first.to_bits() != expected.to_bits() {
            return Err(format!("kept lists give {first} and others {expected}").into());
        }
        // A place takes eight bytes in a valuer file.
        let (bytes, file_bytes) = (lists.n_bytes(), 8 * lists.n_places());
        lines.push(format!(
            "\"{name}\": {{\"sorted\": {sorted}, \"build\": {build}, \"first\": {first_seconds}, \
             \"kept\": {}, \"bytes\": {bytes}, \"file_bytes\": {file_bytes}}}",
            by_lists / POINTS as f64
        ));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

/// Seconds of leave-one-out values by labels.
fn seconds(
    reference: &Table,
    test: &Table,
    sizes: Sizes,
    options: NeighbourOptions,
) -> Result<f64, Box<dyn std::error::Error>> {
    let test = TestRows::Given(test.rows(options.task)?);
    let valuer = NeighbourValuer::new(reference.rows(options.task)?, test, sizes, options)?;
    best_of_three(|| {
        black_box(valuer.leave_one_out(&|_, _| true)?);
        Ok(())
    })
}

fn rows(p: usize) -> Outcome {
    let test = Table::new(2, 64, p);
    let mut lines = Vec::new();
    for n in [1000, 10_000, 100_000, 1_000_000] {
        let options = NeighbourOptions::new(LABELS);
        let sizes = NeighbourValuer::default_sizes(options.k, n);
        lines.push(format!("\"{n}\": {}", seconds(&Table::new(1, n, p), &test, sizes, options)?));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

fn columns(n: usize) -> Outcome {
    let mut lines = Vec::new();
    for p in [1, 4, 8, 12, 16, 20, 23, 24, 32, 64, 128, 512] {
        let options = NeighbourOptions::new(LABELS);
        let sizes = NeighbourValuer::default_sizes(options.k, n);
        let seconds = seconds(&Table::new(1, n, p), &Table::new(2, 64, p), sizes, options)?;
        lines.push(format!("\"{p}\": {seconds}"));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

fn sizes(n: usize) -> Outcome {
    let (reference, test) = (Table::new(1, n, 8), Table::new(2, 64, 8));
    let mut lines = Vec::new();
    let cases = [1, 5, 50, 500].map(|k| (k, k + 1, n));
    let cases = cases.into_iter().chain([100, 1000, n / 10].map(|m| (5, 6, m)));
    for (k, q, m) in cases.chain([n / 1000, n / 100, n / 10].map(|q| (5, q, n))) {
        let options = NeighbourOptions { k, ..NeighbourOptions::new(LABELS) };
        let seconds = seconds(&reference, &test, Sizes::new(q, m), options)?;
        lines.push(format!("\"k = {k}, q = {q}, m = {m}\": {seconds}"));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

/// Milliseconds by blocks, by an existing index, and of building it, for the share of rows
/// with weight that each q leaves.
fn index(n: usize, n_tests: usize) -> Outcome {
    let options = NeighbourOptions::new(LABELS);
    let mut lines = Vec::new();
    for p in [1, 2, 4, 6, 8, 12] {
        let (reference, test) = (Table::new(1, n, p), Table::new(2, n_tests, p));
        for q in [1000, 10_000, 100_000].into_iter().filter(|&q| q < n) {
            let keep = WeightTable::new(n, options.k, Sizes::new(q, n))?.cut_off(options.tolerance);
            let valuer = |search| -> Result<_, Box<dyn std::error::Error>> {
                let tests = TestRows::Given(test.rows(LABELS)?);
                let sizes = Sizes::new(q, n);
                Ok(NeighbourValuer::new(reference.rows(LABELS)?, tests, sizes, options)?.with_search(search))
            };
            let time = |valuer: &NeighbourValuer<'_>| {
                let start = Instant::now();
                valuer.leave_one_out(&|_, _| true).map(|values| {
                    black_box(values);
                    start.elapsed().as_secs_f64()
                })
            };
            let (blocks, index) = (valuer(Search::Blocks)?, valuer(Search::Index)?);
            let first = time(&index)?;
            let (mut by_blocks, mut by_index) = (f64::INFINITY, f64::INFINITY);
            // In turns, because other work on the machine varies.
            for _ in 0..3 {
                by_blocks = by_blocks.min(time(&blocks)?);
                by_index = by_index.min(time(&index)?);
            }
            lines.push(format!(
                "\"{p} {q}\": {{\"listed\": {keep}, \"blocks\": {by_blocks}, \"index\": {by_index}, \"build\": {}}}",
                (first - by_index).max(0.0)
            ));
        }
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

fn weights() -> Outcome {
    let mut lines = Vec::new();
    for (n, k, q, m) in [
        (10_000, 5, 6, 10_000),
        (1_000_000, 5, 6, 1000),
        (1_000_000, 5, 6, 1_000_000),
        (1_000_000, 50, 100_000, 500_000),
    ] {
        let seconds = best_of_three(|| {
            black_box(WeightTable::new(n, k, Sizes::new(q, m))?);
            Ok(())
        })?;
        lines.push(format!("\"n = {n}, k = {k}, q = {q}, m = {m}\": {seconds}"));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

/// Finite KNN-Shapley of every row for every other, and the recursion of Jia et
/// al. (2019) on a matrix of all distances.
fn textbook(n: usize) -> Outcome {
    let (p, k) = (32, 5);
    let reference = Table::new(1, n, p);
    let rows = reference.rows(LABELS)?;
    let all: Vec<usize> = (0..n).collect();
    let options = NeighbourOptions { k, ..NeighbourOptions::new(LABELS) };
    let valuer =
        NeighbourValuer::new(rows, TestRows::Reference(&all), NeighbourValuer::default_sizes(k, n), options)?;
    let start = Instant::now();
    let found = valuer.finite_shapley(&|_, _| true)?;
    let ours = start.elapsed().as_secs_f64();
    let start = Instant::now();
    black_box(valuer.leave_one_out(&|_, _| true)?);
    let distributional = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let spread: Vec<f64> = (0..p).map(|j| deviation(reference.x.col_as_slice(j))).collect();
    let scaled: Vec<Vec<f64>> =
        (0..n).map(|i| (0..p).map(|j| reference.x[(i, j)] / spread[j]).collect()).collect();
    let mut distances = vec![0.0; n * n];
    for (row, distances) in scaled.iter().zip(distances.chunks_exact_mut(n)) {
        for (other, distance) in scaled.iter().zip(distances) {
            *distance = row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
        }
    }
    let mut sums = vec![0.0; n];
    for (t, distances) in distances.chunks_exact(n).enumerate() {
        let mut order: Vec<usize> = (0..n).filter(|&row| row != t).collect();
        order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let agrees = |place: usize| f64::from(u8::from(reference.label[order[place]] == reference.label[t]));
        let mut value = agrees(n - 2) / (n - 1) as f64;
        sums[order[n - 2]] += value;
        for place in (0..n - 2).rev() {
            let i = place + 1;
            value += (agrees(place) - agrees(place + 1)) / k as f64 * k.min(i) as f64 / i as f64;
            sums[order[place]] += value;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let pairs = sums.iter().map(|sum| sum / (n - 1) as f64).zip(&found.value);
    let off = pairs.map(|(textbook, ours)| (textbook - ours).abs()).fold(0.0, f64::max);
    println!(
        "{{\"finite\": {ours}, \"distributional\": {distributional}, \"textbook, one thread\": {seconds}, \"textbook, bytes\": {}, \"largest difference\": {off}}}",
        8 * n * n
    );
    Ok(())
}

fn deviation(cells: &[f64]) -> f64 {
    let n = cells.len() as f64;
    let mean = cells.iter().sum::<f64>() / n;
    (cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / n).sqrt()
}
