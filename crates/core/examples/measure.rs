//! The timed half of `./bench` that is written in Rust. Prints JSON.
//!
//! ```text
//! measure peak                       fused multiply-adds in registers, best of three
//! measure in-memory ROWS COLUMNS     fit and value doubles in memory, best of three
//! measure methods ROWS COLUMNS       the same by every method of regression, sets of up to 500
//! measure gram ROWS COLUMNS          moments as products alone, best of three
//! measure forms ROWS COLUMNS         moments as products and as a triangle, best of three
//! measure sizes                      build the closed form and value 10 000 rows, m from 1e2 to 1e7
//! measure algorithm-3                Algorithm 3 beside the closed form at p = 10, m = 1000
//! measure classification ROWS COLUMNS   fit and value labels in memory, best of three
//! measure second-order ROWS COLUMNS  moments of refitted models and values under log-loss, after the fit, best of three
//! measure algorithm-4                the printed lower bound row by row beside its table, p = 30, m = 1000
//! ```
//!
//! Runs on `RAYON_NUM_THREADS` threads.

use dshap::classification::{ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions};
use dshap::linear::{
    Algorithm3, Bound, BoundForm, Constant, Convention, DistanceTable, FitOptions, GaussianForm,
    GeneralOptions, GeneralValuer, LinearFit, LinearMethod, LinearValuer, PointStats, Side,
};
use dshap::second_order::{SecondOrderOptions, SecondOrderValuer};
use dshap::{Moments, MomentsBuilder, MomentsForm, Rows, Sizes, Valuer};
use faer::Mat;
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["peak"] => peak(),
        ["in-memory", rows, columns] => in_memory(rows.parse()?, columns.parse()?),
        ["methods", rows, columns] => methods(rows.parse()?, columns.parse()?),
        ["gram", rows, columns] => gram(rows.parse()?, columns.parse()?),
        ["forms", rows, columns] => forms(rows.parse()?, columns.parse()?),
        ["sizes"] => sizes(),
        ["algorithm-3"] => algorithm_3(),
        ["classification", rows, columns] => classification(rows.parse()?, columns.parse()?),
        ["second-order", rows, columns] => second_order(rows.parse()?, columns.parse()?),
        ["algorithm-4"] => algorithm_4(),
        _ => Err("usage: measure peak | in-memory|methods|gram|forms|classification|second-order ROWS COLUMNS | sizes | algorithm-3 | algorithm-4"
            .into()),
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Numbers in (−0.5, 0.5) from a short shift register: their distribution does not matter
/// for time, and they are fast to make.
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

fn table(n: usize, p: usize) -> (Mat<f64>, Vec<f64>) {
    let mut number = numbers(1);
    let mut x = Mat::<f64>::zeros(n, p);
    for j in 0..p {
        x.col_as_slice_mut(j).iter_mut().for_each(|cell| *cell = number());
    }
    let y = (0..n).map(|i| x[(i, 0)] - x[(i, p - 1)] + number()).collect();
    (x, y)
}

/// Sums that fit in the registers of a core, added to again and again.
struct MultiplyAdds {
    n_rounds: usize,
}

/// Vectors in flight at once: enough to hide how long one addition takes.
const IN_FLIGHT: usize = 10;

impl pulp::WithSimd for MultiplyAdds {
    /// Operations done.
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> usize {
        let (factor, term) = (simd.splat_f64s(black_box(0.999)), simd.splat_f64s(black_box(0.001)));
        let mut sums = [simd.splat_f64s(1.0); IN_FLIGHT];
        for _ in 0..self.n_rounds {
            for sum in &mut sums {
                *sum = simd.mul_add_f64s(*sum, factor, term);
            }
        }
        black_box(sums.map(|sum| simd.reduce_sum_f64s(sum)));
        2 * self.n_rounds * IN_FLIGHT * (size_of::<S::f64s>() / size_of::<f64>())
    }
}

fn peak() -> Outcome {
    let one_thread = || pulp::Arch::new().dispatch(MultiplyAdds { n_rounds: 20_000_000 });
    let mut best = 0.0_f64;
    for _ in 0..3 {
        let start = Instant::now();
        let operations: usize = rayon::broadcast(|_| one_thread()).into_iter().sum();
        best = best.max(operations as f64 / start.elapsed().as_secs_f64());
    }
    println!("{{\"flops\": {best}}}");
    Ok(())
}

fn in_memory(n: usize, p: usize) -> Outcome {
    let (x, y) = table(n, p);
    let rows = Rows::new(x.as_ref(), &y)?;
    let fit = |rows| LinearFit::new(&Moments::of(rows)?, FitOptions::default());
    let valuer = LinearValuer::new(fit(rows)?, Sizes::new(2 * p, n), LinearMethod::default())?;

    let fit_seconds = best_of_three(|| {
        black_box(fit(rows)?);
        Ok(())
    })?;
    let value_seconds = best_of_three(|| {
        black_box(valuer.values(rows)?);
        Ok(())
    })?;
    println!("{{\"fit\": {fit_seconds}, \"value\": {value_seconds}}}");
    Ok(())
}

fn methods(n: usize, p: usize) -> Outcome {
    let (x, y) = table(n, p);
    let rows = Rows::new(x.as_ref(), &y)?;
    let fit = || LinearFit::of(rows, FitOptions::default());
    let sizes = Sizes::new(2 * p, 500);
    let bound = |side| LinearMethod::Bound(Bound::new(side, Convention::Definition));
    let first = Bound::new(Side::Lower, Convention::Definition).first_size(p, n) + 1;
    let mut lines = Vec::new();
    let mut line = |name: &str, seconds: f64, rounds: usize| {
        lines.push(format!("\"{name}\": {{\"seconds\": {seconds}, \"rounds\": {rounds}}}"));
    };
    for (name, method, sizes) in [
        ("gaussian", LinearMethod::default(), sizes),
        ("lower", bound(Side::Lower), Sizes::new(first, n)),
        ("upper", bound(Side::Upper), Sizes::new(first, n)),
    ] {
        let seconds = best_of_three(|| {
            black_box(LinearValuer::new(fit()?, sizes, method)?.leave_one_out(rows, 0)?);
            Ok(())
        })?;
        line(name, seconds, 0);
    }
    let seconds = best_of_three(|| {
        let fit = fit()?;
        let mut distances = DistanceTable::new();
        distances.add(&LinearValuer::distances(&fit, rows)?, None);
        black_box(LinearValuer::calibrated(fit, sizes, &distances)?.leave_one_out(rows, 0)?);
        Ok(())
    })?;
    line("calibrated", seconds, 0);
    for (name, ridge) in [("general", 0.0), ("general, ridge", 1.0)] {
        let options = GeneralOptions { ridge, ..GeneralOptions::default() };
        let start = Instant::now();
        let drawn = GeneralValuer::new(fit()?, rows, sizes, options)?.leave_one_out(&|_, _| true)?;
        line(name, start.elapsed().as_secs_f64(), drawn.n_rounds);
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

/// Seconds to sum the moments of all rows in one form.
fn moments_in(rows: Rows<'_>, form: MomentsForm) -> Result<f64, Box<dyn std::error::Error>> {
    best_of_three(|| {
        let mut builder = MomentsBuilder::new(rows.n_features()).with_form(form);
        builder.push(rows)?;
        black_box(builder.finish()?);
        Ok(())
    })
}

fn gram(n: usize, p: usize) -> Outcome {
    let (x, y) = table(n, p);
    let seconds = moments_in(Rows::new(x.as_ref(), &y)?, MomentsForm::Products)?;
    println!("{{\"seconds\": {seconds}, \"block_rows\": {}}}", dshap::BLOCK_ROWS);
    Ok(())
}

fn forms(n: usize, p: usize) -> Outcome {
    let (x, y) = table(n, p);
    let rows = Rows::new(x.as_ref(), &y)?;
    let (products, triangle) =
        (moments_in(rows, MomentsForm::Products)?, moments_in(rows, MomentsForm::Triangle)?);
    println!("{{\"products\": {products}, \"triangle\": {triangle}}}");
    Ok(())
}

fn some_rows(n: usize) -> Vec<PointStats> {
    let mut number = numbers(2);
    let mut stats =
        || PointStats { dist_sq: 20.0 * (number() + 0.5), resid_sq: 2.0 * (number() + 0.5), noise_var: 0.8 };
    (0..n).map(|_| stats()).collect()
}

fn sizes() -> Outcome {
    let rows = some_rows(10_000);
    let mut lines = Vec::new();
    for exponent in 2..=7 {
        let m = 10_usize.pow(exponent);
        let seconds = best_of_three(|| {
            let form = GaussianForm::new(10, Sizes::new(20, m), Constant::Gain, Convention::Definition)?;
            black_box(rows.iter().map(|&row| form.value(row).value).sum::<f64>());
            Ok(())
        })?;
        lines.push(format!("\"{m}\": {seconds}"));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

fn algorithm_3() -> Outcome {
    let (p, sizes) = (10, Sizes::new(50, 1000));
    let exact = GaussianForm::new(p, sizes, Constant::Theorem, Convention::Printed)?;
    let many = some_rows(200_000);
    black_box(many.iter().map(|&row| exact.value(row).value).sum::<f64>());
    let per_row_exact = best_of_three(|| {
        black_box(many.iter().map(|&row| exact.value(row).value).sum::<f64>());
        Ok(())
    })? / many.len() as f64;

    let few = &many[..200];
    let variants = [
        ("paper", Algorithm3::default()),
        ("complete", Algorithm3 { outer_tolerance: 0.0, ..Algorithm3::default() }),
        (
            "complete, 1000 draws",
            Algorithm3 { outer_tolerance: 0.0, inner_tolerance: 0.0, ..Algorithm3::default() },
        ),
    ];
    let mut lines =
        vec![format!("\"exact\": {{\"seconds\": {per_row_exact}, \"share\": 1.0, \"error\": 0.0}}")];
    for (name, algorithm) in variants {
        let start = Instant::now();
        let estimates: Vec<f64> =
            few.iter().zip(0..).map(|(&row, i)| algorithm.estimate(p, sizes, row, i).value).collect();
        let seconds = start.elapsed().as_secs_f64() / few.len() as f64;
        let shares: Vec<f64> =
            few.iter().zip(&estimates).map(|(&row, found)| found / exact.value(row).value).collect();
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        let error = shares.iter().map(|share| (share - 1.0).abs()).sum::<f64>() / shares.len() as f64;
        lines.push(format!("\"{name}\": {{\"seconds\": {seconds}, \"share\": {share}, \"error\": {error}}}"));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

fn classification(n: usize, p: usize) -> Outcome {
    let (x, _) = table(n, p);
    let mut number = numbers(3);
    // About as noisy as human labels: the odds change by a factor of e or so.
    let y: Vec<f64> = (0..n)
        .map(|i| {
            let odds = (2.0 * (x[(i, 0)] - x[(i, p - 1)])).exp();
            f64::from(u8::from(number() + 0.5 < odds / (1.0 + odds)))
        })
        .collect();
    let rows = Rows::new(x.as_ref(), &y)?;
    let fit = LogisticFit::of(rows, LogisticOptions::default())?;
    let n_passes = fit.n_passes();
    let valuer = ClassificationValuer::new(fit, Sizes::new(2 * p, n), ClassificationMethod::default())?;
    let fit_seconds = best_of_three(|| {
        black_box(LogisticFit::of(rows, LogisticOptions::default())?);
        Ok(())
    })?;
    let value_seconds = best_of_three(|| {
        black_box(valuer.leave_one_out(rows)?);
        Ok(())
    })?;
    println!("{{\"fit\": {fit_seconds}, \"value\": {value_seconds}, \"passes\": {n_passes}}}");
    Ok(())
}

/// The sum of Algorithm 4 term by term, as a simple program would, until a term is below
/// `stop` of the sum.
fn term_by_term(row: PointStats, p: usize, sizes: Sizes, stop: f64) -> f64 {
    let (a, e2, sigma2, m) = (row.dist_sq, row.resid_sq, row.noise_var, sizes.max() as f64);
    let mut sum = 0.0_f64;
    for j in sizes.min() - 1..sizes.max() {
        let j = j as f64;
        let delta = ((p as f64).sqrt() + (j * m.sqrt()).ln().sqrt()) / j.sqrt();
        let (low, high) = (1.0 / (j * (1.0 + delta).powi(2)), 1.0 / (j * (1.0 - delta).powi(2)));
        let ratio = ((1.0 + a * low) / (1.0 + a * high)).powi(2);
        let term = a * (low / (1.0 + a * high)).powi(2) * ((2.0 + a * low) * sigma2 - e2 / ratio);
        sum += term;
        if term.abs() <= stop * sum.abs() {
            break;
        }
    }
    sum / m
}

/// What comes after the fit: the moments of models that are refitted on each set, and values
/// of all rows left out.
fn second_order(n: usize, p: usize) -> Outcome {
    let (x, score) = table(n, p);
    let mut number = numbers(2);
    let y: Vec<f64> = score.iter().map(|score| f64::from(u8::from(score + number() > 0.0))).collect();
    let rows = Rows::new(x.as_ref(), &y)?;
    let fit = LogisticFit::of(rows, LogisticOptions::default())?;
    let sizes = Sizes::new(2 * p, n);
    let of = || SecondOrderValuer::of(fit.clone(), rows, sizes, SecondOrderOptions::default());
    let moments = best_of_three(|| {
        black_box(of()?);
        Ok(())
    })?;
    let valuer = of()?;
    let value = best_of_three(|| {
        black_box(valuer.leave_one_out(rows)?);
        Ok(())
    })?;
    println!("{{\"moments\": {moments}, \"value\": {value}}}");
    Ok(())
}

fn algorithm_4() -> Outcome {
    let (p, sizes) = (30, Sizes::new(100, 1000));
    let form = BoundForm::new(p, sizes, Bound::new(Side::Lower, Convention::Printed), (1.0, 1.0))?;
    let rows = some_rows(20_000);
    let per_row = |seconds: f64| seconds / rows.len() as f64;
    let loop_seconds = |stop: f64| {
        best_of_three(|| {
            black_box(rows.iter().map(|&row| term_by_term(row, p, sizes, stop)).sum::<f64>());
            Ok(())
        })
    };
    let worst = rows
        .iter()
        .map(|&row| (form.value(row) / term_by_term(row, p, sizes, 0.0) - 1.0).abs())
        .fold(0.0, f64::max);
    let table = per_row(best_of_three(|| {
        black_box(rows.iter().map(|&row| form.value(row)).sum::<f64>());
        Ok(())
    })?);
    let (complete, stopped) = (per_row(loop_seconds(0.0)?), per_row(loop_seconds(0.005)?));
    println!("{{\"table\": {table}, \"complete\": {complete}, \"stopped\": {stopped}, \"worst\": {worst}}}");
    Ok(())
}
