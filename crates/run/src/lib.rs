//! What was asked, as a request, and the passes over the data that carry it out.
//!
//! Front ends fill in a [`ValueRequest`], watch through an [`Observer`] and take
//! the rows through a [`Receiver`]. Everything between is here, so that the
//! command line and every other front end compute the same bits.
//!
//! ```text
//! ValueRequest ──▶ survey? ──▶ moments ──▶ fit, valuer ──▶ values ──▶ Receiver
//!                  (text)      pass 1                      pass 2      + Summary
//! ```
//!
//! Nothing here prints or knows flags.

mod error;
mod fit;
mod formula;
mod observer;
mod output;
mod receiver;
mod request;
mod summary;
mod value;

pub use error::Error;
pub use formula::{RegressionCase, RegressionForms, regression_cases};
pub use observer::{Observer, Stage, Unwatched};
pub use receiver::{Arrange, Collected, Receiver, Written};
pub use request::{Method, Task, ValueRequest};
pub use summary::{InputFile, Spread, Summary};
pub use value::value;
