//! Values of rows as one page that can be read, sent and printed.
//!
//! ```text
//! rows of `value` ──▶ Gathered ──▶ Findings ──▶ Report ──page──▶ one HTML file
//!                     bounded      further runs  facts and words
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `gather.rs` | what is kept of the rows: both ends, the largest penalties, a sample, owners |
//! | `findings.rs` | what further runs find: explanations, other settings, owners, cleaning, curves |
//! | `checks.rs` | parts about the model: quality, assumptions, sensitivity |
//! | `advice.rs` | parts from further runs: reasons, owners, cleaning, curves |
//! | `sections.rs` | the parts of the page, each with what to see in it |
//! | `charts.rs` | from numbers to figures and the tables beside them |
//! | `from_values.rs` | the page of values that were computed before |
//! | `from_owners.rs` | the page of owners that were valued before |
//! | `html.rs` | tables, text and figures as HTML |
//! | `page.rs` | the page around the parts |
//! | `assets/` | style and script of the page |
//!
//! The page names no other address, so it can be read without a network. However many
//! rows were valued, it embeds bins, quantiles and a few dozen rows, never all rows.
//! Nothing here prints, and nothing knows how a front end spells an option: commands
//! and warnings come as text.

mod advice;
mod charts;
mod checks;
mod findings;
mod from_owners;
mod from_values;
mod gather;
mod html;
mod page;
mod sections;

pub use findings::{Findings, explains_quickly};
pub use from_owners::OwnersReport;
pub use from_values::{ValuesReport, holds_values};
pub use gather::Gathered;

use dshap_run::Summary;

/// What a page is made from.
pub struct Report<'a> {
    /// What was valued, such as the names of files.
    pub title: &'a str,
    /// What ran.
    pub summary: &'a Summary,
    /// What ran, in lines for people.
    pub described: &'a str,
    /// What is doubtful, as sentences.
    pub warnings: &'a [String],
    /// The command that makes this page again.
    pub command: &'a str,
    /// The rows.
    pub rows: &'a Gathered,
    /// What further runs found.
    pub findings: &'a Findings,
}

impl Report<'_> {
    /// The page: one HTML file.
    ///
    /// # Errors
    ///
    /// [`dshap_run::Error::TooMuchText`] when the rows that are shown do not fit into
    /// one table.
    pub fn page(&self) -> Result<String, dshap_run::Error> {
        page::page(self)
    }
}
