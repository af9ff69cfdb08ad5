//! Few rows are computed differently from many, with the same bits.

use dshap::linear::{FitOptions, LinearFit, LinearMethod, LinearValuer};
use dshap::{Moments, Rows, Sizes, Valuer};
use dshap_testkit::Sample;
use faer::Mat;

#[test]
fn a_row_has_the_bits_alone_that_it_has_among_others() {
    for p in [1, 2, 3, 5, 8, 13, 20, 33, 64, 100] {
        let n = 2 * p + 300;
        let sample = Sample::gaussian(p as u64, n, p, 0.7);
        let x = Mat::from_fn(n, p, |i, j| sample.columns[j][i] * (1.0 + j as f64) + 10.0);
        let all = Rows::new(x.as_ref(), &sample.y).unwrap();
        let fit = LinearFit::new(&Moments::of(all).unwrap(), FitOptions::default()).unwrap();
        let valuer = LinearValuer::new(fit, Sizes::new(p + 10, n), LinearMethod::default()).unwrap();
        let together = valuer.values(all).unwrap();
        for len in [1, 2, 7, 8, 9] {
            for start in (0..n - len).step_by(29) {
                let few = valuer.values(all.slice(start, len)).unwrap();
                assert_eq!(few.value, together.value[start..start + len], "p = {p}, {len} rows from {start}");
                for ((_, few), (_, all)) in few.parts.iter().zip(&together.parts) {
                    assert_eq!(few[..], all[start..start + len]);
                }
            }
        }
    }
}
