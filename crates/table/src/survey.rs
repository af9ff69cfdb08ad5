//! What a design has to learn from the reference before it can encode it.

use crate::design::{Design, DesignParts, Encoding, Missing, Unseen};
use crate::labels::LabelSurvey;
use crate::{Error, ReadAs, Roles, TargetAs};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use std::collections::BTreeMap;

/// A text column with more levels than this is no category.
pub(crate) const MAX_LEVELS: usize = 256;

/// Collects levels of text columns, labels, and means where missing cells are filled.
///
/// Only needed when [`Survey::is_needed`]; a table of numbers without gaps is
/// encoded without looking at it first.
#[derive(Debug, Clone)]
pub struct Survey {
    roles: Roles,
    missing: Missing,
    unseen: Unseen,
    all_levels: bool,
    columns: Vec<ColumnSurvey>,
    /// Of a target that holds labels.
    labels: Option<LabelSurvey>,
    n_rows: usize,
}

#[derive(Debug, Clone)]
enum ColumnSurvey {
    /// Of the cells there are, times their weights.
    Number { sum: f64, weight: f64 },
    /// The weight of each level.
    Text { levels: BTreeMap<String, f64> },
}

impl Survey {
    /// A survey of the columns with these roles.
    pub fn new(roles: Roles, missing: Missing, unseen: Unseen) -> Self {
        let columns = roles
            .features
            .iter()
            .map(|feature| match feature.read_as {
                ReadAs::Number | ReadAs::Boolean => ColumnSurvey::Number { sum: 0.0, weight: 0.0 },
                ReadAs::Text | ReadAs::AsIs => ColumnSurvey::Text { levels: BTreeMap::new() },
            })
            .collect();
        let target = roles.target.as_ref().filter(|_| roles.target_as == TargetAs::Labels);
        let labels = target.cloned().map(LabelSurvey::new);
        Self { roles, missing, unseen, all_levels: false, columns, labels, n_rows: 0 }
    }

    /// The first level of a text feature gets a column too.
    pub fn with_all_levels(self) -> Self {
        Self { all_levels: true, ..self }
    }

    /// A survey of further rows for a design that was learned before: only
    /// levels are looked for, since means stay what they were.
    pub fn of_more_rows(design: &Design) -> Self {
        let parts = design.parts();
        let roles = Roles {
            features: parts.features.clone(),
            target: parts.target.clone(),
            target_as: TargetAs::Numbers,
            weight: parts.weight.clone(),
            carried: Vec::new(),
        };
        let missing = if parts.missing == Missing::Drop { Missing::Drop } else { Missing::Error };
        Self::new(roles, missing, parts.unseen)
    }

    /// Whether the reference must be read once before it can be encoded.
    pub fn is_needed(&self) -> bool {
        self.missing == Missing::Mean
            || self.labels.is_some()
            || self.columns.iter().any(|column| matches!(column, ColumnSurvey::Text { .. }))
    }

    /// Looks at a batch: one column per feature, then the target and the weight
    /// if there is one. Rows that will be left out, and rows of weight 0, are
    /// passed over.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLevels`], [`Error::TooManyLabels`], [`Error::NotFinite`] in labels.
    pub fn look_at(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let dropped = self.missing == Missing::Drop;
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
        let usable = |row: usize| {
            weight(row) != 0.0 && (!dropped || batch.columns().iter().all(|column| column.is_valid(row)))
        };
        for (index, survey) in self.columns.iter_mut().enumerate() {
            let column = batch.column(index);
            match survey {
                ColumnSurvey::Number { sum, weight: total } => {
                    if self.missing == Missing::Mean {
                        let cells = column.as_primitive::<Float64Type>();
                        for row in (0..cells.len()).filter(|&row| cells.is_valid(row)) {
                            *sum += weight(row) * cells.value(row);
                            *total += weight(row);
                        }
                    }
                }
                ColumnSurvey::Text { levels } => {
                    let cells = column.as_string::<i32>();
                    for row in 0..batch.num_rows() {
                        if !cells.is_valid(row) || !usable(row) {
                            continue;
                        }
                        match levels.get_mut(cells.value(row)) {
                            Some(total) => *total += weight(row),
                            None => _ = levels.insert(cells.value(row).to_owned(), weight(row)),
                        }
                    }
                    if levels.len() > MAX_LEVELS {
                        let name = self.roles.features[index].name.clone();
                        return Err(Error::TooManyLevels { name, n_levels: MAX_LEVELS, more: true });
                    }
                }
            }
        }
        if let Some(labels) = &mut self.labels {
            labels.look_at(batch.column(self.roles.features.len()), usable)?;
        }
        self.n_rows += (0..batch.num_rows()).filter(|&row| usable(row)).count();
        Ok(())
    }

    /// The levels met in each text feature, in the order of the features.
    pub fn into_levels(self) -> Vec<Vec<String>> {
        self.columns
            .into_iter()
            .map(|column| match column {
                ColumnSurvey::Number { .. } => Vec::new(),
                ColumnSurvey::Text { levels } => levels.into_keys().collect(),
            })
            .collect()
    }

    /// The design, learned.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLevels`] for a text column with a level per row,
    /// [`Error::TooManyLabels`] and [`Error::OneLabel`] for a target that is no
    /// classification, [`Error::AllMissing`] where a mean is needed and there is none.
    pub fn into_design(self) -> Result<Design, Error> {
        let first_level = usize::from(!self.all_levels);
        let mut encodings = Vec::with_capacity(self.columns.len());
        for (feature, survey) in self.roles.features.iter().zip(self.columns) {
            encodings.push(match survey {
                ColumnSurvey::Number { sum, weight } => {
                    let fill = match self.missing {
                        Missing::Mean if weight == 0.0 => {
                            return Err(Error::AllMissing { name: feature.name.clone() });
                        }
                        Missing::Mean => Some(sum / weight),
                        Missing::Error | Missing::Drop => None,
                    };
                    Encoding::Number { fill }
                }
                ColumnSurvey::Text { levels } => {
                    if levels.len() == self.n_rows && self.n_rows > 2 {
                        let name = feature.name.clone();
                        return Err(Error::TooManyLevels { name, n_levels: self.n_rows, more: false });
                    }
                    let total: f64 = levels.values().sum();
                    if total == 0.0 && self.missing == Missing::Mean {
                        return Err(Error::AllMissing { name: feature.name.clone() });
                    }
                    // A missing level is filled by the shares of the levels:
                    // the means of the one-hot columns.
                    let fill = (self.missing == Missing::Mean)
                        .then(|| levels.values().skip(first_level).map(|weight| weight / total).collect());
                    Encoding::OneHot { levels: levels.into_keys().collect(), fill }
                }
            });
        }
        Ok(Design::new(DesignParts {
            projection: None,
            features: self.roles.features,
            encodings,
            target: self.roles.target,
            labels: self.labels.map(LabelSurvey::into_labels).transpose()?,
            weight: self.roles.weight,
            all_levels: self.all_levels,
            missing: self.missing,
            unseen: self.unseen,
        }))
    }
}
