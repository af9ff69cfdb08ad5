//! Wrong labels and targets, on purpose.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What targets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of classes from 0 up; how many classes there are.
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

/// Makes a share of the targets wrong. A label becomes one of the others, each
/// equally likely. A number becomes the number of a random row that has another.
///
/// If there are two rows or more, at least one is changed and at least one is not.
/// Nothing is changed if all numbers are the same, or if there is one class.
pub fn inject(y: &[f64], kind: Kind, share: f64, seed: u64) -> Changed {
    let n = y.len();
    let mut changed = Changed { y: y.to_vec(), is_wrong: vec![false; n] };
    let wrong = match kind {
        Kind::Labels(n_classes) => Wrong::Label(n_classes),
        Kind::Numbers => Wrong::Number(Others::of(y)),
    };
    if n < 2 || wrong.is_impossible() {
        return changed;
    }
    let n_wrong = ((share * n as f64).round() as usize).clamp(1, n - 1);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for &row in &shuffle(n, &mut rng)[..n_wrong] {
        changed.is_wrong[row] = true;
        changed.y[row] = wrong.draw(y[row], &mut rng);
    }
    changed
}

/// How a target is made wrong.
enum Wrong {
    Label(usize),
    Number(Others),
}

impl Wrong {
    fn is_impossible(&self) -> bool {
        match self {
            Wrong::Label(n_classes) => *n_classes < 2,
            Wrong::Number(others) => others.are_none(),
        }
    }

    fn draw(&self, right: f64, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Wrong::Label(n_classes) => {
                let step = 1 + below(rng, n_classes - 1);
                ((right as usize + step) % n_classes) as f64
            }
            Wrong::Number(others) => others.draw(right, rng),
        }
    }
}

/// Numbers in ascending order, so that those equal to one of them stand together.
struct Others {
    sorted: Vec<f64>,
}

impl Others {
    fn of(y: &[f64]) -> Self {
        let mut sorted = y.to_vec();
        // Zero has two signs and is one number.
        sorted.iter_mut().for_each(|number| *number += 0.0);
        sorted.sort_by(f64::total_cmp);
        Self { sorted }
    }

    /// Whether all numbers are the same.
    fn are_none(&self) -> bool {
        self.sorted.first() == self.sorted.last()
    }

    /// One of the numbers that differ from `number`, each row being equally likely.
    fn draw(&self, number: f64, rng: &mut ChaCha8Rng) -> f64 {
        let first = self.sorted.partition_point(|other| *other < number);
        let after = self.sorted.partition_point(|other| *other <= number);
        let place = below(rng, self.sorted.len() - (after - first));
        self.sorted[if place < first { place } else { place + (after - first) }]
    }
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

/// A whole number below `n`, each equally likely up to one part in 2⁶⁴/n.
fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}
