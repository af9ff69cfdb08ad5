//! The sums of some rows of a table, wherever they are.

use super::bad;
use super::part::{Part, Run};
use super::pass::{Plan, What};
use super::sums::{LogisticSums, MomentSums, SampleSums, Sums, add_rows, is_triangle};
use crate::design::look_at_all;
use crate::guess::refuse_mixed_columns;
use crate::memory::Budget;
use crate::owner_sums;
use crate::table::Table;
use dshap::classification::{OneVsRestPass, PassBuilder, PassPlan, PassSums};
use dshap::linear::{DistanceTable, LinearValuer};
use dshap::{BLOCK_ROWS, MomentsBuilder, MomentsForm, Rows};
use dshap_io::Source;
use dshap_models::linear::LinearModel;
use dshap_models::logistic::{FirstLook, LogisticModel, add_distances};
use dshap_models::{
    ColumnSums, Error, FittedValuer, HeldRows, LabelSample, NumberedSample, OwnerMoments, Pass, Reference,
    RowCounts, RowSample, Stage, Unwatched,
};
use dshap_table::{Design, Labels, Survey};
use std::collections::BTreeMap;

/// Where rows are in their table.
#[derive(Debug, Clone, Copy)]
pub struct GroupPlace {
    /// The partition, or the number of the group of rows.
    pub place: u64,
    /// Groups of rows that are numbered have `2^level` blocks of 4096 rows; nothing for
    /// partitions in any order.
    pub level: Option<u32>,
    /// The number of the first row, where it is known.
    pub first_row: u64,
}

/// A pass over some rows.
pub struct Work {
    place: GroupPlace,
    design: Option<Design>,
    sums: InProgress,
    rows: RowCounts,
    is_first: bool,
}

enum InProgress {
    Survey { survey: Box<Survey>, categorical: Vec<String> },
    Moments { moments: Box<MomentsBuilder>, sample: RowSample, by: Option<String>, owners: OwnerMoments },
    Logistic { passes: Passes, first: Option<Box<First>> },
    Distances { valuer: Box<FittedValuer>, tables: Vec<DistanceTable> },
    Sample { columns: ColumnSums, sample: NumberedSample },
    Rows { is_reference: bool, rows: Option<HeldRows> },
}

enum Passes {
    One(Box<PassBuilder>),
    Each(OneVsRestPass),
}

struct First {
    moments: MomentsBuilder,
    even: RowSample,
    labels: LabelSample,
}

impl Work {
    /// Begins the pass of a plan; `valuer` is what came beside it.
    ///
    /// # Errors
    ///
    /// [`Error::BadPart`] for a plan that is damaged or of another version.
    pub fn new(plan: &[u8], valuer: Option<&[u8]>, place: GroupPlace) -> Result<Self, Error> {
        let plan = Plan::from_bytes(plan)?;
        let design = plan.design.map(Design::from_parts).transpose();
        let design = design.map_err(|error| bad(error.to_string()))?;
        let n_columns = design.as_ref().map_or(0, Design::n_columns);
        // The first rows of the table settle how moments are held. Where it is not known which
        // they are, each part decides, and one that is hard is enough.
        let decides = place.level.is_none() || place.place == 0;
        let form_of = |given: Option<MomentsForm>| given.or((!decides).then_some(MomentsForm::Products));
        let builder = |form: Option<MomentsForm>| {
            let builder = MomentsBuilder::new(n_columns);
            form.map_or(builder.clone(), |form| builder.with_form(form))
        };
        let sums = match plan.what {
            What::Survey { survey, categorical } => InProgress::Survey { survey, categorical },
            What::Moments { intercept, form, by } => {
                let moments = builder(form_of(form.map(MomentsForm::from)));
                InProgress::Moments {
                    moments: Box::new(if intercept { moments } else { moments.without_intercept() }),
                    sample: RowSample::new(n_columns),
                    owners: OwnerMoments { by: by.clone().unwrap_or_default(), owners: BTreeMap::new() },
                    by,
                }
            }
            What::Logistic { first, form, plans } => {
                let form = form_of(form.map(MomentsForm::from));
                let plans: Vec<Option<PassPlan>> =
                    plans.iter().map(|plan| plan.as_ref().map(|plan| plan.plan(form))).collect();
                let n_classes = design.as_ref().and_then(Design::labels).map_or(2, Labels::n_classes);
                let first = first.then(|| {
                    Box::new(First {
                        moments: builder(form),
                        even: RowSample::new(n_columns),
                        labels: LabelSample::new(n_columns, n_classes),
                    })
                });
                InProgress::Logistic { passes: Passes::begin(&plans)?, first }
            }
            What::Distances => {
                let bytes = valuer.ok_or_else(|| bad("the valuer that belongs to the plan is missing"))?;
                let valuer = Box::new(FittedValuer::from_bytes(bytes, "the plan")?);
                let n_fits = valuer.model.of::<LogisticModel>().map_or(1, |model| model.fits.len());
                InProgress::Distances { valuer, tables: vec![DistanceTable::new(); n_fits] }
            }
            What::Sample { most, seed } => InProgress::Sample {
                columns: ColumnSums::new(n_columns),
                sample: NumberedSample::new(n_columns, most, seed),
            },
            What::Rows { is_reference } => InProgress::Rows { is_reference, rows: None },
        };
        Ok(Self { place, design, sums, rows: RowCounts::default(), is_first: true })
    }

    /// Adds the next rows.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with them.
    pub fn push(&mut self, source: &Source) -> Result<(), Error> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        if let InProgress::Survey { survey, categorical } = &mut self.sums {
            if is_first && self.place.place == 0 {
                refuse_mixed_columns(source, survey.features(), categorical)?;
            }
            let wanted = survey.wanted();
            let n_rows = look_at_all(source, &wanted, survey, Budget::new(None), &Unwatched)?;
            self.rows.n_read += n_rows;
            self.rows.n_usable += n_rows;
            return Ok(());
        }
        let Self { design, sums, rows: counts, place, .. } = self;
        let design = design.as_ref().ok_or_else(|| bad("its plan lacks a design"))?;
        let is_reference = !matches!(sums, InProgress::Rows { is_reference: false, .. });
        let table = Table { source, design, is_reference, budget: Budget::new(None), observer: &Unwatched };
        let first_row = place.first_row + counts.n_usable;
        let mut n_before = 0;
        let added = table.each(Pass::new(Stage::Fit), &mut |rows, _| {
            sums.add(rows, first_row + n_before)?;
            n_before += rows.len() as u64;
            Ok(())
        })?;
        if let InProgress::Moments { by: Some(by), owners, .. } = sums {
            let more = owner_sums::by_owner(source, design, by, None, &Unwatched)?;
            owner_sums::add(owners, more).map_err(|error| Error::core(error, design))?;
        }
        counts.n_read += added.n_read;
        counts.n_usable += added.n_usable;
        counts.n_filled += added.n_filled;
        Ok(())
    }

    /// The part, as bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for rows whose sums are too large.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let Self { place: GroupPlace { place, level, .. }, design, sums, rows, .. } = self;
        let is_full = level.is_some_and(|level| rows.n_read == (BLOCK_ROWS as u64) << level);
        let sums = match sums.finish() {
            Err(dshap::Error::NoRows) => None,
            sums => Some(sums.map_err(|error| match &design {
                Some(design) => Error::core(error, design),
                None => bad(error.to_string()),
            })?),
        };
        let run = Run { place, level: level.unwrap_or(0), is_full, sums };
        Part { is_numbered: level.is_some(), rows, runs: vec![run] }.into_bytes()
    }
}

impl InProgress {
    /// Adds rows that are numbered from `first_row` on.
    fn add(&mut self, rows: Rows<'_>, first_row: u64) -> Result<(), dshap::Error> {
        match self {
            InProgress::Survey { .. } => Ok(()),
            InProgress::Moments { moments, sample, .. } => {
                sample.look_at(rows);
                moments.push(rows)
            }
            InProgress::Logistic { passes, first } => {
                if let Some(first) = first {
                    first.even.look_at(rows);
                    first.labels.look_at(rows);
                    first.moments.push(rows)?;
                }
                passes.push(rows)
            }
            InProgress::Distances { valuer, tables } => {
                match (valuer.model.of::<LinearModel>(), valuer.model.of::<LogisticModel>()) {
                    (Some(model), _) => {
                        tables[0].add(&LinearValuer::distances(&model.fit, rows)?, rows.weights());
                        Ok(())
                    }
                    (None, Some(model)) => add_distances(&model.fits, rows, tables),
                    (None, None) => Ok(()),
                }
            }
            InProgress::Sample { columns, sample } => {
                columns.add(rows);
                sample.look_at(rows, first_row);
                Ok(())
            }
            InProgress::Rows { rows: held, .. } => {
                if rows.weights().is_some() {
                    return Err(dshap::Error::Weighted);
                }
                add_rows(held, rows);
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Sums, dshap::Error> {
        Ok(match self {
            InProgress::Survey { survey, .. } => Sums::Survey(survey),
            InProgress::Moments { moments, sample, owners, .. } => {
                let moments = moments.finish()?;
                let is_hard = is_triangle(&moments);
                Sums::Moments(Box::new(MomentSums { moments, sample, owners: owners.owners, is_hard }))
            }
            InProgress::Logistic { passes, first } => {
                let passes = passes.finish()?;
                let first = match first {
                    None => None,
                    Some(first) => {
                        let First { moments, even, labels } = *first;
                        Some(FirstLook { moments: moments.finish()?, even, labels })
                    }
                };
                let is_hard = passes.iter().flatten().any(|sums| sums.form() == Some(MomentsForm::Triangle))
                    || first.as_ref().is_some_and(|first| is_triangle(&first.moments));
                Sums::Logistic(Box::new(LogisticSums { passes, first, is_hard }))
            }
            // A table without a distance is no table.
            InProgress::Distances { tables, .. }
                if tables.iter().all(|table| table.to_parts().is_empty()) =>
            {
                return Err(dshap::Error::NoRows);
            }
            InProgress::Distances { tables, .. } => Sums::Distances(tables),
            InProgress::Sample { columns, sample } => Sums::Sample(Box::new(SampleSums { columns, sample })),
            InProgress::Rows { rows, .. } => Sums::Rows(rows.ok_or(dshap::Error::NoRows)?),
        })
    }
}

impl Passes {
    fn begin(plans: &[Option<PassPlan>]) -> Result<Self, Error> {
        let wrong = |error: dshap::Error| bad(error.to_string());
        match plans {
            [Some(plan)] => Ok(Passes::One(Box::new(plan.begin().map_err(wrong)?))),
            plans => OneVsRestPass::begin(plans).map(Passes::Each).map_err(wrong),
        }
    }

    fn push(&mut self, rows: Rows<'_>) -> Result<(), dshap::Error> {
        match self {
            Passes::One(pass) => pass.push(rows),
            Passes::Each(pass) => pass.push(rows),
        }
    }

    fn finish(self) -> Result<Vec<Option<PassSums>>, dshap::Error> {
        match self {
            Passes::One(pass) => Ok(vec![Some(pass.finish()?)]),
            Passes::Each(pass) => pass.finish(),
        }
    }
}
