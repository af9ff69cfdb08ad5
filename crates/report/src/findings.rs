//! What further runs on the same table find: why rows stand out, whether another method or
//! setting says the same, what owners are worth together, what cleaning would do, and
//! whether models get better by these values.
//!
//! Each finding may be impossible for a table or a method; then it is absent, and so is its
//! part of the page. Only an interruption ends the report.

use crate::Gathered;
use crate::gather::SHOWN_ROWS;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_schema::SchemaRef;
use dshap_catalogue::options::{BY, M, MISSING, PER_CLASS, Q, REFERENCE, RIDGE, SETS, STDERR, TEST};
use dshap_catalogue::{Group, MethodEntry, MethodKind, Value};
use dshap_cleaning::{CleanRequest, Cleaned, CleanedAs};
use dshap_models::RowExplanation;
use dshap_owners::OwnersRequest;
use dshap_run::{Arrange, Collected, Error, Observer, Quiet, Receiver, Summary, ValueRequest};
use dshap_trials::{Experiment, GivenCurves, GivenValues, overlap, spearman};

/// Rows up to which a table is valued again, explained and cleaned.
const MOST_ROWS: u64 = 50_000;

/// Rows up to which methods that compare all pairs are run again.
const MOST_OF_PAIRS: u64 = 5_000;

/// Rows up to which sets along curves are fitted.
const MOST_ON_CURVES: u64 = 20_000;

/// Owners up to which the game between them is played.
const MOST_OWNERS: usize = 200;

/// Rows explained from the low end, by penalty and from the high end.
const EXPLAINED: [usize; 3] = [4, 4, 3];

/// Halves of the rows that others are added to.
const HALVES: usize = 3;

/// What further runs found. The default has found nothing.
#[derive(Debug, Default)]
pub struct Findings {
    pub(crate) explained: Vec<RowExplanation>,
    /// Values by `calibrated`, which does not assume Gaussian inputs.
    pub(crate) calibrated: Option<Agreement>,
    /// Values with other settings.
    pub(crate) settings: Vec<Agreement>,
    pub(crate) owners: Option<dshap_owners::Report>,
    pub(crate) cleaned: Option<Cleaned>,
    /// Rows added, and rows removed.
    pub(crate) curves: Vec<(Experiment, GivenCurves)>,
}

/// What is different in another run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Varied {
    Method(&'static str),
    Q(usize),
    Ridge(f64),
    Missing(&'static str),
}

/// How much the values of another run are like those of the report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Agreement {
    pub(crate) varied: Varied,
    /// Rank correlation.
    pub(crate) ranks: f64,
    /// The mean absolute value, as a multiple of that in the report.
    pub(crate) magnitude: f64,
    /// Share of the lowest rows that are among the lowest in both.
    pub(crate) lowest: f64,
}

/// Whether rows can be valued again to explain some of them while somebody waits.
pub fn explains_quickly(entry: &MethodEntry, n_rows: u64) -> bool {
    let most = match entry.kind {
        _ if entry.follows_from_distance() => MOST_ROWS,
        MethodKind::ClosedForm => MOST_OF_PAIRS,
        _ => return false,
    };
    n_rows <= most
}

impl Findings {
    /// Runs what can be found out about the rows that `request` valued.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`].
    pub fn of(
        request: &ValueRequest,
        summary: &Summary,
        rows: &Gathered,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let quiet = Quiet(observer);
        let facts = &summary.facts;
        let is_read_once = request.points.iter().any(|file| file == "-");
        let is_quick = explains_quickly(&facts.described().entry, summary.n_points);
        if is_read_once || summary.n_points > MOST_ROWS || request.given.has(&SETS) {
            return Ok(Self::default());
        }
        let again = Again { request: plain(request), summary, rows, observer: &quiet };
        let has_other_rows = request.valuer.is_some() || request.given.has(&REFERENCE);
        Ok(Self {
            explained: if is_quick { again.explained()? } else { Vec::new() },
            calibrated: again.calibrated()?,
            settings: again.settings()?,
            owners: if has_other_rows { None } else { again.owners()? },
            cleaned: if has_other_rows { None } else { again.cleaned()? },
            curves: if has_other_rows { Vec::new() } else { again.curves()? },
        })
    }
}

/// The same rows again, without digests and for one `m`.
fn plain(request: &ValueRequest) -> ValueRequest {
    let given = request.given.clone().without(&STDERR).without(&PER_CLASS);
    let given = match request.given.counts(&M).first() {
        Some(first) => given.with(&M, Value::Count(*first)),
        None => given,
    };
    ValueRequest { given, digests: false, outputs: Vec::new(), ..request.clone() }
}

/// What cannot be found out is absent, unless someone interrupted.
fn found<T>(outcome: Result<T, Error>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(_) => Ok(None),
    }
}

struct Again<'a> {
    request: ValueRequest,
    summary: &'a Summary,
    rows: &'a Gathered,
    observer: &'a dyn Observer,
}

impl Again<'_> {
    /// Why the rows at both ends, and those of the largest penalties, are where they are.
    fn explained(&self) -> Result<Vec<RowExplanation>, Error> {
        let Gathered { lowest, highest, penalised, .. } = self.rows;
        let [n_low, n_penalised, n_high] = EXPLAINED;
        let mut wanted: Vec<u64> = Vec::new();
        let mut add = |rows: &RecordBatch, most: usize| {
            let Some(numbers) =
                rows.column_by_name("row").and_then(|row| row.as_primitive_opt::<UInt64Type>())
            else {
                return;
            };
            for number in numbers.iter().flatten().take(most) {
                if !wanted.contains(&number) {
                    wanted.push(number);
                }
            }
        };
        add(&lowest.arranged(Arrange::Lowest(SHOWN_ROWS))?, n_low);
        if let Some(penalised) = penalised {
            add(&penalised.arranged(Arrange::Penalty(Some(SHOWN_ROWS)))?, n_penalised);
        }
        add(&highest.arranged(Arrange::Highest(Some(SHOWN_ROWS)))?, n_high);
        let explained = found(dshap_run::explain(&self.request, &wanted, self.observer))?;
        let mut explained = explained.map(|explained| explained.rows).unwrap_or_default();
        explained.retain(|row| row.value.is_some());
        Ok(explained)
    }

    fn has_sizes(&self) -> bool {
        self.summary.facts.described().entry.is_theorem_2()
    }

    fn calibrated(&self) -> Result<Option<Agreement>, Error> {
        let Some(other) = self.summary.facts.described().corrected_by else { return Ok(None) };
        let request = ValueRequest { method: Some(other), ..self.request.clone() };
        self.agreement(Varied::Method(other.name()), &request)
    }

    /// Other q, other penalties, another way with missing cells.
    fn settings(&self) -> Result<Vec<Agreement>, Error> {
        let facts = &self.summary.facts;
        if !self.has_sizes() {
            return Ok(Vec::new());
        }
        let mut varied = Vec::new();
        let least = facts.p + 3;
        if facts.q > least {
            varied.push(Varied::Q(least));
        }
        if 4 * facts.q <= facts.m {
            varied.push(Varied::Q(2 * facts.q));
        }
        match facts.ridge {
            Some(ridge) if ridge > 0.0 && !facts.ridge_standardised => {
                varied.extend([Varied::Ridge(ridge / 10.0), Varied::Ridge(10.0 * ridge)]);
            }
            // The automatic penalty is for standardised features, so only its absence compares.
            Some(ridge) if ridge > 0.0 => varied.push(Varied::Ridge(0.0)),
            _ => {}
        }
        match self.request.given.word(&MISSING) {
            Some("drop") => varied.push(Varied::Missing("mean")),
            Some("mean") => varied.push(Varied::Missing("drop")),
            _ => {}
        }
        let mut agreements = Vec::new();
        for varied in varied {
            let given = self.request.given.clone();
            let given = match &varied {
                Varied::Q(q) => given.with(&Q, Value::Count(*q as u64)),
                Varied::Ridge(ridge) => given.with(&RIDGE, Value::Number(*ridge)),
                Varied::Missing(policy) => given.with(&MISSING, Value::Word((*policy).into())),
                Varied::Method(_) => given,
            };
            let request = ValueRequest { given, ..self.request.clone() };
            agreements.extend(self.agreement(varied, &request)?);
        }
        Ok(agreements)
    }

    /// Values the rows in another way; none if that cannot be compared.
    fn agreement(&self, varied: Varied, request: &ValueRequest) -> Result<Option<Agreement>, Error> {
        let mut others = ValuesOnly::default();
        if found(dshap_run::value(request, self.observer, &mut others))?.is_none() {
            return Ok(None);
        }
        Ok(Agreement::of(varied, &self.rows.values, &others.0))
    }

    /// The game between owners.
    fn owners(&self) -> Result<Option<dshap_owners::Report>, Error> {
        let n_owners = self.rows.owners.len();
        if !self.request.given.has(&BY) || !(2..=MOST_OWNERS).contains(&n_owners) {
            return Ok(None);
        }
        let is_of_owners = |group: Group| !matches!(group, Group::Output | Group::Run);
        let request = OwnersRequest {
            rows: self.request.points.clone(),
            method: self.request.method,
            given: self.request.given.only(|option| is_of_owners(option.group)),
            outputs: Vec::new(),
            resources: self.request.resources.clone(),
            digests: false,
        };
        found(dshap_owners::owners(&request, self.observer, None))
    }

    fn cleaned(&self) -> Result<Option<Cleaned>, Error> {
        if self.summary.facts.target.is_none() {
            return Ok(None);
        }
        let request = CleanRequest {
            rows: self.request.points.clone(),
            given: dshap_cleaning::options_of(&self.request.given),
            cleaned_as: CleanedAs::Cleaned,
            outputs: Vec::new(),
            resources: self.request.resources.clone(),
        };
        let mut unwanted = Collected::new(Arrange::ByRow, None);
        found(dshap_cleaning::clean(&request, self.observer, &mut unwanted, &|_| String::new()))
    }

    /// What models of growing and shrinking sets are worth on the test rows.
    fn curves(&self) -> Result<Vec<(Experiment, GivenCurves)>, Error> {
        let tests = self.request.given.list(&TEST);
        let is_small = self.summary.n_points <= MOST_ON_CURVES;
        if tests.is_empty()
            || tests.iter().any(|file| file == "-")
            || !is_small
            || self.rows.values.is_empty()
        {
            return Ok(Vec::new());
        }
        let given = dshap_cleaning::options_of(&self.request.given);
        let open = |files: &[String]| found(dshap_run::open_given(files, &given, &[]));
        let (Some(points), Some(test)) = (open(&self.request.points)?, open(tests)?) else {
            return Ok(Vec::new());
        };
        let values =
            [GivenValues { name: self.summary.facts.method.into(), value: self.rows.values.clone() }];
        let mut curves = Vec::new();
        for experiment in [Experiment::Addition, Experiment::Removal] {
            let traced =
                dshap_trials::curves_of((&points, &test), &given, &values, experiment, HALVES, self.observer);
            curves.extend(found(traced)?.map(|traced| (experiment, traced)));
        }
        Ok(curves)
    }
}

impl Agreement {
    /// None if fewer than three rows have both values, or all values are the same.
    fn of(varied: Varied, values: &[f64], others: &[f64]) -> Option<Self> {
        if values.len() != others.len() {
            return None;
        }
        let both = values.iter().zip(others).filter(|(one, other)| one.is_finite() && other.is_finite());
        let (one, other): (Vec<f64>, Vec<f64>) = both.unzip();
        if one.len() < 3 || one == other {
            return None;
        }
        let size = |numbers: &[f64]| numbers.iter().map(|number| number.abs()).sum::<f64>();
        // The lowest values are the highest of their opposites.
        let opposite = |numbers: &[f64]| numbers.iter().map(|number| -number).collect::<Vec<f64>>();
        let n_lowest = SHOWN_ROWS.min(one.len() / 3).max(1);
        Some(Self {
            varied,
            ranks: spearman(&one, &other)?,
            magnitude: size(&other) / size(&one),
            lowest: overlap(&opposite(&one), &opposite(&other), n_lowest)?,
        })
    }
}

/// Keeps values, NaN where there is none.
#[derive(Debug, Default)]
struct ValuesOnly(Vec<f64>);

impl Receiver for ValuesOnly {
    fn begin(&mut self, _: &SchemaRef) -> Result<(), Error> {
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        let values = rows.column_by_name("value").and_then(|column| column.as_primitive_opt::<Float64Type>());
        match values {
            Some(values) => self.0.extend(values.iter().map(|value| value.unwrap_or(f64::NAN))),
            None => self.0.extend(std::iter::repeat_n(f64::NAN, rows.num_rows())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_by_rank_and_by_size_over_rows_that_have_both_values() {
        let values: Vec<f64> = (0..90).map(f64::from).collect();
        let mut doubled: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
        doubled[5] = f64::NAN;
        let found = Agreement::of(Varied::Q(7), &values, &doubled).expect("values to compare");
        assert_eq!((found.ranks, found.magnitude, found.lowest), (1.0, 2.0, 1.0));
        let turned: Vec<f64> = values.iter().rev().copied().collect();
        let found = Agreement::of(Varied::Q(7), &values, &turned).expect("values to compare");
        assert_eq!((found.ranks, found.lowest), (-1.0, 0.0));
        assert_eq!(Agreement::of(Varied::Q(7), &values, &values), None);
        assert_eq!(Agreement::of(Varied::Q(7), &values, &values[1..]), None);
    }
}
