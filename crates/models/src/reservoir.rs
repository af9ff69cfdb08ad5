//! A sample of rows of a table whose length is not known.

use dshap::Rows;
use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;

/// Rows that are allocated at once.
const BLOCK: usize = 1024;

/// All rows while they are few, then a sample drawn without repetition: the same
/// rows however the table is cut into batches.
#[derive(Debug)]
pub struct Reservoir {
    most: usize,
    n_columns: usize,
    rng: ChaCha8Rng,
    n_seen: u64,
    /// Which row is in which place.
    numbers: Vec<u64>,
    blocks: VecDeque<Mat<f64>>,
}

impl Reservoir {
    /// An empty reservoir of at most `most` rows.
    pub fn new(n_columns: usize, most: usize, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Self { most, n_columns, rng, n_seen: 0, numbers: Vec::new(), blocks: VecDeque::new() }
    }

    /// Algorithm R: row `i` takes the place of one of those there with
    /// probability `most/(i + 1)`.
    pub fn look_at(&mut self, rows: Rows<'_>) {
        for row in 0..rows.len() {
            let number = self.n_seen;
            self.n_seen += 1;
            let place = if self.numbers.len() < self.most {
                self.numbers.push(number);
                self.numbers.len() - 1
            } else {
                // The high half of a product: uniform on 0..=number up to 2⁻⁶⁴ n.
                let drawn = (u128::from(self.rng.next_u64()) * (u128::from(number) + 1)) >> 64;
                match usize::try_from(drawn) {
                    Ok(place) if place < self.most => place,
                    _ => continue,
                }
            };
            self.numbers[place] = number;
            if place / BLOCK == self.blocks.len() {
                self.blocks.push_back(Mat::zeros(BLOCK, self.n_columns));
            }
            let block = &mut self.blocks[place / BLOCK];
            for j in 0..self.n_columns {
                block[(place % BLOCK, j)] = rows.x()[(row, j)];
            }
        }
    }

    /// Rows looked at.
    pub fn n_seen(&self) -> u64 {
        self.n_seen
    }

    /// Hands the rows over in the order of the table, some at a time; returns
    /// their numbers if they are not all.
    pub fn drain<E>(
        mut self,
        mut each: impl FnMut(faer::MatRef<'_, f64>) -> Result<(), E>,
    ) -> Result<Option<Vec<u64>>, E> {
        let n = self.numbers.len();
        if self.n_seen == n as u64 {
            // They stand in order; what was handed over is not kept.
            let mut start = 0;
            while let Some(block) = self.blocks.pop_front() {
                each(block.as_ref().subrows(0, BLOCK.min(n - start)))?;
                start += BLOCK;
            }
            return Ok(None);
        }
        let mut places: Vec<usize> = (0..n).collect();
        places.sort_unstable_by_key(|&place| self.numbers[place]);
        for places in places.chunks(BLOCK) {
            let cell = |i: usize, j: usize| self.blocks[places[i] / BLOCK][(places[i] % BLOCK, j)];
            each(Mat::from_fn(places.len(), self.n_columns, cell).as_ref())?;
        }
        Ok(Some(places.into_iter().map(|place| self.numbers[place]).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows `0..n` sampled in batches of `batch`, and their numbers.
    fn sampled(n: usize, most: usize, seed: u64, batch: usize) -> (Vec<f64>, Option<Vec<u64>>) {
        let x = Mat::from_fn(n, 2, |i, j| (i * (j + 1)) as f64);
        let y = vec![0.0; n];
        let mut reservoir = Reservoir::new(2, most, seed);
        for start in (0..n).step_by(batch) {
            let len = batch.min(n - start);
            let rows = Rows::new(x.as_ref().subrows(start, len), &y[start..start + len]);
            reservoir.look_at(rows.expect("same length"));
        }
        let mut rows = Vec::new();
        let numbers = reservoir.drain(|block| {
            assert!((0..block.nrows()).all(|i| block[(i, 1)] == 2.0 * block[(i, 0)]));
            rows.extend(block.col(0).iter().copied());
            Ok::<(), ()>(())
        });
        (rows, numbers.expect("nothing fails"))
    }

    #[test]
    fn few_rows_are_all_there_and_many_are_a_set_in_order() {
        assert_eq!(sampled(2500, 2500, 1, 7), ((0..2500).map(f64::from).collect(), None));
        let (rows, numbers) = sampled(5000, 1500, 1, 5000);
        assert_eq!(numbers.expect("a sample"), rows.iter().map(|&row| row as u64).collect::<Vec<_>>());
        assert!(rows.len() == 1500 && rows.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(sampled(5000, 1500, 1, 13).0, rows, "batches do not matter");
        assert_ne!(sampled(5000, 1500, 2, 13).0, rows, "the seed does");
    }

    #[test]
    fn every_row_has_its_chance() {
        let mut counts = [0; 20];
        for seed in 0..4000 {
            sampled(20, 5, seed, 20).0.iter().for_each(|&row| counts[row as usize] += 1);
        }
        // Binomial(4000, ¼) has deviation 27: five of them are exceeded once in 87 000 runs
        // of 20 rows, while a row that is never replaced would be 109 away.
        assert!(counts.iter().all(|&count| (count - 1000_i32).abs() < 140), "{counts:?}");
    }
}
