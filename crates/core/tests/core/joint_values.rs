//! Joint values of sets of rows in regression: identities with single rows, models refitted
//! on drawn sets, and what sums of row values cannot see.

use dshap::linear::{
    Constant, Convention, FitOptions, GaussianForm, JointForm, LinearFit, LinearMethod, LinearValuer,
    PointStats, SetGeometry,
};
use dshap::{Moments, Rows, Sizes, Valuer};
use dshap_testkit::{Draws, MAX_ABS_Z, MeanEstimate, Sample, assert_close};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// What the approximation may be off by, as a share of potential and penalty together.
const APPROXIMATION: f64 = 0.004;

#[test]
fn a_set_of_one_row_is_worth_what_theorem_2_says() {
    for (p, q, m) in [(1, 4, 30), (3, 13, 17), (10, 20, 1000), (40, 80, 100_000)] {
        let sizes = Sizes::new(q, m);
        let joint = JointForm::new(p, sizes).unwrap();
        let single = GaussianForm::new(p, sizes, Constant::Gain, Convention::Definition).unwrap();
        for (dist_sq, e) in [(1e-3, 0.5), (2.0, 1.5), (40.0, -3.0), (1e5, 0.1)] {
            let row = single.value(PointStats { dist_sq, resid_sq: e * e, noise_var: 1.3 });
            let set = SetGeometry::new(vec![dist_sq], vec![f64::sqrt(dist_sq) * e]).unwrap();
            let found = joint.value(&set, 1.3);
            assert_close(found.potential, row.potential, 1e-11);
            assert_close(found.penalty, row.penalty, 1e-11);
        }
    }
}

#[test]
fn many_other_rows_leave_the_leading_term() {
    let set = SetGeometry::new(vec![3.0, 8.0, 1.5], vec![1.0, -4.0, 0.5]).unwrap();
    let size = 1e6;
    let gain = JointForm::new(5, Sizes::new(15, 100)).unwrap().gain_at(&set, 0.7, size);
    assert_close(gain.value * size * size, 2.0 * 0.7 * 12.5 - 17.25, 1e-3);
}

/// `M_s` by drawing sets of standard normal rows and refitting, with coefficients 0.
fn refitted(seed: u64, n_draws: usize, size: usize, set: &[(Vec<f64>, f64)], noise_std: f64) -> MeanEstimate {
    let p = set[0].0.len();
    let mut draws = Draws::new(seed);
    let mut mean = MeanEstimate::default();
    for _ in 0..n_draws {
        let (mut gram, mut xy) = (Mat::<f64>::zeros(p, p), Mat::<f64>::zeros(p, 1));
        let mut add = |x: &[f64], y: f64, gram: &mut Mat<f64>| {
            for i in 0..p {
                xy[(i, 0)] += x[i] * y;
                (0..p).for_each(|j| gram[(i, j)] += x[i] * x[j]);
            }
            xy.clone()
        };
        let error =
            |gram: &Mat<f64>, xy: &Mat<f64>| gram.llt(Side::Lower).unwrap().solve(xy).squared_norm_l2();
        let mut sums = Mat::zeros(p, 1);
        for _ in 0..size {
            let x: Vec<f64> = (0..p).map(|_| draws.normal()).collect();
            sums = add(&x, noise_std * draws.normal(), &mut gram);
        }
        let without = error(&gram, &sums);
        for (x, y) in set {
            sums = add(x, *y, &mut gram);
        }
        mean.push(without - error(&gram, &sums));
    }
    mean
}

/// The geometry of a set where Σ is the identity and β is 0.
fn geometry(set: &[(Vec<f64>, f64)]) -> SetGeometry {
    let p = set[0].0.len();
    let gram = Mat::from_fn(p, p, |i, j| set.iter().map(|(x, _)| x[i] * x[j]).sum::<f64>());
    let eigen = gram.self_adjoint_eigen(Side::Lower).unwrap();
    let (mut squares, mut scores) = (Vec::new(), Vec::new());
    for k in 0..p {
        let g = eigen.S().column_vector()[k];
        if g > 1e-9 {
            squares.push(g);
            let along = |x: &Vec<f64>| (0..p).map(|i| eigen.U()[(i, k)] * x[i]).sum::<f64>();
            scores.push(set.iter().map(|(x, y)| along(x) * y).sum());
        }
    }
    SetGeometry::new(squares, scores).unwrap()
}

/// Five designs, each checked once: five standard errors are exceeded by chance with a probability below 1e-5.
#[test]
fn refits_on_drawn_sets_gain_as_much() {
    let mut draws = Draws::new(5);
    let mut rows = |n: usize, p: usize, far: f64| -> Vec<(Vec<f64>, f64)> {
        (0..n).map(|_| ((0..p).map(|_| far * draws.normal()).collect(), draws.normal())).collect()
    };
    let mut shared_slope = rows(12, 3, 1.0);
    shared_slope.iter_mut().for_each(|(x, y)| *y += 0.8 * x[0]);
    let copies: Vec<_> = std::iter::repeat_n(rows(1, 3, 2.0).remove(0), 5).collect();
    let designs = [
        (12, rows(2, 3, 1.0)),
        (20, rows(10, 4, 1.0)),
        (15, shared_slope),
        (10, copies),
        (30, rows(6, 5, 3.0)),
    ];
    for (number, (size, set)) in designs.into_iter().enumerate() {
        let p = set[0].0.len();
        let form = JointForm::new(p, Sizes::new(p + 3, 100)).unwrap();
        let gain = form.gain_at(&geometry(&set), 1.0, size as f64);
        let found = refitted(70 + number as u64, 60_000, size, &set, 1.0);
        let allowed = MAX_ABS_Z * found.std_error() + APPROXIMATION * (gain.potential + gain.penalty);
        let off = found.mean() - gain.value;
        assert!(off.abs() < allowed, "design {number}: {} is not {} (± {allowed})", found.mean(), gain.value);
        // Adding up rows as if each came alone would be noticed.
        let single = |row: &(Vec<f64>, f64)| {
            form.gain_at(&geometry(std::slice::from_ref(row)), 1.0, size as f64).value
        };
        let added: f64 = set.iter().map(single).sum();
        assert!((found.mean() - added).abs() > allowed, "design {number} cannot tell sums from joint values");
    }
}

#[test]
fn copies_do_not_add_up() {
    let sizes = Sizes::new(15, 500);
    let form = JointForm::new(5, sizes).unwrap();
    let joint = |copies: f64, a: f64, e: f64| {
        let set = SetGeometry::new(vec![copies * a], vec![copies * a.sqrt() * e]).unwrap();
        form.value(&set, 1.0).value
    };
    // A row that is somewhat off helps alone, but five copies of it mislead.
    let (a, off) = (6.0, 1.2);
    assert!(joint(1.0, a, off) > 0.0 && joint(5.0, a, off) < 0.0);
    // A hundred copies of a good row are worth far less than a hundred times the row.
    let good = joint(1.0, a, 0.1);
    assert!(joint(100.0, a, 0.1) < 0.05 * 100.0 * good);
}

#[test]
fn moments_of_a_set_suffice() {
    let data = Sample::gaussian(11, 400, 4, 1.5);
    let set: Vec<usize> = (100..130).collect();
    let others: Vec<usize> = (0..400).filter(|row| !set.contains(row)).collect();
    let (others, members) = (data.select(&others), data.select(&set));
    let (x, member_x) = (matrix(&others), matrix(&members));
    let members_rows = Rows::new(member_x.as_ref(), &members.y).unwrap();
    let (sizes, form) = (Sizes::new(14, 300), JointForm::new(4, Sizes::new(14, 300)).unwrap());
    let fit = LinearFit::of(Rows::new(x.as_ref(), &others.y).unwrap(), FitOptions::default()).unwrap();
    let geometry = SetGeometry::of(&fit, &Moments::of(members_rows).unwrap()).unwrap();
    assert_eq!(geometry.squares().len(), 4);
    // The trace is the sum of the members' squared distances.
    let valuer = LinearValuer::new(fit.clone(), sizes, LinearMethod::default()).unwrap();
    let values = valuer.values(members_rows).unwrap();
    let distances = values.part(dshap::Part::DistSq).unwrap();
    assert_close(geometry.squares().iter().sum(), distances.iter().sum(), 1e-10);
    // One row is worth what the valuer of rows says.
    for row in 0..30 {
        let one = members.select(&[row]);
        let x = matrix(&one);
        let geometry = SetGeometry::of_rows(&fit, Rows::new(x.as_ref(), &one.y).unwrap()).unwrap();
        assert_eq!(geometry.squares().len(), 1);
        assert_close(form.value(&geometry, fit.noise_var()).value, values.value[row], 1e-9);
    }
}

fn matrix(sample: &Sample) -> Mat<f64> {
    Mat::from_fn(sample.n_rows(), sample.columns.len(), |i, j| sample.columns[j][i])
}
