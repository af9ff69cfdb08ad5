//! The experiments of the paper, each as one call, and their datasets.
//!
//! ```text
//! Library ──▶ Table ──▶ Split ──▶ values ──▶ curves, times ──▶ CSV ──▶ figure, summary
//! ```
//!
//! [`run`] does one [`Experiment`] and writes to a folder: a table with the rows of
//! every repetition, a figure as SVG and PNG, a summary in Markdown with the paper's
//! numbers next to dshap's, and a record of the settings. A run that was killed
//! continues where it stopped: repetitions in the table are kept. Apart from times,
//! results depend only on the settings and the data: random streams are numbered by
//! panel and repetition, and threads do not matter.
//!
//! | module | holds |
//! |---|---|
//! | `data/` | tables, the twelve panels, how a repetition divides rows |
//! | `dataset/` | datasets by name: made, found in folders, downloaded and checked |
//! | `valuing.rs`, `d_shapley.rs` | values of points by each method |
//! | `addition/` | point-addition curves and their utilities |
//! | `fig1.rs` … `table2.rs` | one file per experiment |
//! | `ledger.rs`, `output.rs` | the table that grows, and the files around it |

mod addition;
mod d_shapley;
mod data;
pub mod dataset;
mod error;
mod fig1;
mod fig2;
mod fig3;
mod fig4;
mod fig56;
mod ledger;
mod markdown;
mod output;
mod seeds;
mod settings;
pub mod statistics;
mod table1;
mod table2;
mod valuing;
mod watch;

pub use data::{Handling, Table, Task, gaussian_c, gaussian_r};
pub use error::{Difference, Error, ExperimentOption, Unused};
pub use settings::{Experiment, Settings, ShownConstant};
pub use watch::{Unwatched, Watch};

use std::path::Path;

/// Does an experiment and writes its files to `folder`, which is created if needed.
///
/// # Errors
///
/// [`Error::NoUse`] for settings that the experiment would ignore;
/// [`Error::OtherRun`] and [`Error::OtherData`] if the folder holds results of other
/// settings or tables, [`Error::Damaged`] if these cannot be read;
/// [`Error::NotFound`] for datasets that are nowhere; and errors of files and
/// methods.
pub fn run(
    experiment: Experiment,
    settings: &Settings,
    folder: &Path,
    watch: &dyn Watch,
) -> Result<(), Error> {
    settings.check_use(experiment)?;
    match experiment {
        Experiment::Fig1 => fig1::run(settings, folder, watch),
        Experiment::Table1 => table1::run(settings, folder, watch),
        Experiment::Table2 => table2::run(settings, folder, watch),
        Experiment::Fig2 => fig2::run(settings, folder, watch),
        Experiment::Fig3 => fig3::run(settings, folder, watch),
        Experiment::Fig4 => fig4::run(settings, folder, watch),
        Experiment::Fig5 | Experiment::Fig6 => fig56::run(experiment, settings, folder, watch),
    }
}
