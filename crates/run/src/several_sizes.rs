//! Values for several `m` at once: what rows are worth to buyers with little or much data.

use crate::prepare::Prepared;
use dshap::{Part, Place, Rows, Sizes, Values, Watch};
use dshap_catalogue::options::{M, SETS};
use dshap_catalogue::{Given, Misuse, Value};
use dshap_models::{Error, How, Outcome, RowValuer, SizeChoice, WantsRows, Warning};
use serde::Serialize;

/// Set sizes that rows were valued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizesUsed {
    /// The largest set size, the row included.
    pub m: usize,
    /// The smallest set whose utility counts.
    pub q: usize,
}

/// The options with the largest of several `m`, which a fit must allow for, and all of them.
///
/// # Errors
///
/// [`Misuse::Several`] where groups of rows are valued as sets.
pub(crate) fn split(given: &Given) -> Result<(Given, Vec<u64>), Error> {
    let several = given.counts(&M);
    let Some(largest) = several.iter().max() else { return Ok((given.clone(), Vec::new())) };
    if given.has(&SETS) {
        return Err(Misuse::Several { setting: given.setting(&M) }.into());
    }
    Ok((given.clone().with(&M, Value::Count(*largest)), several.to_vec()))
}

impl Prepared {
    /// The same for these `m`, if there are several. The first is that of what has no size
    /// in its name.
    pub(crate) fn for_sizes(mut self, several: &[u64]) -> Self {
        let how = |m: &u64| {
            let max = usize::try_from(*m).unwrap_or(usize::MAX);
            self.how.with_sizes(SizeChoice { min: self.how.sizes().min, max: Some(max) })
        };
        let mut each = several.iter().map(how).collect::<Vec<How>>().into_iter();
        if let Some(first) = each.next() {
            (self.how, self.more) = (first, each.collect());
        }
        self
    }

    /// All sizes that rows are valued for, if there are several.
    pub(crate) fn several_sizes(&self) -> Result<Vec<SizesUsed>, Error> {
        if self.more.is_empty() {
            return Ok(Vec::new());
        }
        let used = |how: &How| {
            let sizes = self.valuer.sizes(how)?;
            Ok(SizesUsed { m: sizes.max(), q: sizes.min() })
        };
        std::iter::once(&self.how).chain(&self.more).map(used).collect()
    }
}

/// Values each row for several `m`, one after the other.
pub(crate) struct SeveralSizes<'a> {
    /// The first is the one whose parts and notes are kept.
    each: Vec<Box<dyn RowValuer + 'a>>,
    std_error: bool,
}

impl<'a> SeveralSizes<'a> {
    pub(crate) fn new(each: Vec<Box<dyn RowValuer + 'a>>, std_error: bool) -> Self {
        Self { each, std_error }
    }

    fn first(&self) -> &dyn RowValuer {
        self.each[0].as_ref()
    }
}

impl RowValuer for SeveralSizes<'_> {
    fn parts(&self) -> Vec<Part> {
        let sizes = self.each.iter().map(|valuer| valuer.sizes().max());
        let columns = sizes.flat_map(|m| {
            let error = self.std_error.then_some(Part::ErrorAt(m));
            std::iter::once(Part::ValueAt(m)).chain(error)
        });
        columns.chain(self.first().parts()).collect()
    }

    fn sizes(&self) -> Sizes {
        self.first().sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        for warning in self.each.iter().flat_map(|valuer| valuer.warnings()) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }

    fn wants(&self) -> WantsRows {
        self.first().wants()
    }

    fn choose(&mut self, with_index: bool) {
        // Memory was looked at for one index.
        self.each.iter_mut().enumerate().for_each(|(i, valuer)| valuer.choose(with_index && i == 0));
    }

    fn values(&mut self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let mut first: Option<Values> = None;
        let mut columns = Vec::new();
        for valuer in &mut self.each {
            let m = valuer.sizes().max();
            let values = valuer.values(rows, place, watch)?;
            columns.push((Part::ValueAt(m), values.value.clone()));
            let errors = values.std_error.as_ref().filter(|_| self.std_error);
            columns.extend(errors.map(|errors| (Part::ErrorAt(m), errors.clone())));
            first.get_or_insert(values);
        }
        let mut values = first.expect("there is a first size");
        values.parts.splice(0..0, columns);
        Ok(values)
    }

    fn outcome(&self) -> Outcome {
        self.first().outcome()
    }
}
