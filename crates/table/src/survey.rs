//! What a design has to learn from the reference before it can encode it.

use crate::block_sum::{BLOCK_ROWS, BlockSum};
use crate::design::{Design, DesignParts, Encoding, Missing, Pooled, Unseen};
use crate::labels::LabelSurvey;
use crate::{DatesAs, Error, ReadAs, Roles, TargetAs, Wanted, days_of};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A text column with more levels than this is not a category.
pub(crate) const MAX_LEVELS: usize = 256;

/// With [`Survey::with_rare_levels`], levels are counted up to this many. A bound on
/// memory: what is pooled in the end has at most [`MAX_LEVELS`].
const MAX_COUNTED_LEVELS: usize = 1_000_000;

/// Collects levels of text columns, labels, and means where missing cells are filled.
///
/// Needed only if [`Survey::is_needed`] says so: a table of numbers whose missing
/// cells are not filled is encoded without looking at it first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Survey {
    roles: Roles,
    missing: Missing,
    unseen: Unseen,
    all_levels: bool,
    /// Levels with fewer rows than this are pooled.
    rare_levels: Option<usize>,
    columns: Vec<ColumnSurvey>,
    /// Present if the target holds labels.
    labels: Option<LabelSurvey>,
    n_rows: usize,
    /// Rows that it looked at, whether they count or not.
    n_seen: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum ColumnSurvey {
    /// Sums over cells that are not missing.
    Number { sum: BlockSum, weight: BlockSum },
    /// How often each level occurs.
    Text { levels: BTreeMap<String, Tally> },
    /// Dates: sums of the numbers they become, and whether there are times of day.
    Date { form: DatesAs, sums: [f64; 4], weight: f64, has_hour: bool },
    /// A text column whose levels are settled: all others are pooled.
    Settled,
}

/// How often a level occurs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Tally {
    weight: f64,
    n_rows: usize,
}

impl Survey {
    /// A survey of the columns with these roles.
    pub fn new(roles: Roles, missing: Missing, unseen: Unseen) -> Self {
        let columns = roles
            .features
            .iter()
            .map(|feature| match feature.read_as {
                _ if roles.dates.as_ref().is_some_and(|(_, dates)| dates.contains(&feature.name)) => {
                    let form = roles.dates.as_ref().map_or(DatesAs::Days, |(form, _)| *form);
                    ColumnSurvey::Date { form, sums: [0.0; 4], weight: 0.0, has_hour: false }
                }
                ReadAs::Number | ReadAs::Boolean => {
                    ColumnSurvey::Number { sum: BlockSum::default(), weight: BlockSum::default() }
                }
                ReadAs::Text | ReadAs::AsIs => ColumnSurvey::Text { levels: BTreeMap::new() },
            })
            .collect();
        let target = roles.target.as_ref().filter(|_| roles.target_as == TargetAs::Labels);
        let labels = target.cloned().map(LabelSurvey::new);
        Self {
            roles,
            missing,
            unseen,
            all_levels: false,
            rare_levels: None,
            columns,
            labels,
            n_rows: 0,
            n_seen: 0,
        }
    }

    /// The first level of a text feature gets a column too.
    pub fn with_all_levels(self) -> Self {
        Self { all_levels: true, ..self }
    }

    /// Pools the levels of a text feature that fewer than `n` rows have into one
    /// level called `other` (`other_` and so on if a common level is called that).
    ///
    /// Rows with missing cells that are left out do not count, nor do rows of weight
    /// 0. A column without a rare level stays as it is. With this policy a column may
    /// have up to a million levels, as long as at most 256 remain.
    ///
    /// Rows that are encoded later go to the pooled level whenever they have no other
    /// level of the design, whether the reference had their level or not.
    pub fn with_rare_levels(self, n: usize) -> Self {
        Self { rare_levels: Some(n), ..self }
    }

    /// A survey of further rows for a design that was learned before: only new
    /// levels are looked for, since means stay what they were. A column with pooled
    /// levels can have no new ones.
    pub fn of_more_rows(design: &Design) -> Self {
        let parts = design.parts();
        let roles = Roles {
            features: parts.features.clone(),
            target: parts.target.clone(),
            target_as: TargetAs::Numbers,
            weight: parts.weight.clone(),
            carried: Vec::new(),
            dates: None,
        };
        let missing = if parts.missing == Missing::Drop { Missing::Drop } else { Missing::Error };
        let mut survey = Self::new(roles, missing, parts.unseen);
        for ((column, feature), encoding) in
            survey.columns.iter_mut().zip(&parts.features).zip(&parts.encodings)
        {
            let is_date = matches!(encoding, Encoding::Date { .. });
            if is_date || parts.pooled.contains_key(&feature.name) {
                *column = ColumnSurvey::Settled;
            }
        }
        survey
    }

    /// Whether the reference must be read once before it can be encoded.
    pub fn is_needed(&self) -> bool {
        self.missing == Missing::Mean
            || self.labels.is_some()
            || self
                .columns
                .iter()
                .any(|column| matches!(column, ColumnSurvey::Text { .. } | ColumnSurvey::Date { .. }))
    }

    /// Looks at a batch: one column per feature, then the target and the weight if
    /// there is one. Rows that will be left out and rows of weight 0 are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLevels`], [`Error::TooManyLabels`], [`Error::NotFinite`] in labels.
    pub fn look_at(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let n_before = self.n_seen;
        self.n_seen += batch.num_rows() as u64;
        let dropped = self.missing == Missing::Drop;
        let most_levels = if self.rare_levels.is_some() { MAX_COUNTED_LEVELS } else { MAX_LEVELS };
        let weights = self
            .roles
            .weight
            .as_ref()
            .and_then(|_| {
                batch.columns().get(self.roles.features.len() + usize::from(self.roles.target.is_some()))
            })
            .map(|weights| weights.as_primitive::<Float64Type>());
        // A missing or negative weight is refused when rows are encoded.
        let weight = |row: usize| weights.map_or(1.0, |w| if w.is_valid(row) { w.value(row) } else { 1.0 });
        let target = self.roles.target.as_ref().and_then(|_| batch.columns().get(self.roles.features.len()));
        // A row without a target is left out whatever is done with missing cells.
        let usable = |row: usize| {
            weight(row) != 0.0
                && target.is_none_or(|target| target.is_valid(row))
                && (!dropped || batch.columns().iter().all(|column| column.is_valid(row)))
        };
        for (index, survey) in self.columns.iter_mut().enumerate() {
            let column = batch.column(index);
            match survey {
                ColumnSurvey::Number { sum, weight: total } => {
                    if self.missing == Missing::Mean {
                        let cells = column.as_primitive::<Float64Type>();
                        for row in 0..cells.len() {
                            if cells.is_valid(row) {
                                sum.add(weight(row) * cells.value(row));
                                total.add(weight(row));
                            }
                            if (n_before + row as u64 + 1).is_multiple_of(BLOCK_ROWS) {
                                sum.close();
                                total.close();
                            }
                        }
                    }
                }
                ColumnSurvey::Text { levels } => {
                    let cells = column.as_string::<i32>();
                    for row in 0..batch.num_rows() {
                        if !cells.is_valid(row) || !usable(row) {
                            continue;
                        }
                        let level = cells.value(row);
                        if let Some(tally) = levels.get_mut(level) {
                            tally.weight += weight(row);
                            tally.n_rows += 1;
                            continue;
                        }
                        if levels.len() == most_levels {
                            let name = self.roles.features[index].name.clone();
                            return Err(Error::TooManyLevels { name, n_levels: most_levels, more: true });
                        }
                        levels.insert(level.to_owned(), Tally { weight: weight(row), n_rows: 1 });
                    }
                }
                ColumnSurvey::Date { form, sums, weight: total, has_hour } => {
                    let cells = column.as_string::<i32>();
                    for row in (0..cells.len()).filter(|&row| cells.is_valid(row) && usable(row)) {
                        // What is no date is refused when rows are encoded.
                        let Some(days) = days_of(cells.value(row)) else { continue };
                        *has_hour |= days.fract() != 0.0;
                        let numbers = form.numbers(days);
                        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += weight(row) * number);
                        *total += weight(row);
                    }
                }
                ColumnSurvey::Settled => {}
            }
        }
        if let Some(labels) = &mut self.labels {
            labels.look_at(batch.column(self.roles.features.len()), usable)?;
        }
        self.n_rows += (0..batch.num_rows()).filter(|&row| usable(row)).count();
        Ok(())
    }

    /// Adds what another survey of the same columns found in later rows. Means have the bits
    /// of one survey if rows come in the order of the table, in whole blocks of 4096 rows
    /// merged as one survey merges them.
    ///
    /// # Errors
    ///
    /// As for [`look_at`](Self::look_at), and [`Error::Contradiction`] for a survey of other
    /// columns.
    pub fn absorb(&mut self, later: Survey) -> Result<(), Error> {
        let what = "surveys of different columns cannot be merged";
        if self.roles != later.roles {
            return Err(Error::Contradiction { what });
        }
        let most_levels = if self.rare_levels.is_some() { MAX_COUNTED_LEVELS } else { MAX_LEVELS };
        let is_whole = self.n_seen.is_multiple_of(BLOCK_ROWS);
        for (index, (survey, later)) in self.columns.iter_mut().zip(later.columns).enumerate() {
            match (survey, later) {
                (ColumnSurvey::Number { sum, weight }, ColumnSurvey::Number { sum: more, weight: added }) => {
                    sum.absorb(more, is_whole);
                    weight.absorb(added, is_whole);
                }
                (ColumnSurvey::Text { levels }, ColumnSurvey::Text { levels: more }) => {
                    for (level, Tally { weight, n_rows }) in more {
                        let tally = levels.entry(level).or_insert(Tally { weight: 0.0, n_rows: 0 });
                        tally.weight += weight;
                        tally.n_rows += n_rows;
                    }
                    if levels.len() > most_levels {
                        let name = self.roles.features[index].name.clone();
                        return Err(Error::TooManyLevels { name, n_levels: most_levels, more: true });
                    }
                }
                (ColumnSurvey::Settled, ColumnSurvey::Settled) => {}
                _ => return Err(Error::Contradiction { what }),
            }
        }
        if let (Some(labels), Some(later)) = (&mut self.labels, later.labels) {
            labels.absorb(later)?;
        }
        self.n_rows += later.n_rows;
        self.n_seen += later.n_seen;
        Ok(())
    }

    /// The features.
    pub fn features(&self) -> &[Wanted] {
        &self.roles.features
    }

    /// The columns it looks at: features, then the target and the weight if there are any.
    pub fn wanted(&self) -> Vec<Wanted> {
        let Roles { features, target, weight, .. } = &self.roles;
        features.iter().chain(target).chain(weight).cloned().collect()
    }

    /// The levels found in each text feature, in the order of the features.
    pub fn into_levels(self) -> Vec<Vec<String>> {
        self.columns
            .into_iter()
            .map(|column| match column {
                ColumnSurvey::Number { .. } | ColumnSurvey::Date { .. } | ColumnSurvey::Settled => Vec::new(),
                ColumnSurvey::Text { levels } => levels.into_keys().collect(),
            })
            .collect()
    }

    /// The design, learned.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLevels`] for a text column with a level per row or, after rare
    /// levels are pooled, still more than 256, [`Error::TooManyLabels`] and
    /// [`Error::OneLabel`] for a target that is not a classification,
    /// [`Error::AllMissing`] where a mean is needed and there is none.
    pub fn into_design(self) -> Result<Design, Error> {
        let first_level = usize::from(!self.all_levels);
        let mut encodings = Vec::with_capacity(self.columns.len());
        let mut pooled = BTreeMap::new();
        for (feature, survey) in self.roles.features.iter().zip(self.columns) {
            encodings.push(match survey {
                ColumnSurvey::Number { sum, weight } => {
                    let (sum, weight) = (sum.total(), weight.total());
                    let fill = match self.missing {
                        Missing::Mean if weight == 0.0 => {
                            return Err(Error::AllMissing { name: feature.name.clone() });
                        }
                        Missing::Mean => Some(sum / weight),
                        Missing::Error | Missing::Drop => None,
                    };
                    Encoding::Number { fill }
                }
                ColumnSurvey::Text { mut levels } => {
                    let too_many = |n_levels, more| {
                        Err(Error::TooManyLevels { name: feature.name.clone(), n_levels, more })
                    };
                    if let Some(pool) = self.rare_levels.and_then(|least| pool(&mut levels, least)) {
                        pooled.insert(feature.name.clone(), pool);
                    }
                    if levels.len() > MAX_LEVELS {
                        return too_many(MAX_LEVELS, true);
                    }
                    if levels.len() == self.n_rows && self.n_rows > 2 {
                        return too_many(self.n_rows, false);
                    }
                    let total: f64 = levels.values().map(|tally| tally.weight).sum();
                    if total == 0.0 && self.missing == Missing::Mean {
                        return Err(Error::AllMissing { name: feature.name.clone() });
                    }
                    // A missing level is filled with the shares of the levels, which
                    // are the means of the one-hot columns.
                    let fill = (self.missing == Missing::Mean).then(|| {
                        levels.values().skip(first_level).map(|tally| tally.weight / total).collect()
                    });
                    Encoding::OneHot { levels: levels.into_keys().collect(), fill }
                }
                ColumnSurvey::Date { form, sums, weight, has_hour } => {
                    if weight == 0.0 {
                        return Err(Error::AllMissing { name: feature.name.clone() });
                    }
                    let means = sums.iter().take(form.suffixes(has_hour).len()).map(|sum| sum / weight);
                    let fill = (self.missing == Missing::Mean).then(|| means.collect());
                    Encoding::Date { form, has_hour, fill }
                }
                ColumnSurvey::Settled => {
                    return Err(Error::Contradiction { what: "a survey of more rows makes no design" });
                }
            });
        }
        Ok(Design::new(DesignParts {
            projection: None,
            features: self.roles.features,
            encodings,
            pooled,
            rare_levels: self.rare_levels,
            target: self.roles.target,
            labels: self.labels.map(LabelSurvey::into_labels).transpose()?,
            weight: self.roles.weight,
            all_levels: self.all_levels,
            missing: self.missing,
            unseen: self.unseen,
        }))
    }
}

/// Replaces the levels that fewer than `least` rows have by one; returns what was
/// pooled, if there was anything.
fn pool(levels: &mut BTreeMap<String, Tally>, least: usize) -> Option<Pooled> {
    let n_before = levels.len();
    let mut rest = Tally { weight: 0.0, n_rows: 0 };
    levels.retain(|_, tally| {
        let is_common = tally.n_rows >= least;
        if !is_common {
            rest.weight += tally.weight;
            rest.n_rows += tally.n_rows;
        }
        is_common
    });
    let n_levels = n_before - levels.len();
    if n_levels == 0 {
        return None;
    }
    let mut level = String::from("other");
    while levels.contains_key(&level) {
        level.push('_');
    }
    levels.insert(level.clone(), rest);
    Some(Pooled { level, n_levels })
}
