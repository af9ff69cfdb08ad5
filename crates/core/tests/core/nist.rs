//! Least squares on NIST's Statistical Reference Datasets: how many digits are kept.
//!
//! Data and certified values are those of NIST's linear regression problems
//! (<https://www.itl.nist.gov/div898/strd/lls/lls.shtml>), typed in. An exact solution in
//! rational numbers gives the certified values from these data to all 15 digits.

use crate::common::{CENTRED, UNCENTRED, try_fit};
use dshap::Error;
use dshap_testkit::Sample;

struct Problem {
    name: &'static str,
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
    /// The intercept first, if there is one.
    certified: Vec<f64>,
    residual_std: f64,
    intercept: bool,
    /// Digits that dshap keeps of the worst coefficient, and of the residual deviation.
    digits: (f64, f64),
}

/// Digits that two numbers share, at most 15.
fn digits(found: f64, certified: f64) -> f64 {
    (-((found - certified) / certified).abs().log10()).min(15.0)
}

fn powers(x: &[f64], degree: i32) -> Vec<Vec<f64>> {
    (1..=degree).map(|k| x.iter().map(|x| x.powi(k)).collect()).collect()
}

const NORRIS_X: [f64; 36] = [
    0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0,
    447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3,
    229.2, 669.1, 448.9, 0.5,
];

const NORRIS_Y: [f64; 36] = [
    0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3,
    448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6,
    228.9, 668.4, 449.2, 0.2,
];

const PONTIUS_Y: [f64; 40] = [
    0.11019, 0.21956, 0.32949, 0.43899, 0.54803, 0.65694, 0.76562, 0.87487, 0.98292, 1.09146, 1.20001,
    1.30822, 1.41599, 1.52399, 1.63194, 1.73947, 1.84646, 1.95392, 2.06128, 2.16844, 0.11052, 0.22018,
    0.32939, 0.43886, 0.54798, 0.65739, 0.76596, 0.87474, 0.98300, 1.09150, 1.20004, 1.30818, 1.41613,
    1.52408, 1.63159, 1.73965, 1.84696, 1.95445, 2.06177, 2.16829,
];

const FILIP_X: [f64; 82] = [
    -6.860120914,
    -4.324130045,
    -4.358625055,
    -4.358426747,
    -6.955852379,
    -6.661145254,
    -6.355462942,
    -6.118102026,
    -7.115148017,
    -6.815308569,
    -6.519993057,
    -6.204119983,
    -5.853871964,
    -6.109523091,
    -5.79832982,
    -5.482672118,
    -5.171791386,
    -4.851705903,
    -4.517126416,
    -4.143573228,
    -3.709075441,
    -3.499489089,
    -6.300769497,
    -5.953504836,
    -5.642065153,
    -5.031376979,
    -4.680685696,
    -4.329846955,
    -3.928486195,
    -8.56735134,
    -8.363211311,
    -8.107682739,
    -7.823908741,
    -7.522878745,
    -7.218819279,
    -6.920818754,
    -6.628932138,
    -6.323946875,
    -5.991399828,
    -8.781464495,
    -8.663140179,
    -8.473531488,
    -8.247337057,
    -7.971428747,
    -7.676129393,
    -7.352812702,
    -7.072065318,
    -6.774174009,
    -6.478861916,
    -6.159517513,
    -6.835647144,
    -6.53165267,
    -6.224098421,
    -5.910094889,
    -5.598599459,
    -5.290645224,
    -4.974284616,
    -4.64454848,
    -4.290560426,
    -3.885055584,
    -3.408378962,
    -3.13200249,
    -8.726767166,
    -8.66695597,
    -8.511026475,
    -8.165388579,
    -7.886056648,
    -7.588043762,
    -7.283412422,
    -6.995678626,
    -6.691862621,
    -6.392544977,
    -6.067374056,
    -6.684029655,
    -6.378719832,
    -6.065855188,
    -5.752272167,
    -5.132414673,
    -4.811352704,
    -4.098269308,
    -3.66174277,
    -3.2644011,
];

const FILIP_Y: [f64; 82] = [
    0.8116, 0.9072, 0.9052, 0.9039, 0.8053, 0.8377, 0.8667, 0.8809, 0.7975, 0.8162, 0.8515, 0.8766, 0.8885,
    0.8859, 0.8959, 0.8913, 0.8959, 0.8971, 0.9021, 0.909, 0.9139, 0.9199, 0.8692, 0.8872, 0.89, 0.891,
    0.8977, 0.9035, 0.9078, 0.7675, 0.7705, 0.7713, 0.7736, 0.7775, 0.7841, 0.7971, 0.8329, 0.8641, 0.8804,
    0.7668, 0.7633, 0.7678, 0.7697, 0.77, 0.7749, 0.7796, 0.7897, 0.8131, 0.8498, 0.8741, 0.8061, 0.846,
    0.8751, 0.8856, 0.8919, 0.8934, 0.894, 0.8957, 0.9047, 0.9129, 0.9209, 0.9219, 0.7739, 0.7681, 0.7665,
    0.7703, 0.7702, 0.7761, 0.7809, 0.7961, 0.8253, 0.8602, 0.8809, 0.8301, 0.8664, 0.8834, 0.8898, 0.8964,
    0.8963, 0.9074, 0.9119, 0.9228,
];

/// The target first.
const LONGLEY: [[f64; 7]; 16] = [
    [60323.0, 83.0, 234289.0, 2356.0, 1590.0, 107608.0, 1947.0],
    [61122.0, 88.5, 259426.0, 2325.0, 1456.0, 108632.0, 1948.0],
    [60171.0, 88.2, 258054.0, 3682.0, 1616.0, 109773.0, 1949.0],
    [61187.0, 89.5, 284599.0, 3351.0, 1650.0, 110929.0, 1950.0],
    [63221.0, 96.2, 328975.0, 2099.0, 3099.0, 112075.0, 1951.0],
    [63639.0, 98.1, 346999.0, 1932.0, 3594.0, 113270.0, 1952.0],
    [64989.0, 99.0, 365385.0, 1870.0, 3547.0, 115094.0, 1953.0],
    [63761.0, 100.0, 363112.0, 3578.0, 3350.0, 116219.0, 1954.0],
    [66019.0, 101.2, 397469.0, 2904.0, 3048.0, 117388.0, 1955.0],
    [67857.0, 104.6, 419180.0, 2822.0, 2857.0, 118734.0, 1956.0],
    [68169.0, 108.4, 442769.0, 2936.0, 2798.0, 120445.0, 1957.0],
    [66513.0, 110.8, 444546.0, 4681.0, 2637.0, 121950.0, 1958.0],
    [68655.0, 112.6, 482704.0, 3813.0, 2552.0, 123366.0, 1959.0],
    [69564.0, 114.2, 502601.0, 3931.0, 2514.0, 125368.0, 1960.0],
    [69331.0, 115.7, 518173.0, 4806.0, 2572.0, 127852.0, 1961.0],
    [70551.0, 116.9, 554894.0, 4007.0, 2827.0, 130081.0, 1962.0],
];

/// What Wampler 3 to 5 add to Wampler 1, times 1, 100 and 10 000.
const WAMPLER_NOISE: [f64; 21] = [
    759.0, -2048.0, 2048.0, -2048.0, 2523.0, -2048.0, 2048.0, -2048.0, 1838.0, -2048.0, 2048.0, -2048.0,
    1838.0, -2048.0, 2048.0, -2048.0, 2523.0, -2048.0, 2048.0, -2048.0, 759.0,
];

fn wampler(number: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let x: Vec<f64> = (0..21).map(f64::from).collect();
    let scale = [0.0, 0.0, 1.0, 100.0, 10_000.0][number - 1];
    // Wampler 2 has five digits after the point, so tenths of powers are rounded once.
    let step: f64 = if number == 2 { 10.0 } else { 1.0 };
    let y = x.iter().zip(WAMPLER_NOISE).map(|(x, noise)| {
        let whole: f64 = (0..=5).map(|k| x.powi(k) * step.powi(5 - k)).sum();
        whole / step.powi(5) + scale * noise
    });
    (powers(&x, 5), y.collect())
}

fn problems() -> Vec<Problem> {
    let pontius_x: Vec<f64> = (0..40).map(|i| 150_000.0 * f64::from(i % 20 + 1)).collect();
    let longley = |column: usize| LONGLEY.iter().map(|row| row[column]).collect::<Vec<f64>>();
    let mut problems = vec![
        Problem {
            name: "Norris",
            columns: vec![NORRIS_X.to_vec()],
            y: NORRIS_Y.to_vec(),
            certified: vec![-0.262323073774029, 1.00211681802045],
            residual_std: 0.884796396144373,
            intercept: true,
            digits: (12.0, 12.0),
        },
        Problem {
            name: "Pontius",
            columns: powers(&pontius_x, 2),
            y: PONTIUS_Y.to_vec(),
            certified: vec![0.673565789473684e-3, 0.732059160401003e-6, -0.316081871345029e-14],
            residual_std: 0.205177424076185e-3,
            intercept: true,
            digits: (11.5, 12.0),
        },
        Problem {
            name: "NoInt1",
            columns: vec![(60..=70).map(f64::from).collect()],
            y: (130..=140).map(f64::from).collect(),
            certified: vec![2.07438016528926],
            residual_std: 3.56753034006338,
            intercept: false,
            digits: (13.0, 13.0),
        },
        Problem {
            name: "Filip",
            columns: powers(&FILIP_X, 10),
            y: FILIP_Y.to_vec(),
            certified: vec![
                -1467.48961422980,
                -2772.17959193342,
                -2316.37108160893,
                -1127.97394098372,
                -354.478233703349,
                -75.1242017393757,
                -10.8753180355343,
                -1.06221498588947,
                -0.670191154593408e-1,
                -0.246781078275479e-2,
                -0.402962525080404e-4,
            ],
            residual_std: 0.334801051324544e-2,
            intercept: true,
            digits: (6.5, 7.5),
        },
        Problem {
            name: "Longley",
            columns: (1..7).map(longley).collect(),
            y: longley(0),
            certified: vec![
                -3482258.63459582,
                15.0618722713733,
                -0.358191792925910e-1,
                -2.02022980381683,
                -1.03322686717359,
                -0.511041056535807e-1,
                1829.15146461355,
            ],
            residual_std: 304.854073561965,
            intercept: true,
            digits: (10.5, 12.0),
        },
    ];
    for (number, residual_std) in [(3, 2360.14502379268), (4, 236014.502379268), (5, 23601450.2379268)] {
        let (columns, y) = wampler(number);
        problems.push(Problem {
            name: ["Wampler3", "Wampler4", "Wampler5"][number - 3],
            columns,
            y,
            certified: vec![1.0; 6],
            residual_std,
            intercept: true,
            digits: (5.5, 13.0),
        });
    }
    problems
}

#[test]
fn certified_values_are_kept_to_many_digits() {
    for problem in problems() {
        let Problem { name, columns, y, certified, residual_std, intercept, digits: least } = problem;
        let options = if intercept { CENTRED } else { UNCENTRED };
        let fit = try_fit(&Sample { columns, y }, options).unwrap();
        let found: Vec<f64> = fit.intercept_value().into_iter().chain(fit.coef().iter().copied()).collect();
        assert_eq!(found.len(), certified.len(), "{name}: {:?} are dropped", fit.dropped());
        let worst = found.iter().zip(&certified).map(|(a, b)| digits(*a, *b)).fold(15.0, f64::min);
        let of_noise = digits(fit.noise_var().sqrt(), residual_std);
        println!("| {name} | {worst:.1} | {of_noise:.1} |");
        assert!(worst >= least.0 && of_noise >= least.1, "{name}: {worst:.1} and {of_noise:.1} digits");
    }
}

/// Polynomials without any noise: there is nothing that a row could add, and the error
/// says so instead of giving values of rounding errors.
#[test]
fn perfect_fits_are_recognised() {
    for number in [1, 2] {
        let (columns, y) = wampler(number);
        let refused = try_fit(&Sample { columns, y }, CENTRED);
        assert!(matches!(refused, Err(Error::NoNoise)), "Wampler{number}");
    }
}
