//! dshap for Python: the private module `dshap._dshap`.
//!
//! Everything is computed by `dshap-run`, as for the command line; here NumPy
//! arrays and Arrow tables become sources, errors exceptions, and long work is
//! done without the GIL while Ctrl-C is listened for. The names that users see
//! are made in `python/dshap`.
//!
//! | file | holds |
//! |---|---|
//! | `arrays.rs` | numbers in NumPy arrays, read where they are |
//! | `labels.rs` | labels that are text or booleans |
//! | `table.rs` | `Table`: features, target and weights of whatever kind |
//! | `params.rs` | the parameters of an estimator, checked |
//! | `density.rs` | what only densities have: their parameters, and what is learned |
//! | `neighbours.rs` | the same of nearest neighbours |
//! | `valuer.rs` | `Valuer`: fitted, valuing, merged, saved |
//! | `facts.rs` | what a valuer has learned |
//! | `said.rs` | keywords of functions, turned into what the engine asks for |
//! | `baselines.rs` | values by fitting models to sets of rows |
//! | `evaluate.rs` | how good values are: curves, detection, agreement, figures |
//! | `formula.rs` | the closed forms for arrays of numbers |
//! | `work.rs` | threads, progress, interruption |
//! | `error.rs` | every decision about exceptions |
//! | `words.rs` | what the engine says about files and flags, in words for Python |

mod arrays;
mod baselines;
mod density;
mod error;
mod evaluate;
mod facts;
mod formula;
mod labels;
mod neighbours;
mod params;
mod said;
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
    use crate::evaluate::{agreement, corrupted, detection, drawn, orders};
    #[pymodule_export]
    use crate::formula::{bounds, classification, density, ranking, regression, spelled, synergy};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::valuer::Valuer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
