//! dshap for Python: the private module `dshap._dshap`.
//!
//! `dshap-run` computes everything, as for the command line. Here NumPy arrays and
//! Arrow tables become sources, and errors become exceptions; long work releases
//! the GIL and listens for Ctrl-C. The names that users see are made in
//! `python/dshap`.
//!
//! | file | holds |
//! |---|---|
//! | `arrays.rs` | numbers in NumPy arrays, read in place |
//! | `labels.rs` | labels that are text or booleans |
//! | `table.rs` | `Table`: features, target and weights of any kind |
//! | `params.rs` | parameters of Python as options of the catalogue, and back |
//! | `valuer.rs` | `Valuer`: fitted, valuing, merged, saved |
//! | `facts.rs` | what a valuer has learned |
//! | `command.rs` | the command `dshap` |
//! | `catalogue.rs` | every method and every option, as JSON |
//! | `baselines.rs` | values by fitting models to sets of rows |
//! | `own_utility.rs` | the same for a Python function of sets |
//! | `evaluate.rs` | how good values are: curves, detection, agreement, figures |
//! | `cleaning.rs` | suspicious rows, and what to do with them |
//! | `owners.rs` | owners of rows, payouts, receipts |
//! | `report.rs` | values and owners as a page |
//! | `spread.rs` | fits and values of rows on several machines |
//! | `formula.rs` | the closed forms for arrays of numbers |
//! | `work.rs` | threads, progress, interruption |
//! | `error.rs` | every decision about exceptions |
//! | `words.rs` | how sentences of the engine are spelled in Python |

mod arrays;
mod baselines;
mod catalogue;
mod cleaning;
mod command;
mod error;
mod evaluate;
mod facts;
mod formula;
mod labels;
mod own_utility;
mod owners;
mod params;
mod report;
mod spread;
mod table;
mod valuer;
mod words;
mod work;

use pyo3::prelude::*;

/// The engine of dshap; its names are private, those of `dshap` are not.
#[pymodule]
mod _dshap {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::baselines::{baseline, chance, task_of};
    #[pymodule_export]
    use crate::catalogue::catalogue;
    #[pymodule_export]
    use crate::cleaning::{cleaned, suspects};
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::evaluate::{agreement, corrupted, detection, drawn, orders};
    #[pymodule_export]
    use crate::formula::{bounds, classification, density, ranking, regression, spelled, synergy};
    #[pymodule_export]
    use crate::own_utility::baseline_of_sets;
    #[pymodule_export]
    use crate::owners::{owners, payout, payout_by_file, verify};
    #[pymodule_export]
    use crate::report::{owners_page, report_page, values_page};
    #[pymodule_export]
    use crate::spread::{
        Spread, merged_means, merged_part, n_tests, own_means, owners_of_moments, part_names, part_of,
        value_rows, values_of_means,
    };
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::valuer::Valuer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
