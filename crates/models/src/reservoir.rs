//! A sample of rows of a table whose length is not known.

use dshap::Rows;
use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

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
                match drawn_place(&mut self.rng, number, self.most) {
                    Some(place) => place,
                    None => continue,
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

/// The place that a row takes, if it takes one: the high half of a product is uniform on
/// `0..=number` up to 2⁻⁶⁴ n.
fn drawn_place(rng: &mut ChaCha8Rng, number: u64, most: usize) -> Option<usize> {
    let drawn = (u128::from(rng.next_u64()) * (u128::from(number) + 1)) >> 64;
    usize::try_from(drawn).ok().filter(|place| *place < most)
}

/// A row in a place of a sample: its number and its cells.
type Placed = (u64, Vec<f64>);

/// The same sample drawn in parts, from rows whose numbers are known: which place a row takes
/// depends on its number alone, and the last row that takes a place keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedSample {
    most: usize,
    n_columns: usize,
    seed: u64,
    n_seen: u64,
    places: BTreeMap<u64, Placed>,
}

impl NumberedSample {
    /// An empty sample of at most `most` rows.
    pub fn new(n_columns: usize, most: usize, seed: u64) -> Self {
        Self { most, n_columns, seed, n_seen: 0, places: BTreeMap::new() }
    }

    /// Sees rows that are numbered from `first` on.
    pub fn look_at(&mut self, rows: Rows<'_>, first: u64) {
        let most = self.most as u64;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        // Each row beyond the first ones has drawn one number of two words.
        rng.set_word_pos(2 * u128::from(first.saturating_sub(most)));
        for row in 0..rows.len() {
            let number = first + row as u64;
            let place = match number < most {
                true => Some(number),
                false => drawn_place(&mut rng, number, self.most).map(|place| place as u64),
            };
            if let Some(place) = place {
                let cells = (0..self.n_columns).map(|j| rows.x()[(row, j)]).collect();
                self.keep(place, (number, cells));
            }
        }
        self.n_seen += rows.len() as u64;
    }

    fn keep(&mut self, place: u64, row: Placed) {
        match self.places.entry(place) {
            Entry::Vacant(free) => {
                free.insert(row);
            }
            Entry::Occupied(mut taken) if taken.get().0 < row.0 => {
                taken.insert(row);
            }
            Entry::Occupied(_) => {}
        }
    }

    /// Adds the sample of other rows.
    pub fn absorb(&mut self, other: NumberedSample) {
        self.n_seen += other.n_seen;
        for (place, row) in other.places {
            self.keep(place, row);
        }
    }

    /// Rows looked at.
    pub fn n_seen(&self) -> u64 {
        self.n_seen
    }

    /// As [`Reservoir::drain`].
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub fn drain<E>(
        self,
        mut each: impl FnMut(faer::MatRef<'_, f64>) -> Result<(), E>,
    ) -> Result<Option<Vec<u64>>, E> {
        let is_all = self.places.len() as u64 == self.n_seen;
        let mut rows: Vec<Placed> = self.places.into_values().collect();
        rows.sort_unstable_by_key(|row| row.0);
        for block in rows.chunks(BLOCK) {
            each(Mat::from_fn(block.len(), self.n_columns, |i, j| block[i].1[j]).as_ref())?;
        }
        Ok((!is_all).then(|| rows.into_iter().map(|row| row.0).collect()))
    }

    /// All numbers: rows seen, then place, number and cells of each row that is kept.
    pub fn to_parts(&self) -> Vec<f64> {
        let of_row = |(place, row): (&u64, &Placed)| {
            [*place as f64, row.0 as f64].into_iter().chain(row.1.iter().copied()).collect::<Vec<_>>()
        };
        [self.n_seen as f64].into_iter().chain(self.places.iter().flat_map(of_row)).collect()
    }

    /// Adds rows by their numbers; false if they do not add up.
    pub fn absorb_parts(&mut self, parts: &[f64]) -> bool {
        let Some((n_seen, rest)) = parts.split_first() else { return false };
        let rows = rest.chunks_exact(2 + self.n_columns);
        if !rows.remainder().is_empty() {
            return false;
        }
        for row in rows {
            self.keep(row[0] as u64, (row[1] as u64, row[2..].to_vec()));
        }
        self.n_seen += *n_seen as u64;
        true
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
    fn a_sample_drawn_in_parts_is_the_same_sample() {
        for (n, most) in [(100, 100), (100, 30), (5000, 1500), (5000, 7)] {
            let (expected, numbers) = sampled(n, most, 3, n);
            let mut total = NumberedSample::new(2, most, 3);
            // In any order.
            for start in (0..n).step_by(611).rev() {
                let len = 611.min(n - start);
                let x = Mat::from_fn(len, 2, |i, j| ((start + i) * (j + 1)) as f64);
                let mut part = NumberedSample::new(2, most, 3);
                part.look_at(Rows::new(x.as_ref(), &vec![0.0; len]).expect("same length"), start as u64);
                assert!(total.absorb_parts(&part.to_parts()));
            }
            let mut rows = Vec::new();
            let found = total.drain(|block| {
                rows.extend(block.col(0).iter().copied());
                Ok::<(), ()>(())
            });
            assert_eq!((rows, found), (expected, Ok(numbers)), "{most} of {n}");
        }
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
