//! Assertions, tables and seeded generators for dshap's own tests.

mod close;
mod draws;
mod fuzz;
mod goods;
mod polluted;
mod real_data;
mod reference;
mod statistics;
mod threads;

pub use close::{assert_close, assert_near_scale, assert_same_bits, relative_error};
pub use draws::{Draws, Sample};
pub use fuzz::{Attack, fuzz};
pub use goods::goods;
pub use polluted::{Meant, Polluted, polluted, polluted_late};
pub use real_data::{real_data, skip};
pub use reference::{Case, cases, cases_under};
pub use statistics::{MAX_ABS_Z, MeanEstimate, normal_density, seeds};
pub use threads::on_threads;
