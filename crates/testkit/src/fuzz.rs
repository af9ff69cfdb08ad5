//! Random attacks for as long as is asked for, each known by a number.
//!
//! `DSHAP_FUZZ_SECONDS` says how long each target is attacked, `DSHAP_FUZZ_SEED` repeats
//! one attack, and with `DSHAP_FUZZ_FRESH` each run makes other attacks. A finding becomes a seed in `testdata/fuzz/seeds.txt`, which is tried first
//! from then on, and a test of its own.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::{Duration, Instant};

/// Attacked this long unless told otherwise.
const SECONDS: f64 = 2.0;

/// Seeds of attacks that once succeeded, one target and number on each line.
const KEPT: &str = include_str!("../../../testdata/fuzz/seeds.txt");

/// Runs `attack` with one seed after the other until the time is over.
///
/// # Panics
///
/// If an attack does; its number is printed.
pub fn fuzz(target: &str, mut attack: impl FnMut(&mut Attack)) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    if let Some(seed) = number("DSHAP_FUZZ_SEED") {
        attack(&mut Attack::new(seed as u64));
        return;
    }
    let limit = Duration::from_secs_f64(number("DSHAP_FUZZ_SECONDS").unwrap_or(SECONDS));
    let kept = KEPT.lines().filter_map(|line| line.strip_prefix(target)?.trim().parse::<u64>().ok());
    let first = match std::env::var_os("DSHAP_FUZZ_FRESH") {
        Some(_) => fresh_seed(),
        None => 0,
    };
    println!("{target}: seeds from {first} on");
    let begun = Instant::now();
    let mut n_attacks = 0_u64;
    for seed in kept.chain(first..) {
        if begun.elapsed() > limit {
            break;
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| attack(&mut Attack::new(seed))));
        if let Err(panic) = done {
            eprintln!("DSHAP_FUZZ_SEED={seed} repeats this attack on {target}");
            std::panic::resume_unwind(panic);
        }
        n_attacks += 1;
    }
    println!("{target}: {n_attacks} attacks");
    assert!(n_attacks > 0, "no attack was made");
}

/// The first seed of a run that makes other attacks than earlier runs: a million for each
/// second. `DSHAP_FUZZ_SEED` is read as a double, which holds it.
fn fresh_seed() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_secs() << 20)
}

/// A source of malice.
#[derive(Debug)]
pub struct Attack(ChaCha8Rng);

impl Attack {
    fn new(seed: u64) -> Attack {
        Attack(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n.max(1))
    }

    /// One of several things.
    pub fn one_of<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }

    /// A text made of up to `most` of these pieces.
    pub fn text(&mut self, pieces: &[&str], most: usize) -> String {
        (0..self.below(most)).map(|_| *self.one_of(pieces)).collect()
    }

    /// A double that is more often extreme than not.
    pub fn double(&mut self) -> f64 {
        const EXTREMES: [f64; 12] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            1e-200,
            9007199254740993.0,
        ];
        match self.below(3) {
            0 => f64::from_bits(self.0.random()),
            1 => *self.one_of(&EXTREMES),
            _ => self.0.random::<f64>(),
        }
    }

    /// Cuts, repeats, moves and flips some bytes.
    pub fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let (at, len) = (self.below(bytes.len()), self.below(16));
            let end = (at + len).min(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let copied = bytes[at..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, copied);
                }
                3 => bytes[at..end].fill(*self.one_of(&[0, 0x7f, 0x80, 0xff])),
                4 if at < bytes.len() => bytes[at] = self.0.random(),
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_seed_is_new_and_can_be_repeated() {
        let seed = fresh_seed();
        assert!(seed > 1_700_000_000 << 20, "{seed}");
        assert_eq!(seed.to_string().parse::<f64>().expect("a number") as u64, seed);
        std::thread::sleep(Duration::from_millis(1100));
        assert!(fresh_seed() >= seed + (1 << 20), "a million attacks a second");
    }
}
