//! The sums of every kind of pass: merged, and as plain numbers.

use super::bad;
use super::pass::{Plan, What};
use crate::owner_sums;
use dshap::classification::{PassSums, PassSumsParts};
use dshap::linear::DistanceTable;
use dshap::{Moments, MomentsForm, Rows};
use dshap_io::Container;
use dshap_models::linear::{MomentsDocument, read_moments, write_moments};
use dshap_models::logistic::FirstLook;
use dshap_models::{
    Arrays, ColumnSums, Error, HeldRows, LabelSample, NumberedSample, OwnerMoments, Reading, RowSample,
    SampleCounts,
};
use dshap_table::{Design, Survey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sums over some rows.
pub(super) enum Sums {
    Survey(Box<Survey>),
    Moments(Box<MomentSums>),
    Logistic(Box<LogisticSums>),
    Distances(Vec<DistanceTable>),
    Sample(Box<SampleSums>),
    Rows(HeldRows),
}

pub(super) struct MomentSums {
    pub(super) moments: Moments,
    pub(super) sample: RowSample,
    pub(super) owners: BTreeMap<String, Moments>,
    /// Whether some rows asked for a triangle.
    pub(super) is_hard: bool,
}

pub(super) struct LogisticSums {
    pub(super) passes: Vec<Option<PassSums>>,
    pub(super) first: Option<FirstLook>,
    pub(super) is_hard: bool,
}

pub(super) struct SampleSums {
    pub(super) columns: ColumnSums,
    pub(super) sample: NumberedSample,
}

/// What stands beside arrays.
#[derive(Serialize, Deserialize)]
pub(super) enum SumsDocument {
    Survey(Box<Survey>),
    Moments {
        moments: MomentsDocument,
        sample: SampleCounts,
        owners: Vec<(String, MomentsDocument)>,
        is_hard: bool,
    },
    Logistic {
        passes: Vec<Option<PassDocument>>,
        first: Option<FirstDocument>,
        is_hard: bool,
    },
    Distances {
        n_fits: usize,
    },
    Sample,
    Rows,
}

#[derive(Serialize, Deserialize)]
pub(super) struct PassDocument {
    n_pushed: usize,
    first: Option<([usize; 2], MomentsDocument)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FirstDocument {
    moments: MomentsDocument,
    even: SampleCounts,
    labels: Vec<SampleCounts>,
}

impl Sums {
    /// Adds the sums over later rows.
    pub(super) fn absorb(&mut self, later: Sums, design: Option<&Design>) -> Result<(), Error> {
        let core = |error: dshap::Error| match design {
            Some(design) => Error::core(error, design),
            None => bad(error.to_string()),
        };
        match (self, later) {
            (Sums::Survey(survey), Sums::Survey(later)) => {
                survey.absorb(*later).map_err(|error| Error::Table { location: None, error })
            }
            (Sums::Moments(sums), Sums::Moments(later)) => sums.absorb(*later).map_err(core),
            (Sums::Logistic(sums), Sums::Logistic(later)) => sums.absorb(*later).map_err(core),
            (Sums::Distances(tables), Sums::Distances(later)) => {
                tables.iter_mut().zip(&later).for_each(|(table, later)| table.absorb(later));
                Ok(())
            }
            (Sums::Sample(sums), Sums::Sample(later)) => {
                sums.columns.absorb(later.columns);
                sums.sample.absorb(later.sample);
                Ok(())
            }
            (Sums::Rows(rows), Sums::Rows(later)) => {
                *rows = joined(rows, &later).ok_or_else(|| bad("rows of different columns"))?;
                Ok(())
            }
            _ => Err(bad("it is of another pass")),
        }
    }

    /// All numbers: a document, and arrays whose names begin with `prefix`.
    pub(super) fn write(self, prefix: &str, arrays: &mut Arrays) -> SumsDocument {
        let name = |what: &str| format!("{prefix}.{what}");
        match self {
            Sums::Survey(survey) => SumsDocument::Survey(survey),
            Sums::Moments(sums) => {
                let MomentSums { moments, sample, owners, is_hard } = *sums;
                let (counts, cells) = sample.to_parts();
                arrays.push((name("sample"), cells));
                let mut write = |what: String, moments: &Moments| {
                    let (document, more) = write_moments(&name(&what), moments);
                    arrays.extend(more);
                    document
                };
                let document = write("moments".into(), &moments);
                let owners = owners.into_iter().enumerate();
                let owners =
                    owners.map(|(i, (owner, moments))| (owner, write(format!("owner{i}"), &moments)));
                SumsDocument::Moments { moments: document, sample: counts, owners: owners.collect(), is_hard }
            }
            Sums::Logistic(sums) => sums.write(prefix, arrays),
            Sums::Distances(tables) => {
                let named =
                    |(i, table): (usize, &DistanceTable)| (name(&format!("distances{i}")), table.to_parts());
                arrays.extend(tables.iter().enumerate().map(named));
                SumsDocument::Distances { n_fits: tables.len() }
            }
            Sums::Sample(sums) => {
                arrays.push((name("columns"), sums.columns.to_parts()));
                arrays.push((name("sample"), sums.sample.to_parts()));
                SumsDocument::Sample
            }
            Sums::Rows(rows) => {
                let (x, y) = rows.to_parts();
                arrays.extend([(name("x"), x), (name("y"), y)]);
                SumsDocument::Rows
            }
        }
    }

    /// Sums of a pass that was planned, from their numbers.
    pub(super) fn read(
        document: SumsDocument,
        prefix: &str,
        container: &mut Container,
        plan: &Plan,
        n_columns: usize,
    ) -> Result<Self, Error> {
        let name = |what: &str| format!("{prefix}.{what}");
        let take = |container: &mut Container, what: &str| {
            let array = name(what);
            container.take(&array).ok_or_else(|| bad(format!("its array `{array}` is missing")))
        };
        let moments = |container: &mut Container, what: &str, document: MomentsDocument| {
            read_moments(&name(what), document, &mut Reading::of(container)).map_err(bad)
        };
        match (document, &plan.what) {
            (SumsDocument::Survey(survey), What::Survey { .. }) => Ok(Sums::Survey(survey)),
            (SumsDocument::Moments { moments: stored, sample, owners, is_hard }, What::Moments { .. }) => {
                let cells = take(container, "sample")?;
                let sample = RowSample::from_parts(n_columns, sample, &cells);
                let stored = moments(container, "moments", stored)?;
                let owners = owners.into_iter().enumerate();
                let owners = owners.map(|(i, (owner, document))| {
                    Ok((owner, moments(container, &format!("owner{i}"), document)?))
                });
                Ok(Sums::Moments(Box::new(MomentSums {
                    moments: stored,
                    sample: sample.ok_or_else(|| bad("its sample of rows does not add up"))?,
                    owners: owners.collect::<Result<_, Error>>()?,
                    is_hard,
                })))
            }
            (SumsDocument::Logistic { passes, first, is_hard }, What::Logistic { .. }) => {
                LogisticSums::read((passes, first, is_hard), prefix, container, plan, n_columns)
                    .map(|sums| Sums::Logistic(Box::new(sums)))
            }
            (SumsDocument::Distances { n_fits }, What::Distances) => {
                let table = |i: usize| {
                    let parts = take(container, &format!("distances{i}"))?;
                    DistanceTable::from_parts(&parts).map_err(|error| bad(error.to_string()))
                };
                (0..n_fits).map(table).collect::<Result<_, _>>().map(Sums::Distances)
            }
            (SumsDocument::Sample, What::Sample { most, seed }) => {
                let columns = ColumnSums::from_parts(n_columns, &take(container, "columns")?);
                let mut sample = NumberedSample::new(n_columns, *most, *seed);
                let is_sound = sample.absorb_parts(&take(container, "sample")?);
                let columns = columns.filter(|_| is_sound);
                let columns = columns.ok_or_else(|| bad("its sample of rows does not add up"))?;
                Ok(Sums::Sample(Box::new(SampleSums { columns, sample })))
            }
            (SumsDocument::Rows, What::Rows { .. }) => {
                let (x, y) = (take(container, "x")?, take(container, "y")?);
                let rows = HeldRows::from_parts(&x, y, n_columns);
                rows.map(Sums::Rows).ok_or_else(|| bad("its rows do not add up"))
            }
            _ => Err(bad("it is of another pass")),
        }
    }
}

impl MomentSums {
    fn absorb(&mut self, later: MomentSums) -> Result<(), dshap::Error> {
        self.moments.merge(&later.moments)?;
        self.sample.absorb(later.sample);
        self.is_hard |= later.is_hard;
        let mut owners = OwnerMoments { by: String::new(), owners: std::mem::take(&mut self.owners) };
        owner_sums::add(&mut owners, later.owners)?;
        self.owners = owners.owners;
        Ok(())
    }
}

impl LogisticSums {
    fn absorb(&mut self, later: LogisticSums) -> Result<(), dshap::Error> {
        for (sums, later) in self.passes.iter_mut().zip(later.passes) {
            match (sums, later) {
                (Some(sums), Some(later)) => sums.absorb(later)?,
                (None, None) => {}
                _ => return Err(dshap::Error::Contradiction { what: "steps of other classes" }),
            }
        }
        if let (Some(first), Some(later)) = (&mut self.first, later.first) {
            first.moments.merge(&later.moments)?;
            first.even.absorb(later.even);
            first.labels.absorb(later.labels);
        }
        self.is_hard |= later.is_hard;
        Ok(())
    }

    fn write(self, prefix: &str, arrays: &mut Arrays) -> SumsDocument {
        let name = |what: String| format!("{prefix}.{what}");
        let mut passes = Vec::with_capacity(self.passes.len());
        for (i, sums) in self.passes.into_iter().enumerate() {
            let Some(sums) = sums else {
                passes.push(None);
                continue;
            };
            let PassSumsParts { n_pushed, first, numbers } = sums.to_parts();
            let first = first.map(|(n_labels, moments)| {
                let moments = Moments::from_parts(moments).expect("these are the numbers of moments");
                let (document, more) = write_moments(&name(format!("pass{i}")), &moments);
                arrays.extend(more);
                (n_labels, document)
            });
            arrays.push((name(format!("pass{i}")), numbers));
            passes.push(Some(PassDocument { n_pushed, first }));
        }
        let first = self.first.map(|FirstLook { moments, even, labels }| {
            let (document, more) = write_moments(&name("columns".into()), &moments);
            arrays.extend(more);
            let (even, cells) = even.to_parts();
            arrays.push((name("even".into()), cells));
            let labels = labels.classes().iter().enumerate().map(|(class, sample)| {
                let (counts, cells) = sample.to_parts();
                arrays.push((name(format!("label{class}")), cells));
                counts
            });
            FirstDocument { moments: document, even, labels: labels.collect() }
        });
        SumsDocument::Logistic { passes, first, is_hard: self.is_hard }
    }

    fn read(
        (passes, first, is_hard): (Vec<Option<PassDocument>>, Option<FirstDocument>, bool),
        prefix: &str,
        container: &mut Container,
        plan: &Plan,
        n_columns: usize,
    ) -> Result<Self, Error> {
        let name = |what: String| format!("{prefix}.{what}");
        let take = |container: &mut Container, what: String| {
            let array = name(what);
            container.take(&array).ok_or_else(|| bad(format!("its array `{array}` is missing")))
        };
        let moments = |container: &mut Container, what: String, document: MomentsDocument| {
            read_moments(&name(what), document, &mut Reading::of(container)).map_err(bad)
        };
        let What::Logistic { plans, .. } = &plan.what else { return Err(bad("it is of another pass")) };
        if plans.len() != passes.len() {
            return Err(bad("it has other classes than the plan"));
        }
        let mut read = Vec::with_capacity(passes.len());
        for (i, (stored, plan)) in passes.into_iter().zip(plans).enumerate() {
            let (Some(PassDocument { n_pushed, first }), Some(plan)) = (stored, plan) else {
                read.push(None);
                continue;
            };
            let first = match first {
                Some((n_labels, document)) => {
                    Some((n_labels, moments(container, format!("pass{i}"), document)?.to_parts()))
                }
                None => None,
            };
            let parts = PassSumsParts { n_pushed, first, numbers: take(container, format!("pass{i}"))? };
            let sums =
                PassSums::from_parts(&plan.plan(None), parts).map_err(|error| bad(error.to_string()))?;
            read.push(Some(sums));
        }
        let unsound = || bad("its sample of rows does not add up");
        let first = match first {
            None => None,
            Some(FirstDocument { moments: stored, even, labels }) => {
                let cells = take(container, "even".into())?;
                let mut samples = Vec::with_capacity(labels.len());
                for (class, counts) in labels.into_iter().enumerate() {
                    samples.push((counts, take(container, format!("label{class}"))?));
                }
                Some(FirstLook {
                    moments: moments(container, "columns".into(), stored)?,
                    even: RowSample::from_parts(n_columns, even, &cells).ok_or_else(unsound)?,
                    labels: LabelSample::from_parts(n_columns, samples).ok_or_else(unsound)?,
                })
            }
        };
        Ok(Self { passes: read, first, is_hard })
    }
}

/// Rows after rows.
fn joined(one: &HeldRows, two: &HeldRows) -> Option<HeldRows> {
    if one.x().ncols() != two.x().ncols() {
        return None;
    }
    let column = |j: usize| one.x().col_as_slice(j).iter().chain(two.x().col_as_slice(j)).copied();
    let x: Vec<f64> = (0..one.x().ncols()).flat_map(column).collect();
    HeldRows::from_parts(&x, [one.y(), two.y()].concat(), one.x().ncols())
}

/// Rows that are added to others.
pub(super) fn add_rows(held: &mut Option<HeldRows>, rows: Rows<'_>) {
    let more = HeldRows::copy(rows);
    *held = match held.take() {
        None => Some(more),
        Some(before) => joined(&before, &more),
    };
}

/// Whether moments are held as a triangle.
pub(super) fn is_triangle(moments: &Moments) -> bool {
    moments.form() == MomentsForm::Triangle
}
