//! Small games between owners of rows.

use super::Data;
use dshap::Moments;
use dshap::owners::{LinearFold, LinearGame, Parts};
use dshap_testkit::{Draws, Sample};
use faer::Mat;

/// Owners, the buyer's rows if there are any, and test rows.
pub(crate) struct Market {
    pub(crate) owners: Vec<Data>,
    pub(crate) own: Option<Data>,
    pub(crate) test: Data,
}

pub(crate) fn moments_of(data: &Data) -> Option<Moments> {
    (!data.y.is_empty()).then(|| Moments::of(data.rows()).expect("rows are finite"))
}

impl Market {
    /// One owner for each of `sizes`, with that many rows; some owners are noisy.
    pub(crate) fn drawn(seed: u64, sizes: &[usize], p: usize, has_own: bool) -> Self {
        let draws = |seed, n, noise| Data::of(&Sample::gaussian(seed, n, p, noise));
        let owners =
            sizes.iter().enumerate().map(|(g, &n)| draws(seed + 1 + g as u64, n, 0.5 + g as f64)).collect();
        let own = has_own.then(|| draws(seed + 1000, p + 3, 1.0));
        Self { owners, own, test: draws(seed + 2000, 23, 1.0) }
    }

    pub(crate) fn game(&self, ridge: f64) -> LinearGame {
        let fold = LinearFold {
            parts: self.owners.iter().map(moments_of).collect(),
            own: self.own.as_ref().and_then(moments_of),
            test: moments_of(&self.test).expect("there are test rows"),
        };
        LinearGame::new(Parts::one_each(self.owners.len()), vec![fold], ridge).expect("the game is sound")
    }

    /// The rows that a coalition trains on.
    pub(crate) fn rows_of(&self, coalition: usize) -> Data {
        let members = self.owners.iter().enumerate().filter(|(g, _)| coalition >> g & 1 == 1);
        joined(self.own.iter().chain(members.map(|(_, data)| data)), self.test.x.ncols())
    }
}

/// All rows in one table.
pub(crate) fn joined<'a>(parts: impl Iterator<Item = &'a Data>, p: usize) -> Data {
    let (mut rows, mut y) = (Vec::new(), Vec::new());
    for part in parts {
        rows.extend((0..part.y.len()).map(|i| (0..p).map(|j| part.x[(i, j)]).collect::<Vec<f64>>()));
        y.extend_from_slice(&part.y);
    }
    Data { x: Mat::from_fn(y.len(), p, |i, j| rows[i][j]), y }
}

/// The rows of one table in an order of its own.
pub(crate) fn shuffled(data: &Data, draws: &mut Draws) -> Data {
    let order = draws.shuffled(data.y.len());
    Data {
        x: Mat::from_fn(order.len(), data.x.ncols(), |i, j| data.x[(order[i], j)]),
        y: order.iter().map(|&row| data.y[row]).collect(),
    }
}
