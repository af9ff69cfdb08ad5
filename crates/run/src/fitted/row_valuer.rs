//! What values rows, whatever was fitted.

use super::density::DensityRows;
use super::second_order::SecondOrderRows;
use crate::warnings::in_words;
use dshap::classification::{
    ClassificationValuer, GeneralClassificationValuer, GeneralOneVsRest, OneVsRest, PrintedOneVsRest,
    PrintedValuer,
};
use dshap::linear::{GeneralValuer, GeneralValues, LinearValuer};
use dshap::second_order::SecondOrderValuer;
use dshap::{Rows, Sizes, Valuer, Values, Warning};
use dshap_table::Design;

/// What values are to come with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Standard errors, where the method has them.
    pub(crate) std_error: bool,
    /// What each of more than two classes contributes.
    pub(crate) by_class: bool,
}

/// Values rows one by one.
#[derive(Debug)]
pub(crate) enum RowValuer {
    Linear(Box<LinearValuer>),
    Binary(Box<ClassificationValuer>),
    Printed(Box<PrintedValuer>),
    OneVsRest(OneVsRest),
    PrintedOneVsRest(PrintedOneVsRest),
    Density(DensityRows),
    SecondOrder(Box<SecondOrderRows>),
}

impl RowValuer {
    /// Values rows, of which the first is row `first_row` of its table; against
    /// the others of the reference if they are part of it.
    pub(crate) fn values(
        &self,
        rows: Rows<'_>,
        first_row: u64,
        leave_one_out: bool,
    ) -> Result<Values, dshap::Error> {
        match (self, leave_one_out) {
            (RowValuer::Linear(valuer), true) => valuer.leave_one_out(rows, first_row),
            (RowValuer::Linear(valuer), false) => valuer.values_from(rows, first_row),
            (RowValuer::Binary(valuer), true) => valuer.leave_one_out(rows),
            (RowValuer::Binary(valuer), false) => valuer.values(rows),
            (RowValuer::Printed(valuer), true) => valuer.leave_one_out(rows),
            (RowValuer::Printed(valuer), false) => valuer.values(rows),
            (RowValuer::OneVsRest(valuer), true) => valuer.leave_one_out(rows),
            (RowValuer::OneVsRest(valuer), false) => valuer.values(rows),
            (RowValuer::PrintedOneVsRest(valuer), true) => valuer.leave_one_out(rows),
            (RowValuer::PrintedOneVsRest(valuer), false) => valuer.values(rows),
            (RowValuer::SecondOrder(valuer), _) => valuer.values(rows, leave_one_out),
            (RowValuer::Density(valuer), _) => valuer.values(rows, first_row, leave_one_out),
        }
    }

    /// Whether values of a sample of the reference would be others if inputs
    /// were not taken for Gaussian.
    pub(crate) fn doubt_gaussian(&self, sample: Rows<'_>) -> Result<Option<Warning>, dshap::Error> {
        match self {
            RowValuer::Linear(valuer) => valuer.doubt_gaussian(sample),
            RowValuer::Binary(valuer) => valuer.doubt_gaussian(sample),
            RowValuer::OneVsRest(valuer) => valuer.doubt_gaussian(sample),
            RowValuer::Printed(_)
            | RowValuer::PrintedOneVsRest(_)
            | RowValuer::SecondOrder(_)
            | RowValuer::Density(_) => Ok(None),
        }
    }

    /// Whether a row takes long.
    pub(crate) fn is_slow(&self) -> bool {
        match self {
            RowValuer::Linear(valuer) => valuer.is_slow(),
            RowValuer::Density(_) => true,
            RowValuer::SecondOrder(valuer) => valuer.is_slow(),
            _ => false,
        }
    }

    /// The fewest rows that are worth their while at once.
    pub(crate) fn fewest_rows(&self) -> usize {
        match self {
            RowValuer::SecondOrder(_) => SecondOrderValuer::ROWS_AT_ONCE,
            _ => 1,
        }
    }

    /// The set sizes averaged over.
    pub(crate) fn sizes(&self) -> Sizes {
        match self {
            RowValuer::Linear(valuer) => valuer.sizes(),
            RowValuer::Binary(valuer) => valuer.sizes(),
            RowValuer::Printed(valuer) => valuer.sizes(),
            RowValuer::OneVsRest(valuer) => {
                valuer.classes().first().expect("there are two classes at least").sizes()
            }
            RowValuer::PrintedOneVsRest(valuer) => valuer.sizes(),
            RowValuer::SecondOrder(valuer) => valuer.sizes(),
            RowValuer::Density(valuer) => valuer.sizes,
        }
    }

    /// What is doubtful before a single row was valued, in words.
    pub(crate) fn warnings(&self, design: &Design) -> Vec<String> {
        match self {
            RowValuer::Linear(valuer) => in_words(&valuer.warnings(), design),
            RowValuer::Binary(valuer) => in_words(&valuer.warnings(), design),
            RowValuer::Printed(valuer) => in_words(&valuer.warnings(), design),
            RowValuer::OneVsRest(valuer) => of_classes(valuer.warnings(), design),
            RowValuer::PrintedOneVsRest(valuer) => of_classes(valuer.warnings(), design),
            RowValuer::SecondOrder(rows) => rows.warnings(design),
            RowValuer::Density(rows) => in_words(&rows.valuer.warnings(), design),
        }
    }
}

pub(super) fn of_classes(warnings: Vec<(Option<usize>, Warning)>, design: &Design) -> Vec<String> {
    let of_class = |(class, warning): (Option<usize>, Warning)| {
        let words = in_words(&[warning], design).pop().unwrap_or_default();
        match (class, design.labels()) {
            (Some(class), Some(labels)) => {
                format!("label `{}` against the others: {words}", labels.word(class))
            }
            _ => words,
        }
    };
    warnings.into_iter().map(of_class).collect()
}

/// Values rows by drawing sets of reference rows.
#[derive(Debug)]
pub(crate) enum Drawer {
    Linear(Box<GeneralValuer>),
    Logistic(Box<GeneralClassificationValuer>),
    OneVsRest(GeneralOneVsRest),
}

/// Told how many rounds are done, of how many; says whether to go on.
type Watch<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

impl Drawer {
    /// Values `points`, or the reference rows against each other.
    pub(crate) fn values(
        &self,
        points: Option<Rows<'_>>,
        watch: Watch<'_>,
    ) -> Result<GeneralValues, dshap::Error> {
        match (self, points) {
            (Drawer::Linear(valuer), Some(points)) => valuer.values(points, watch),
            (Drawer::Linear(valuer), None) => valuer.leave_one_out(watch),
            (Drawer::Logistic(valuer), Some(points)) => valuer.values(points, watch),
            (Drawer::Logistic(valuer), None) => valuer.leave_one_out(watch),
            (Drawer::OneVsRest(valuer), Some(points)) => valuer.values(points, watch),
            (Drawer::OneVsRest(valuer), None) => valuer.leave_one_out(watch),
        }
    }

    /// How many times sets are drawn: for each fit.
    pub(crate) fn n_fits(&self) -> usize {
        match self {
            Drawer::Linear(_) | Drawer::Logistic(_) => 1,
            Drawer::OneVsRest(valuer) => valuer.classes().len(),
        }
    }

    pub(crate) fn warnings(&self, design: &Design) -> Vec<String> {
        match self {
            Drawer::Linear(valuer) => in_words(&valuer.warnings(), design),
            Drawer::Logistic(valuer) => in_words(&valuer.warnings(), design),
            Drawer::OneVsRest(valuer) => of_classes(valuer.warnings(), design),
        }
    }
}
