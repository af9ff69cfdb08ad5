//! The rows of an experiment: tables, how they are made or read, and how a
//! repetition divides them.

mod gaussian;
mod panels;
mod split;
mod table;

pub use gaussian::{gaussian_c, gaussian_r};
pub(crate) use gaussian::{shifted_classes, standard_regression};
pub(crate) use panels::PANELS;
pub(crate) use panels::Panel;
pub use panels::{Handling, Task};
pub(crate) use split::{Part, Split};
pub use table::Table;

use crate::Error;
use crate::dataset::Library;
use crate::seeds::{Purpose, stream};

/// Rows of a made dataset, as many as the authors drew.
const MADE_ROWS: usize = 50_000;

/// Where the rows of a panel come from.
#[derive(Debug)]
pub(crate) enum Rows {
    /// A table, the same for every repetition.
    Read(Table),
    /// Drawn anew for every repetition.
    Made(fn(usize, usize, &mut rand_chacha::ChaCha8Rng) -> Table, usize),
}

impl Rows {
    /// The rows of `panel`: read once, or how they are made.
    pub(crate) fn of(panel: &Panel, library: &Library, handling: Handling) -> Result<Self, Error> {
        Ok(match panel.dataset(handling) {
            "gaussian-r" => Rows::Made(gaussian::regression, 10),
            "gaussian-c" => Rows::Made(gaussian::classification, 3),
            name => Rows::Read(library.read(name)?),
        })
    }

    /// The division of one repetition.
    pub(crate) fn split(
        &self,
        panel: &Panel,
        handling: Handling,
        seed: u64,
        repetition: usize,
    ) -> Result<Split, Error> {
        let mut rng = stream(seed, panel.number(), repetition, Purpose::Split);
        match self {
            Rows::Read(table) => Split::new(table, panel, handling, &mut rng),
            Rows::Made(make, dim) => {
                let mut rows = stream(seed, panel.number(), repetition, Purpose::Rows);
                Split::new(&make(MADE_ROWS, *dim, &mut rows), panel, handling, &mut rng)
            }
        }
    }
}
