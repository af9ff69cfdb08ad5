//! The program as users run it, in one test binary.

mod baselines;
mod catalogue;
mod classification;
mod clean;
mod common;
mod density;
#[cfg(unix)]
mod documents;
mod entries;
mod errors;
mod evaluate;
#[cfg(feature = "experiments")]
mod experiment;
mod explain;
mod faults;
mod formula;
mod hints;
mod inputs;
#[cfg(unix)]
mod installer;
mod limits;
mod look;
mod methods;
mod neighbours;
mod owners;
mod owners_guide;
mod pages;
#[cfg(feature = "experiments")]
mod paper_map;
mod reading;
mod report;
mod same_values;
mod second_order;
mod several_sizes;
mod target;
mod terminal;
mod trust;
mod value;
mod valuers;
