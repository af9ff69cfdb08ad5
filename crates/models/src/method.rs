//! A method: its entry in the catalogue, and how its valuer is made.

use crate::Error;
use crate::how::How;
use crate::linear::LinearModel;
use crate::logistic::LogisticModel;
use crate::model::Ask;
use crate::reference::ExtraPass;
use crate::sets::Baseline;
use dshap::classification::{ClassificationValuer, LogisticFit};
use dshap::density::DensityMethod;
use dshap::{Sizes, Valuer};
use dshap_catalogue::{Given, MethodEntry, OptionEntry, Task, Value};

/// A method, described and made in one file of `methods/`.
#[derive(Debug)]
pub struct Method {
    /// What front ends know about it.
    pub entry: MethodEntry,
    /// The constant its values hold, where no option says so.
    pub constant: Option<&'static str>,
    /// Whether its sums are as defined or as printed, where no option says so.
    pub convention: &'static str,
    /// The method that corrects it for inputs that are not Gaussian, if it is exact for Gaussian
    /// inputs only. Other inputs then deserve a warning.
    pub corrected_by: Option<&'static Method>,
    /// How it values rows.
    pub makes: Makes,
    /// What it needs of the reference beyond a fit: one more pass.
    pub needs: fn(&Given, Task) -> Option<ExtraPass>,
    /// Defaults that depend on other settings, or come from the arithmetic.
    pub default: fn(&Given, &OptionEntry) -> Option<Value>,
}

/// How a method values rows, by what is fitted to the reference.
#[derive(Debug, Clone, Copy)]
pub enum Makes {
    /// Least squares, for regression; a logistic fit, for classification.
    Fit {
        /// For regression.
        linear: Option<MakeLinear>,
        /// For classification.
        logistic: Option<MakeLogistic>,
    },
    /// A smoothed reference.
    Density(fn(&How) -> DensityMethod),
    /// Nearest neighbours: in the limit, or of a finite dataset.
    Neighbours {
        /// Whether the reference is a finite dataset.
        finite: bool,
    },
    /// Models fitted to sets of rows.
    Sets(Baseline),
}

/// From a regression to a valuer of single rows, with standard errors if asked for.
pub type MakeRows = fn(&LinearModel, &How, Sizes, bool) -> Result<Option<Box<dyn Valuer>>, dshap::Error>;

/// From the logistic fit of a class to its valuer.
pub type MakeOfClass = fn(
    &LogisticModel,
    (usize, LogisticFit),
    &How,
    Sizes,
) -> Result<Option<ClassificationValuer>, dshap::Error>;

/// From all logistic fits to one valuer.
pub type MakeWhole = fn(&LogisticModel, &Ask<'_>, Sizes) -> Result<Box<dyn Valuer>, Error>;

/// Makes the valuer of a regression. A method that draws sets is made with all
/// rows: see `general`.
#[derive(Debug, Clone, Copy)]
pub enum MakeLinear {
    /// Row by row; with standard errors, if asked for. Nothing if the model lacks what
    /// the method needs of the reference.
    Rows(MakeRows),
    /// By drawing sets of reference rows.
    Draws,
}

/// Makes the valuer of a classification.
#[derive(Debug, Clone, Copy)]
pub enum MakeLogistic {
    /// One for each logistic fit, by the number of its class; with more than two labels
    /// they are summed. Nothing if the model lacks what the method needs.
    EachFit(MakeOfClass),
    /// One for all fits.
    Whole(MakeWhole),
    /// By drawing sets of reference rows.
    Draws,
}

impl Method {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Whether rows are valued by their neighbours.
    pub fn is_of_neighbours(&self) -> bool {
        matches!(self.makes, Makes::Neighbours { .. })
    }

    /// The baseline, if it is one.
    pub fn baseline(&self) -> Option<Baseline> {
        match self.makes {
            Makes::Sets(baseline) => Some(baseline),
            _ => None,
        }
    }

    /// Whether it values rows whose targets are not known, by what is expected of them.
    pub fn expects_targets(&self) -> bool {
        self.entry.is_theorem_2()
    }

    /// Whether it draws sets of reference rows for all points together.
    pub fn draws(&self) -> bool {
        matches!(self.makes, Makes::Fit { linear: Some(MakeLinear::Draws), .. })
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name
    }
}

impl Eq for Method {}
