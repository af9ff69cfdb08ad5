//! Means and spreads of the columns of a reference.

use dshap::{BLOCK_ROWS, Moments, Rows};

/// Means and standard deviations over the reference, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStats {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub std_dev: Vec<f64>,
}

impl ColumnStats {
    /// Those of the design columns and, last, of the target.
    pub fn of(moments: &Moments) -> Self {
        let columns = 0..=moments.n_features();
        let std_dev = |j: usize| (moments.centred(j, j) / moments.weight()).sqrt();
        Self {
            mean: columns.clone().map(|j| moments.mean(j)).collect(),
            std_dev: columns.map(std_dev).collect(),
        }
    }

    /// Whether there is a finite number for each of `n_columns` columns.
    pub(crate) fn is_sound(&self, n_columns: usize) -> bool {
        let sound = |numbers: &[f64]| numbers.len() == n_columns && numbers.iter().all(|x| x.is_finite());
        sound(&self.mean) && sound(&self.std_dev)
    }
}

/// Sums over rows: the same bits however they come. Each block of 4096 rows is summed less
/// its first row, and blocks are merged like the digits of a binary counter.
#[derive(Debug, Clone)]
pub struct ColumnSums {
    n_columns: usize,
    /// The block that is not full.
    open: Block,
    /// Merged blocks, each `2^level` of them, largest first.
    merged: Vec<(u32, Block)>,
}

/// Sums over some rows, each less the first one.
#[derive(Debug, Clone, Default, PartialEq)]
struct Block {
    n_rows: u64,
    first: Vec<f64>,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl Block {
    fn add(&mut self, rows: Rows<'_>) {
        let zeros = vec![0.0; rows.n_features()];
        if self.n_rows == 0 {
            *self = Self { n_rows: 0, first: zeros.clone(), sum: zeros.clone(), squares: zeros };
        }
        for (j, cells) in rows.x().col_iter().enumerate() {
            if self.n_rows == 0 {
                self.first[j] = cells[0];
            }
            for cell in cells.iter() {
                let difference = cell - self.first[j];
                self.sum[j] += difference;
                self.squares[j] += difference * difference;
            }
        }
        self.n_rows += rows.len() as u64;
    }

    /// Adds the sums over later rows, moved to the first row here.
    fn absorb(&mut self, later: &Block) {
        if self.n_rows == 0 {
            self.clone_from(later);
            return;
        }
        let n = later.n_rows as f64;
        for j in 0..later.first.len() {
            let moved = later.first[j] - self.first[j];
            self.sum[j] += later.sum[j] + n * moved;
            self.squares[j] += later.squares[j] + moved * (2.0 * later.sum[j] + n * moved);
        }
        self.n_rows += later.n_rows;
    }
}

impl ColumnSums {
    /// No rows yet.
    pub fn new(n_columns: usize) -> Self {
        Self { n_columns, open: Block::default(), merged: Vec::new() }
    }

    /// Adds rows.
    pub fn add(&mut self, rows: Rows<'_>) {
        let mut start = 0;
        while start < rows.len() {
            let len = (rows.len() - start).min(BLOCK_ROWS - self.open.n_rows as usize);
            self.open.add(rows.slice(start, len));
            start += len;
            if self.open.n_rows as usize == BLOCK_ROWS {
                let block = std::mem::take(&mut self.open);
                self.push(0, block);
            }
        }
    }

    fn push(&mut self, level: u32, block: Block) {
        let (mut level, mut block) = (level, block);
        while let Some((_, mut left)) = self.merged.pop_if(|(have, _)| *have == level) {
            left.absorb(&block);
            (level, block) = (level + 1, left);
        }
        self.merged.push((level, block));
    }

    /// Adds the sums over later rows: with the same bits as one sum if these are whole blocks.
    pub fn absorb(&mut self, later: ColumnSums) {
        if self.open.n_rows == 0 {
            later.merged.into_iter().for_each(|(level, block)| self.push(level, block));
            self.open = later.open;
        } else {
            let mut open = self.clone().total();
            open.absorb(&later.total());
            *self = Self { n_columns: self.n_columns, open, merged: Vec::new() };
        }
    }

    fn total(self) -> Block {
        self.merged.into_iter().rev().fold(self.open, |total, (_, mut block)| {
            block.absorb(&total);
            block
        })
    }

    /// Means and standard deviations of the rows added.
    pub fn finish(self) -> ColumnStats {
        let n_columns = self.n_columns;
        let Block { n_rows, first, sum, squares } = self.total();
        if n_rows == 0 {
            return ColumnStats { mean: vec![0.0; n_columns], std_dev: vec![0.0; n_columns] };
        }
        let n = n_rows as f64;
        let mean = first.iter().zip(&sum).map(|(first, sum)| first + sum / n);
        let var = |(squares, sum): (&f64, &f64)| ((squares - sum * sum / n) / n).max(0.0);
        ColumnStats {
            mean: mean.collect(),
            std_dev: squares.iter().zip(&sum).map(|sums| var(sums).sqrt()).collect(),
        }
    }

    /// All numbers: the level, the rows and the sums of each block, the open one last.
    pub fn to_parts(&self) -> Vec<f64> {
        let open = (0, &self.open);
        let blocks = self.merged.iter().map(|(level, block)| (*level, block)).chain([open]);
        let of_block = |(level, block): (u32, &Block)| {
            let counts = [f64::from(level), block.n_rows as f64];
            let mut numbers: Vec<f64> = counts.to_vec();
            for sums in [&block.first, &block.sum, &block.squares] {
                numbers.extend(sums.iter().copied().chain(vec![0.0; self.n_columns - sums.len()]));
            }
            numbers
        };
        blocks.flat_map(of_block).collect()
    }

    /// Sums from their numbers, unless they do not add up.
    pub fn from_parts(n_columns: usize, parts: &[f64]) -> Option<Self> {
        let block = |numbers: &[f64]| {
            let sums = |i: usize| numbers[2 + i * n_columns..2 + (i + 1) * n_columns].to_vec();
            match numbers[1] as u64 {
                0 => Block::default(),
                n_rows => Block { n_rows, first: sums(0), sum: sums(1), squares: sums(2) },
            }
        };
        let chunks = parts.chunks_exact(2 + 3 * n_columns);
        if !chunks.remainder().is_empty() {
            return None;
        }
        let mut merged: Vec<(u32, Block)> =
            chunks.map(|numbers| (numbers[0] as u32, block(numbers))).collect();
        let (_, open) = merged.pop()?;
        Some(Self { n_columns, open, merged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn sums(x: &Mat<f64>, start: usize, len: usize) -> ColumnSums {
        let mut sums = ColumnSums::new(x.ncols());
        let y = vec![0.0; len];
        sums.add(Rows::new(x.as_ref().subrows(start, len), &y).expect("same length"));
        sums
    }

    #[test]
    fn blocks_that_were_summed_elsewhere_give_the_same_bits() {
        let n = 5 * BLOCK_ROWS + 99;
        let x = Mat::from_fn(n, 2, |i, j| 1e6 * j as f64 + ((i * 7919) % 1009) as f64 / 7.0);
        let whole = sums(&x, 0, n).finish();
        let mut parts = sums(&x, 0, 2 * BLOCK_ROWS);
        let mut rest = sums(&x, 4 * BLOCK_ROWS, BLOCK_ROWS + 99);
        rest = ColumnSums::from_parts(2, &rest.to_parts()).expect("its own numbers");
        parts.absorb(sums(&x, 2 * BLOCK_ROWS, 2 * BLOCK_ROWS));
        parts.absorb(rest);
        assert_eq!(parts.finish(), whole);
        let mut uneven = sums(&x, 0, 1000);
        uneven.absorb(sums(&x, 1000, n - 1000));
        let uneven = uneven.finish();
        for j in 0..2 {
            let column: Vec<f64> = (0..n).map(|i| x[(i, j)]).collect();
            let mean = column.iter().sum::<f64>() / n as f64;
            let var = column.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / n as f64;
            for found in [&whole, &uneven] {
                assert!((found.mean[j] - mean).abs() < 1e-12 * (1.0 + mean.abs()));
                assert!((found.std_dev[j] / var.sqrt() - 1.0).abs() < 1e-9);
            }
        }
    }
}
