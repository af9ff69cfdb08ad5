//! The program as users run it, in one test binary.

mod baselines;
mod catalogue;
mod classification;
mod common;
mod density;
mod errors;
mod evaluate;
#[cfg(feature = "experiments")]
mod experiment;
mod formula;
mod inputs;
mod limits;
mod methods;
mod neighbours;
mod owners;
mod pages;
mod same_values;
mod second_order;
mod terminal;
mod value;
mod valuers;
