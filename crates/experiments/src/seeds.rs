//! Random streams, numbered so that neither threads nor resuming changes them.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, Uniform};

/// What a stream is for. The numbers affect results, so new purposes go at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The rows of a made dataset.
    Rows = 0,
    /// Which rows are valued, and which stand for the distribution.
    Split = 1,
    /// Shuffled orders of addition.
    Shuffles = 2,
    /// A method that draws.
    Method = 3,
}

/// The stream of one repetition of one panel.
pub(crate) fn stream(seed: u64, panel: u64, repetition: usize, purpose: Purpose) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((panel << 48) | ((purpose as u64) << 40) | repetition as u64);
    rng
}

/// A seed for a method that makes its own streams.
pub(crate) fn method_seed(seed: u64, panel: u64, repetition: usize) -> u64 {
    let mut rng = stream(seed, panel, repetition, Purpose::Method);
    let halves: [u32; 2] = std::array::from_fn(|_| below(u32::MAX, &mut rng));
    (u64::from(halves[0]) << 32) | u64::from(halves[1])
}

fn below(n: u32, rng: &mut ChaCha8Rng) -> u32 {
    Uniform::new(0, n).expect("a range that is not empty").sample(rng)
}

/// A standard normal number.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// A number from `[0, 1)`.
pub(crate) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    Uniform::new(0.0, 1.0).expect("a range that is not empty").sample(rng)
}

/// The numbers below `n`, shuffled.
pub(crate) fn permutation(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let j = Uniform::new(0, i as u64 + 1).expect("a range that is not empty").sample(rng) as usize;
        order.swap(i, j);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_panel_repetition_and_purpose() {
        let first = |panel, repetition, purpose| normal(&mut stream(7, panel, repetition, purpose));
        let all = [
            first(0, 0, Purpose::Rows),
            first(1, 0, Purpose::Rows),
            first(0, 1, Purpose::Rows),
            first(0, 0, Purpose::Split),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one));
        }
        assert_eq!(first(3, 4, Purpose::Method), first(3, 4, Purpose::Method));
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        let mut order = permutation(1000, &mut stream(1, 2, 3, Purpose::Shuffles));
        assert_ne!(order, (0..1000).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
    }
}
