//! Test rows that a closed form is for: their moments, kept with a fit.

use crate::Error;
use crate::file::{Arrays, InputFile, Reading};
use crate::linear::{MomentsDocument, read_moments, write_moments};
use crate::reference::Reference;
use dshap::linear::TestMoments;
use dshap::{Combination, Moments};
use dshap_table::Design;
use serde::{Deserialize, Serialize};

/// The moments of test rows, or of a population without targets. Nothing else of them is
/// kept.
#[derive(Debug, Clone)]
pub struct KeptTests {
    /// One for a regression, one for each logistic fit.
    pub of_fits: Vec<TestMoments>,
    /// The files that the rows came from.
    pub files: Vec<InputFile>,
    /// Rows left out for a missing cell.
    pub n_left_out: u64,
}

/// Kept test rows without their arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct TestsDocument {
    has_targets: bool,
    moments: Vec<MomentsDocument>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<InputFile>,
    #[serde(default)]
    left_out: u64,
}

/// What is known about the rows that values are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TestFacts {
    /// How many there are.
    pub rows: usize,
    /// Whether they have targets.
    pub targets: bool,
}

impl KeptTests {
    /// The moments that were read from a table of test rows.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] where there is no test row.
    pub fn new(tests: &dyn Reference, moments: Option<Vec<Moments>>, n_left_out: u64) -> Result<Self, Error> {
        let design = tests.design();
        let moments = moments.ok_or_else(|| Error::core(dshap::Error::NoTestRows, design))?;
        let has_targets = design.target().is_some();
        let of_fits = moments.into_iter().map(|moments| TestMoments { moments, has_targets });
        Ok(Self { of_fits: of_fits.collect(), files: tests.files(), n_left_out })
    }

    /// Whether the rows have targets.
    pub fn has_targets(&self) -> bool {
        self.of_fits.iter().all(|tests| tests.has_targets)
    }

    /// What is known about them.
    pub fn facts(&self) -> TestFacts {
        let rows = self.of_fits.first().map_or(0, |tests| tests.moments.n_rows());
        TestFacts { rows, targets: self.has_targets() }
    }

    /// The same rows in other columns.
    pub fn recombine(&mut self, columns: &[Combination]) {
        for tests in &mut self.of_fits {
            tests.moments = tests.moments.recombined(columns);
        }
    }

    /// Adds the test rows of another valuer. Rows that both have count twice, which leaves
    /// means as they are if they are the same rows.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for other columns.
    pub fn merge(&mut self, other: &Self, design: &Design) -> Result<(), Error> {
        for (own, others) in self.of_fits.iter_mut().zip(&other.of_fits) {
            own.moments.merge(&others.moments).map_err(|error| Error::core(error, design))?;
        }
        self.files.extend(other.files.iter().cloned());
        self.n_left_out += other.n_left_out;
        Ok(())
    }

    pub(crate) fn write(&self, arrays: &mut Arrays) -> TestsDocument {
        let mut moments = Vec::with_capacity(self.of_fits.len());
        for (fit, tests) in self.of_fits.iter().enumerate() {
            let (document, parts) = write_moments(&prefix(fit), &tests.moments);
            moments.push(document);
            arrays.extend(parts);
        }
        TestsDocument {
            has_targets: self.has_targets(),
            moments,
            files: self.files.clone(),
            left_out: self.n_left_out,
        }
    }

    /// Those in a file, which are of `widths.len()` fits with so many columns each.
    pub(crate) fn parse(
        stored: TestsDocument,
        widths: &[usize],
        arrays: &mut Reading<'_>,
    ) -> Result<Self, String> {
        if stored.moments.len() != widths.len() {
            return Err("its test rows are not those of its fits".into());
        }
        let mut of_fits = Vec::with_capacity(widths.len());
        for ((fit, document), width) in stored.moments.into_iter().enumerate().zip(widths) {
            let moments = read_moments(&prefix(fit), document, arrays)?;
            if moments.n_features() != *width {
                return Err("its test rows have other columns than its fit".into());
            }
            of_fits.push(TestMoments { moments, has_targets: stored.has_targets });
        }
        Ok(Self { of_fits, files: stored.files, n_left_out: stored.left_out })
    }
}

/// What the arrays of the test rows of a fit are called.
fn prefix(fit: usize) -> String {
    format!("test.{fit}")
}
