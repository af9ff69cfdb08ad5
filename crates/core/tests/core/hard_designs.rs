//! Designs that defeat normal equations, against 120-digit arithmetic and
//! against one Householder factorisation of the whole table.

use dshap::linear::{FitOptions, GaussianForm, Intercept, LinearFit, LinearValuer, PointStats};
use dshap::{
    BLOCK_ROWS, Combination, Error, Moments, MomentsBuilder, MomentsForm, Rows, Sizes, Valuer, Warning,
};
use dshap_testkit::{Case, Draws, cases};
use faer::Mat;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;

const OPTIONS: FitOptions = FitOptions { intercept: true, refit_intercept: false, allow_dependent: true };

struct Design {
    family: String,
    x: Mat<f64>,
    y: Vec<f64>,
    options: FitOptions,
    case: Case,
}

impl Design {
    fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).unwrap()
    }

    fn fit(&self) -> LinearFit {
        LinearFit::of(self.rows(), self.options).unwrap_or_else(|error| panic!("{}: {error}", self.family))
    }
}

fn designs() -> Vec<Design> {
    let design = |case: Case| {
        let (columns, y) = (case.matrix("x"), case.list("y"));
        let x = Mat::from_fn(y.len(), columns.len(), |i, j| columns[j][i]);
        let options = FitOptions { intercept: case.count("intercept") == 1, ..OPTIONS };
        Design { family: case.text("family"), x, y, options, case }
    };
    cases("hard_designs.json").into_iter().map(design).collect()
}

/// The largest error, relative to the largest number.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0, |size: f64, number| size.max(number.abs()));
    found.iter().zip(expected).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
}

/// Digits that agree, at most 15: as `testdata/hard_designs_peers.py` prints them of others.
fn digits(error: f64) -> f64 {
    (-error.log10()).clamp(0.0, 15.0)
}

/// Distances by one Householder factorisation of the table as a whole.
fn householder_distances(design: &Design) -> Vec<f64> {
    let (n, p) = (design.x.nrows(), design.x.ncols());
    let mut x = design.x.clone();
    for j in 0..p {
        let column = x.col_as_slice_mut(j);
        if design.options.intercept {
            let mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|cell| *cell -= mean);
            let rest = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|cell| *cell -= rest);
        }
        let size = column.iter().map(|cell| cell.abs()).fold(0.0, f64::max);
        column.iter_mut().for_each(|cell| *cell /= size);
    }
    let upper = x.qr().R().to_owned();
    let lower = Mat::from_fn(p, p, |i, l| if l <= i { upper[(l, i)] } else { 0.0 });
    let mut z = x.transpose().to_owned();
    solve_lower_triangular_in_place(lower.as_ref(), z.as_mut(), faer::Par::Seq);
    (0..n).map(|i| n as f64 * z.col_as_slice(i).iter().map(|z| z * z).sum::<f64>()).collect()
}

#[test]
fn hard_designs_keep_the_digits_that_householder_keeps() {
    println!("{:52} condition  digits  distance  Householder  noise     value     digits of coef, noise", "");
    for design in designs() {
        let Design { family, case, .. } = &design;
        let fit = design.fit();
        assert_eq!(fit.dropped(), [] as [usize; 0], "{family}");

        let exact = case.list("dist_sq");
        let of_distance = error(&LinearValuer::distances(&fit, design.rows()).unwrap(), &exact);
        let of_householder = error(&householder_distances(&design), &exact);
        let noise_var = case.number("noise_var");
        let of_noise = (fit.noise_var() / noise_var - 1.0).abs();
        // One row at a time: a coefficient may be small compared with the others.
        let of_coef = fit.coef().iter().zip(case.list("coef")).map(|(a, b)| (a / b - 1.0).abs());
        let of_coef = of_coef.fold(0.0, f64::max);

        // The closed form at exact distances and residuals.
        let sizes = Sizes::new(fit.dim() + 4, 200);
        let valuer = LinearValuer::new(fit.clone(), sizes, Default::default()).unwrap();
        let found = valuer.values(design.rows()).unwrap().value;
        let form = GaussianForm::new(fit.dim(), sizes, Default::default(), Default::default()).unwrap();
        let expected: Vec<f64> = exact
            .iter()
            .zip(case.list("resid"))
            .map(|(&dist_sq, resid)| {
                let stats = PointStats { dist_sq, resid_sq: resid * resid, noise_var };
                form.value(stats).value
            })
            .collect();
        let of_value = error(&found, &expected);
        println!(
            "{family:52} {:9.0e} {:5}     {of_distance:8.0e}  {of_householder:8.0e}  {of_noise:8.0e}  {of_value:8.0e}  {:4.1} {:4.1}",
            fit.condition(),
            fit.digits(),
            digits(of_coef),
            digits(of_noise),
        );

        let promised = 10_f64.powi(-(fit.digits() as i32));
        assert!(of_value <= promised, "{family}: {of_value:e}");
        assert!(of_noise <= promised, "{family}: {of_noise:e}");
        assert!(
            of_distance <= promised.min(1e-11_f64.max(10.0 * of_householder)),
            "{family}: {of_distance:e}"
        );
        let magnified = f64::EPSILON * fit.condition();
        assert!(of_coef <= 1e-12 + 100.0 * magnified, "{family}: {of_coef:e}");
    }
}

#[test]
fn products_are_given_up_where_and_only_where_they_lose_digits() {
    for design in designs() {
        let options = design.options;
        let builder = MomentsBuilder::new(design.x.ncols()).with_form(MomentsForm::Products);
        let mut builder = if options.intercept { builder } else { builder.without_intercept() };
        builder.push(design.rows()).unwrap();
        let by_products = LinearFit::new(&builder.finish().unwrap(), options);
        let has_lost = match &by_products {
            Ok(fit) => !fit.dropped().is_empty() || fit.digits() < 8,
            Err(_) => true,
        };
        let form = design.fit().form();
        assert!(form == MomentsForm::Triangle || !has_lost, "{}", design.family);
        if form == MomentsForm::Products {
            assert!(by_products.unwrap().condition() < 1e3, "{}", design.family);
        }
    }
    // Exact combinations are dropped either way and do not count.
    let mut draws = Draws::new(81);
    let n = 500;
    let x = Mat::from_fn(n, 3, |_, _| draws.normal());
    let x = Mat::from_fn(n, 5, |i, j| if j < 3 { x[(i, j)] } else { x[(i, 0)] - (j as f64) * x[(i, 1)] });
    let y: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
    let fit = LinearFit::of(Rows::new(x.as_ref(), &y).unwrap(), OPTIONS).unwrap();
    assert_eq!((fit.form(), fit.dropped()), (MomentsForm::Products, &[3, 4][..]));
}

/// Cubes of years in `n` rows, and a target.
fn cubes(seed: u64, n: usize) -> (Mat<f64>, Vec<f64>) {
    let mut draws = Draws::new(seed);
    let years: Vec<f64> = (0..n).map(|_| 1980.0 + 10.0 * draws.normal()).collect();
    let x = Mat::from_fn(n, 3, |i, j| years[i].powi(j as i32 + 1));
    let y = years.iter().map(|year| 0.1 * (year - 1980.0).powi(2) + draws.normal()).collect();
    (x, y)
}

fn pool(n_threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap()
}

#[test]
fn neither_chunks_nor_threads_change_a_bit_of_a_triangle() {
    let n = 5 * BLOCK_ROWS + 77;
    let (x, y) = cubes(82, n);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let expected = pool(1).install(|| Moments::of(rows)).unwrap();
    assert_eq!(expected.form(), MomentsForm::Triangle);
    for (n_threads, chunk) in [(1, 1000), (2, n), (3, BLOCK_ROWS), (2, 3 * BLOCK_ROWS - 1), (4, 100)] {
        let mut builder = MomentsBuilder::new(3);
        let found = pool(n_threads).install(|| {
            for start in (0..n).step_by(chunk) {
                builder.push(rows.slice(start, chunk.min(n - start)))?;
                // Through a file and back.
                builder = MomentsBuilder::from_parts(builder.to_parts())?;
            }
            builder.finish()
        });
        assert_eq!(found.unwrap(), expected, "{n_threads} threads, chunks of {chunk}");
    }
    assert_eq!(Moments::from_parts(expected.to_parts()).unwrap(), expected);
}

/// Distances of all rows of a design, from any moments.
fn distances(moments: &Moments, rows: Rows<'_>) -> Vec<f64> {
    LinearValuer::distances(&LinearFit::new(moments, OPTIONS).unwrap(), rows).unwrap()
}

#[test]
fn triangles_merge_recombine_and_carry_weights() {
    let n = 3 * BLOCK_ROWS + 5;
    let (x, y) = cubes(83, n);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let whole = Moments::of(rows).unwrap();
    let exact = distances(&whole, rows);

    // A condition of 1e6 leaves ten digits where products leave four.
    let mut merged = Moments::of(rows.slice(0, 2000)).unwrap();
    merged.merge(&Moments::of(rows.slice(2000, n - 2000)).unwrap()).unwrap();
    assert_eq!((merged.form(), merged.n_rows()), (MomentsForm::Triangle, n));
    let of_merged = error(&distances(&merged, rows), &exact);
    assert!(of_merged < 1e-8, "{of_merged:e}");

    let turned = whole.recombined(&[
        Combination { constant: 1.0, terms: vec![(1, 1.0)] },
        Combination { constant: -5.0, terms: vec![(2, 2.0), (0, -1.0)] },
        Combination::column(0),
    ]);
    let mut other = x.clone();
    for i in 0..n {
        (other[(i, 0)], other[(i, 1)], other[(i, 2)]) =
            (1.0 + x[(i, 1)], -5.0 + 2.0 * x[(i, 2)] - x[(i, 0)], x[(i, 0)]);
    }
    let of_turned = error(&distances(&turned, Rows::new(other.as_ref(), &y).unwrap()), &exact);
    assert!(of_turned < 1e-6, "{of_turned:e}");

    // A weight of two is a row that is there twice.
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let weighted = Moments::of(rows.with_weights(&weights).unwrap()).unwrap();
    assert_eq!(weighted.form(), MomentsForm::Triangle);
    let repeats: Vec<usize> = (0..n).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let many_x = Mat::from_fn(repeats.len(), 3, |i, j| x[(repeats[i], j)]);
    let many_y: Vec<f64> = repeats.iter().map(|&i| y[i]).collect();
    let repeated = Moments::of(Rows::new(many_x.as_ref(), &many_y).unwrap()).unwrap();
    let of_weighted = error(&distances(&weighted, rows), &distances(&repeated, rows));
    assert!(of_weighted < 1e-8, "{of_weighted:e}");
}

/// A near copy in most rows, and independent columns in the last ones.
fn mostly_copies(seed: u64, n: usize, n_own: usize) -> (Mat<f64>, Vec<f64>) {
    let mut draws = Draws::new(seed);
    let mut x = Mat::from_fn(n, 3, |_, _| draws.normal());
    for i in 0..n - n_own {
        x[(i, 2)] = x[(i, 0)] + 1e-9 * x[(i, 2)];
    }
    let y = (0..n).map(|i| x[(i, 0)] - x[(i, 1)] + draws.normal()).collect();
    (x, y)
}

#[test]
fn rows_of_a_hard_design_are_forgotten_without_loss() {
    for (x, y) in [cubes(84, 3000), mostly_copies(84, 3000, 0)] {
        let rows = Rows::new(x.as_ref(), &y).unwrap();
        for n_gone in [1, 10, 2000] {
            let mut moments = Moments::of(rows).unwrap();
            moments.remove(&Moments::of(rows.slice(0, n_gone)).unwrap()).unwrap();
            assert_eq!((moments.form(), moments.n_rows()), (MomentsForm::Triangle, 3000 - n_gone));
            let kept = rows.slice(n_gone, 3000 - n_gone);
            let exact = LinearFit::of(kept, OPTIONS).unwrap();
            let fit = LinearFit::new(&moments, OPTIONS).unwrap();
            assert_eq!((fit.dropped(), fit.warnings()), (&[][..], vec![]), "{n_gone} rows");
            assert!(fit.digits() + 2 >= exact.digits(), "{} and {}", fit.digits(), exact.digits());
            let found = LinearValuer::distances(&fit, kept).unwrap();
            let lost = error(&found, &LinearValuer::distances(&exact, kept).unwrap());
            assert!(lost < 10_f64.powi(-(fit.digits() as i32)), "{n_gone} rows, {}: {lost:e}", fit.digits());
        }
    }
}

/// Rows without which two columns are nearly equal; the fit reports the digits left.
#[test]
fn forgetting_what_told_columns_apart_says_what_it_costs() {
    let (x, y) = mostly_copies(89, 500, 50);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let mut builder = MomentsBuilder::new(3).with_form(MomentsForm::Triangle);
    builder.push(rows).unwrap();
    let mut moments = builder.finish().unwrap();
    moments.remove(&Moments::of(rows.slice(450, 50)).unwrap()).unwrap();
    let kept = rows.slice(0, 450);
    let fit = LinearFit::new(&moments, OPTIONS).unwrap();
    assert!(!fit.warnings().is_empty() || fit.dropped() == [2], "{} digits", fit.digits());
    assert!(LinearFit::of(kept, OPTIONS).unwrap().digits() >= 5);
}

#[test]
fn what_was_never_there_cannot_be_forgotten_from_a_triangle() {
    let (x, y) = cubes(90, 300);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let mut moments = Moments::of(rows).unwrap();
    let mut far = x.clone();
    far.col_as_slice_mut(1).iter_mut().for_each(|cell| *cell *= 1.5);
    let before = moments.clone();
    let refused = moments.remove(&Moments::of(Rows::new(far.as_ref(), &y).unwrap().slice(0, 100)).unwrap());
    assert!(matches!(refused, Err(Error::NotAmong { column: Some(1) })), "{refused:?}");
    assert_eq!(moments, before);
}

/// A part that is hard and one that is not: together they have the digits of a fit of all
/// rows, in either order.
#[test]
fn hard_and_easy_parts_merge() {
    let (n, n_own) = (3000, 40);
    let (x, y) = mostly_copies(91, n, n_own);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let hard = Moments::of(rows.slice(0, n - n_own)).unwrap();
    let easy = Moments::of(rows.slice(n - n_own, n_own)).unwrap();
    assert_eq!((hard.form(), easy.form()), (MomentsForm::Triangle, MomentsForm::Products));
    let exact = distances(&Moments::of(rows).unwrap(), rows);
    for (first, second) in [(&hard, &easy), (&easy, &hard)] {
        let mut whole = first.clone();
        whole.merge(second).unwrap();
        assert_eq!((whole.form(), whole.n_rows()), (MomentsForm::Triangle, n));
        let lost = error(&distances(&whole, rows), &exact);
        assert!(lost < 1e-9, "{lost:e}");
    }
}

/// The first block is harmless, later rows are not, so a second pass is made.
#[test]
fn what_the_first_rows_do_not_show_is_found_at_the_end() {
    let n = 4 * BLOCK_ROWS;
    let mut draws = Draws::new(85);
    let mut x = Mat::from_fn(n, 2, |_, _| draws.normal());
    for i in 0..n {
        // From the second block on both columns are huge and nearly the same.
        if i >= BLOCK_ROWS {
            let common = 1e6 * draws.normal();
            x[(i, 0)] += common;
            x[(i, 1)] += common;
        }
    }
    let y: Vec<f64> = (0..n).map(|i| x[(i, 0)] - x[(i, 1)] + draws.normal()).collect();
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let moments = Moments::of(rows).unwrap();
    assert_eq!(moments.form(), MomentsForm::Products);
    let first = LinearFit::new(&moments, OPTIONS).unwrap();
    assert!(first.wants_triangle());
    let second = LinearFit::of(rows, OPTIONS).unwrap();
    assert_eq!((second.form(), second.wants_triangle()), (MomentsForm::Triangle, false));
    assert!(second.digits() > first.digits() + 3, "{} and {}", first.digits(), second.digits());
}

/// What rounding leaves of an exact combination must never count as an independent
/// column, whatever the number of rows and columns.
#[test]
fn combinations_never_pass_as_independent() {
    let mut draws = Draws::new(86);
    for n in [25, 300, BLOCK_ROWS, 2 * BLOCK_ROWS + 100] {
        for p in [1, 4, 12] {
            for far in [0.0, 1e4, 1e9] {
                let shape: Vec<f64> = (0..p).map(|_| far * draws.normal()).collect();
                let mut x =
                    Mat::from_fn(n, p + 3, |_, j| if j < p { draws.normal() + shape[j] } else { 0.0 });
                for j in p..p + 3 {
                    let b: Vec<f64> =
                        (0..p).map(|_| draws.normal() * 10_f64.powf(2.0 * draws.normal())).collect();
                    for i in 0..n {
                        x[(i, j)] = (0..p).map(|k| b[k] * x[(i, k)]).sum();
                    }
                }
                let y: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
                for intercept in [true, false] {
                    let builder = MomentsBuilder::new(p + 3).with_form(MomentsForm::Triangle);
                    let mut builder = if intercept { builder } else { builder.without_intercept() };
                    builder.push(Rows::new(x.as_ref(), &y).unwrap()).unwrap();
                    let options = FitOptions { intercept, ..OPTIONS };
                    let fit = LinearFit::new(&builder.finish().unwrap(), options).unwrap();
                    let expected: Vec<usize> = (p..p + 3).collect();
                    let place = format!("{n} rows, {p} columns, means of {far:e}, intercept {intercept}");
                    // Far from zero even the drawn columns may be nearly equal.
                    assert!(expected.iter().all(|column| fit.dropped().contains(column)), "{place}");
                    if far <= 1e4 {
                        assert_eq!(fit.dropped(), expected, "{place}");
                    }
                }
            }
        }
    }
}

/// A target that the features explain entirely is refused, not fitted to rounding errors.
#[test]
fn rounding_errors_of_a_target_are_no_noise() {
    let (x, _) = cubes(87, 400);
    let y: Vec<f64> = (0..400).map(|i| 3.0 * x[(i, 0)] - 0.1 * x[(i, 1)] + 1e-5 * x[(i, 2)]).collect();
    let found = LinearFit::of(Rows::new(x.as_ref(), &y).unwrap(), OPTIONS).map(|fit| fit.noise_var());
    assert_eq!(found, Err(Error::NoNoise));
}

/// Where even the triangle has few digits left, the warning says how many.
#[test]
fn columns_beyond_help_are_kept_with_a_warning() {
    let mut draws = Draws::new(88);
    let n = 300;
    let x = Mat::from_fn(n, 2, |_, _| draws.normal());
    let near = Mat::from_fn(n, 2, |i, j| x[(i, 0)] + [0.0, 1e-12][j] * x[(i, 1)]);
    let y: Vec<f64> = (0..n).map(|i| x[(i, 0)] + draws.normal()).collect();
    let fit = LinearFit::of(Rows::new(near.as_ref(), &y).unwrap(), OPTIONS).unwrap();
    assert_eq!((fit.form(), fit.intercept_kind()), (MomentsForm::Triangle, Intercept::Known));
    let [Warning::IllConditioned { column: 1, digits }] = fit.warnings()[..] else {
        panic!("{:?}", fit.warnings());
    };
    assert!((1..=3).contains(&digits), "{digits}");
    let exact = LinearFit::of(Rows::new(x.as_ref(), &y).unwrap(), OPTIONS).unwrap();
    let lost = error(
        &LinearValuer::distances(&fit, Rows::new(near.as_ref(), &y).unwrap()).unwrap(),
        &LinearValuer::distances(&exact, Rows::new(x.as_ref(), &y).unwrap()).unwrap(),
    );
    assert!(lost < 10_f64.powi(-(digits as i32)), "{digits} digits: {lost:e}");
}
