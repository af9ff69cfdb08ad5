//! Wrong labels and targets, on purpose.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What targets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of so many classes, from 0 on.
    Labels(usize),
    /// Numbers of any kind.
    Numbers,
}

/// Targets with some of them changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The targets.
    pub y: Vec<f64>,
    /// Which of them were changed.
    pub is_wrong: Vec<bool>,
}

/// Makes a share of the targets wrong: a label becomes another one, each as likely;
/// a number becomes that of another row, so that its distribution stays.
///
/// At least one row is changed, and at least one is not, where there are two. A
/// number that happens to be the same in the other row is taken for changed all
/// the same.
pub fn inject(y: &[f64], kind: Kind, share: f64, seed: u64) -> Changed {
    let n = y.len();
    let mut changed = Changed { y: y.to_vec(), is_wrong: vec![false; n] };
    if n < 2 {
        return changed;
    }
    let n_wrong = ((share * n as f64).round() as usize).clamp(1, n - 1);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for &row in &shuffle(n, &mut rng)[..n_wrong] {
        changed.is_wrong[row] = true;
        changed.y[row] = match kind {
            Kind::Labels(n_classes) => {
                let step = 1 + below(&mut rng, n_classes.saturating_sub(1).max(1));
                ((y[row] as usize + step) % n_classes.max(1)) as f64
            }
            Kind::Numbers => y[(row + 1 + below(&mut rng, n - 1)) % n],
        };
    }
    changed
}

/// The numbers `0..n` in random order.
pub fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    shuffle(n, &mut ChaCha8Rng::seed_from_u64(seed))
}

/// Fisher and Yates.
fn shuffle(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in 0..n.saturating_sub(1) {
        let other = i + below(rng, n - i);
        order.swap(i, other);
    }
    order
}

/// A whole number below `n`, each as likely up to one part in 2⁶⁴/n.
fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}
