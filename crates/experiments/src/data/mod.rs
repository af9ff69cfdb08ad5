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

use crate::dataset::find;
use crate::seeds::{Purpose, stream};
use crate::settings::Settings;
use crate::{Error, Watch};
use std::path::PathBuf;

/// Rows of a simulated dataset, as in the authors' code.
const MADE_ROWS: usize = 50_000;

/// A table that was read.
#[derive(Debug)]
pub(crate) struct Read {
    /// The dataset it stands for.
    pub(crate) dataset: &'static str,
    /// The file it was read from.
    pub(crate) file: PathBuf,
    /// What it holds.
    pub(crate) table: Table,
}

/// Where the rows of a panel come from.
#[derive(Debug)]
pub(crate) enum Rows {
    /// A table, the same for every repetition.
    Read(Read),
    /// Drawn again for every repetition.
    Made(fn(usize, usize, &mut rand_chacha::ChaCha8Rng) -> Table, usize),
}

impl Rows {
    /// The rows of `panel`: read once, or how to make them. A table that differs from
    /// the published one is used, and `watch` is warned.
    pub(crate) fn of(panel: &Panel, settings: &Settings, watch: &dyn Watch) -> Result<Self, Error> {
        Ok(match panel.dataset(settings.handling) {
            "gaussian-r" => Rows::Made(gaussian::regression, 10),
            "gaussian-c" => Rows::Made(gaussian::classification, 3),
            name => {
                let entry = find(name)?;
                let file = settings.library.file(name)?;
                let table = entry.read(&file)?;
                if table.digest() != entry.digest {
                    watch.doubt(&format!(
                        "`{}` has other numbers than the table of `{}` that this project's results are based on",
                        file.display(),
                        entry.name
                    ));
                }
                Rows::Read(Read { dataset: entry.name, file, table })
            }
        })
    }

    /// The rows of every panel.
    pub(crate) fn of_all(
        panels: &[Panel],
        settings: &Settings,
        watch: &dyn Watch,
    ) -> Result<Vec<Self>, Error> {
        panels.iter().map(|panel| Rows::of(panel, settings, watch)).collect()
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
            Rows::Read(read) => Split::new(&read.table, panel, handling, &mut rng),
            Rows::Made(make, dim) => {
                let mut rows = stream(seed, panel.number(), repetition, Purpose::Rows);
                Split::new(&make(MADE_ROWS, *dim, &mut rows), panel, handling, &mut rng)
            }
        }
    }
}
