//! An exponential that becomes vector arithmetic.
//!
//! The operations are the same for every instruction set, fused multiplications included,
//! so that each of eight lanes has the bits of a single number.

/// `1/ln 2`, and `ln 2` as a sum of two doubles, the first with 21 zero bits at its
/// end so that whole multiples of it are exact.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Adding this rounds to the nearest whole number and leaves it in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²

/// `(eʳ − 1 − r)/r²` on `|r| ≤ ln(2)/2` by its Chebyshev interpolant of degree 9, highest
/// power first; with it `eʳ` is accurate to 1.6e-17 before rounding.
const COEFFICIENTS: [f64; 10] = [
    2.510_038_549_551_032e-8,
    2.762_008_844_540_974_6e-7,
    2.755_726_845_999_706_4e-6,
    2.480_152_129_595_437_6e-5,
    1.984_126_986_305_361_8e-4,
    1.388_888_891_721_371_7e-3,
    8.333_333_333_330_062e-3,
    4.166_666_666_662_413e-2,
    1.666_666_666_666_666_9e-1,
    5.000_000_000_000_001e-1,
];

/// Smaller arguments count as `−∞`.
const SMALLEST: f64 = -708.0;

/// `eˣ` for `x ≤ 0`, within 1.5 units in the last place; 0 below −708.
///
/// For loops that are compiled for instruction sets with fused multiplication, as
/// `pulp` does: there it becomes vector arithmetic. Elsewhere it has the same bits
/// and is slower than [`f64::exp`].
#[inline(always)]
pub fn exp_of_negative(x: f64) -> f64 {
    let rounded = x.mul_add(LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    let mut q = COEFFICIENTS[0];
    let mut i = 1;
    while i < COEFFICIENTS.len() {
        q = q.mul_add(r, COEFFICIENTS[i]);
        i += 1;
    }
    let p = (r * r).mul_add(q, r) + 1.0;
    // The low bits of `rounded` are n; they move into the exponent.
    let scaled = f64::from_bits(p.to_bits().wrapping_add(rounded.to_bits() << 52));
    if x < SMALLEST { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library_to_the_last_place_or_the_one_before() {
        let mut worst: f64 = 0.0;
        for i in 0..200_000 {
            let x = -708.0 * (f64::from(i) / 200_000.0).powi(3);
            let (found, expected) = (exp_of_negative(x), x.exp());
            worst = worst.max((found / expected - 1.0).abs());
        }
        assert!(worst < 3.0 * f64::EPSILON, "{worst:e}");
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-0.0), 1.0);
    }

    #[test]
    fn vanishes_where_doubles_end() {
        for x in [-708.1, -1e4, -1e300, f64::NEG_INFINITY] {
            assert_eq!(exp_of_negative(x), 0.0, "{x}");
        }
        assert!(exp_of_negative(-708.0) > 3e-308);
    }

    /// A lane of a vector has the bits of a single number, even without fused
    /// instructions.
    #[test]
    fn lanes_have_the_bits_of_numbers_alone() {
        let x: Vec<f64> = (0..1000).map(|i| -0.731 * f64::from(i)).collect();
        let mut lanes = vec![0.0; x.len()];
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || lanes.iter_mut().zip(&x).for_each(|(out, &x)| *out = exp_of_negative(x)),
        );
        for (lane, &x) in lanes.iter().zip(&x) {
            assert_eq!(lane.to_bits(), exp_of_negative(x).to_bits(), "{x}");
        }
    }
}
