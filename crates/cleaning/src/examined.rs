//! Rows in memory with their nearest neighbours.

use dshap::neighbours::{nearest_rows, sample_rows};
use dshap::{Error, Rows};
use faer::Mat;

/// Neighbours that are asked.
pub(crate) const ASKED: usize = 10;

/// Neighbours that are known: held-out and dropped rows are passed over.
const KNOWN: usize = 40;

/// Neighbours are looked for among this many rows at most: the time grows with their
/// number times that of all rows.
const MOST_NEIGHBOURS: usize = 10_000;

/// What targets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Numbers,
    /// Numbers of classes from 0 up; how many classes there are.
    Labels(usize),
}

impl Kind {
    /// Numbers in a prediction: one, or a probability for each class.
    pub(crate) fn width(self) -> usize {
        match self {
            Kind::Numbers => 1,
            Kind::Labels(n_classes) => n_classes,
        }
    }
}

/// Rows with their nearest neighbours.
#[derive(Debug)]
pub struct Examined {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) kind: Kind,
    /// The other rows that are nearest to each row, nearest first; empty if no column
    /// varies.
    pub(crate) near: Vec<Vec<u32>>,
}

impl Examined {
    /// Examines rows with finite cells. Distances are between standardised columns.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`], [`Error::TooLarge`]; [`Error::NotAClass`] for a label that is
    /// no class.
    pub fn new(rows: Rows<'_>, kind: Kind, seed: u64) -> Result<Self, Error> {
        if let Kind::Labels(n_classes) = kind {
            let is_class = |label: &f64| *label >= 0.0 && *label < n_classes as f64 && label.fract() == 0.0;
            if let Some(row) = rows.y().iter().position(|label| !is_class(label)) {
                return Err(Error::NotAClass { row, n_classes });
            }
        }
        let among = sample_rows(rows.len(), MOST_NEIGHBOURS, seed);
        let near = match nearest_rows(rows, &among, KNOWN) {
            // Nothing is near where nothing varies; the model alone predicts then.
            Err(Error::NoFeatures { .. }) => vec![Vec::new(); rows.len()],
            found => found?,
        };
        Ok(Self { x: rows.x().to_owned(), y: rows.y().to_vec(), kind, near })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// Some of the rows.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub(crate) fn part(&self, rows: &[usize], seed: u64) -> Result<Self, Error> {
        let x = Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]);
        let y: Vec<f64> = rows.iter().map(|&row| self.y[row]).collect();
        Self::new(Rows::new(x.as_ref(), &y)?, self.kind, seed)
    }
}
