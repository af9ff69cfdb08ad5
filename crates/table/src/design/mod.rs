//! A design: how raw columns become the numbers a model sees.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | what a design knows: encodings, labels, policies, names |
//! | `encode.rs` | rows of a batch as numbers |

mod encode;

pub use encode::Encoded;

use crate::{DatesAs, Error, Labels, Projection, ReadAs, Wanted, spelled};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What to do with missing cells of features and weights. A row without a target is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Refuse them.
    #[default]
    Error,
    /// Leave out rows that have one.
    Drop,
    /// Fill in the mean of the reference column.
    Mean,
}

/// What to do with levels of a text column that the reference does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    /// Refuse them.
    #[default]
    Error,
    /// Zero in every one-hot column, like the first level.
    Zero,
}

/// How one raw column is encoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// As it is.
    Number {
        /// The number for a missing cell.
        fill: Option<f64>,
    },
    /// One column per level; the first has one only in a design with all levels.
    OneHot {
        /// The levels, sorted.
        levels: Vec<String>,
        /// The numbers for a missing cell, one per column.
        fill: Option<Vec<f64>>,
    },
    /// Dates as numbers.
    Date {
        /// Which numbers.
        form: DatesAs,
        /// Whether there are times of day.
        has_hour: bool,
        /// The numbers for a missing cell, one per column.
        fill: Option<Vec<f64>>,
    },
}

/// The one level that stands for all rare levels of a text feature.
///
/// Rows belong to it unless they have another level of the design. So the levels
/// that were pooled need not be stored, and a level that the reference does not have
/// is treated as a rare one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pooled {
    /// Its name among the levels, such as `other`.
    pub level: String,
    /// How many levels of the reference it stands for; after a merge, at least.
    pub n_levels: usize,
}

/// How raw columns become numbers, learned on the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    parts: DesignParts,
    /// The columns that raw features are encoded as.
    encoded: Vec<String>,
    /// The principal components instead of them, if there are any.
    components: Option<Vec<String>>,
    /// Per raw feature, levels that are spelled differently now.
    respelled: Vec<Vec<(String, usize)>>,
    /// Per raw feature, the position of the pooled level, if there is one.
    pooled: Vec<Option<usize>>,
}

/// Everything a [`Design`] knows, to be written to files and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignParts {
    /// The raw features, in the order of the design.
    pub features: Vec<Wanted>,
    /// How each of them is encoded.
    pub encodings: Vec<Encoding>,
    /// Text features whose rare levels are pooled. Absent in older files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pooled: BTreeMap<String, Pooled>,
    /// Levels that fewer rows have are rare, if rare ones are pooled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare_levels: Option<usize>,
    /// The target, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Wanted>,
    /// What the target's cells stand for, if they are labels. Absent in files from
    /// before classification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// What the encoded columns are reduced to, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    /// The column with the weights of reference rows.
    pub weight: Option<Wanted>,
    /// Whether the first level of a text feature has a column too, as distances need
    /// it. Otherwise it is encoded as 0 in the columns of all others.
    #[serde(default, skip_serializing_if = "is_false")]
    pub all_levels: bool,
    /// What is done with missing cells.
    pub missing: Missing,
    /// What is done with unknown levels.
    pub unseen: Unseen,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl DesignParts {
    /// The first level of a text feature that has a column.
    pub fn first_level(&self) -> usize {
        usize::from(!self.all_levels)
    }

    /// How many columns a feature is encoded as.
    pub fn width(&self, encoding: &Encoding) -> usize {
        match encoding {
            Encoding::Number { .. } => 1,
            Encoding::OneHot { levels, .. } => levels.len().saturating_sub(self.first_level()),
            Encoding::Date { form, has_hour, .. } => form.suffixes(*has_hour).len(),
        }
    }

    /// Where the weights are among the columns of a reference.
    fn weight_index(&self) -> usize {
        self.features.len() + usize::from(self.target.is_some())
    }
}

impl Design {
    pub(crate) fn new(parts: DesignParts) -> Self {
        let mut encoded = Vec::new();
        for (feature, encoding) in parts.features.iter().zip(&parts.encodings) {
            match encoding {
                Encoding::Number { .. } => encoded.push(feature.name.clone()),
                Encoding::OneHot { levels, .. } => {
                    let levels = levels.iter().skip(parts.first_level());
                    encoded.extend(levels.map(|level| format!("{}={level}", feature.name)));
                }
                Encoding::Date { form, has_hour, .. } => {
                    let suffixes = form.suffixes(*has_hour).iter();
                    encoded.extend(suffixes.map(|suffix| format!("{}{suffix}", feature.name)));
                }
            }
        }
        let names = |projection: &Projection| (1..=projection.axes.len()).map(component_name).collect();
        let components = parts.projection.as_ref().map(names);
        let respelled = parts.encodings.iter().map(respelled).collect();
        let pooled = parts.features.iter().zip(&parts.encodings).map(|(feature, encoding)| {
            let Encoding::OneHot { levels, .. } = encoding else { return None };
            levels.binary_search(&parts.pooled.get(&feature.name)?.level).ok()
        });
        let pooled = pooled.collect();
        Self { parts, encoded, components, respelled, pooled }
    }

    /// A design from what it knows.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] if no survey can have learned this.
    pub fn from_parts(parts: DesignParts) -> Result<Self, Error> {
        let wrong = |what| Err(Error::Contradiction { what });
        if parts.features.len() != parts.encodings.len() || parts.features.is_empty() {
            return wrong("a feature has no encoding");
        }
        let is_number = |column: &Wanted| matches!(column.read_as, ReadAs::Number | ReadAs::Boolean);
        let has_target = match (&parts.labels, &parts.target) {
            (Some(labels), Some(target)) => labels.are_sound_for(target.read_as),
            (Some(_), None) => false,
            (None, target) => target.iter().all(is_number),
        };
        if !has_target || !parts.weight.iter().all(is_number) {
            return wrong("the target or the weight is not what it is read as");
        }
        for (feature, encoding) in parts.features.iter().zip(&parts.encodings) {
            let (is_sound, fill): (bool, &[f64]) = match encoding {
                Encoding::Number { fill } => (is_number(feature), fill.as_slice()),
                Encoding::OneHot { levels, fill } => {
                    let ascending = levels.windows(2).all(|pair| pair[0] < pair[1]);
                    let fits = fill.as_ref().is_none_or(|fill| fill.len() == parts.width(encoding));
                    (
                        feature.read_as == ReadAs::Text && ascending && fits,
                        fill.as_deref().unwrap_or_default(),
                    )
                }
                Encoding::Date { fill, .. } => {
                    let fits = fill.as_ref().is_none_or(|fill| fill.len() == parts.width(encoding));
                    (feature.read_as == ReadAs::Text && fits, fill.as_deref().unwrap_or_default())
                }
            };
            if !is_sound || !fill.iter().all(|fill| fill.is_finite()) {
                return wrong("the encoding of a feature contradicts itself");
            }
        }
        let design = Self::new(parts);
        if design.pooled.iter().flatten().count() != design.parts.pooled.len() {
            return wrong("a pooled level belongs to no feature");
        }
        match &design.parts.projection {
            Some(projection) => projection.check(design.encoded.len()).map(|()| design),
            None => Ok(design),
        }
    }

    /// The same design with its columns reduced to a few.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] for a projection of other columns.
    pub fn with_projection(mut self, projection: Projection) -> Result<Self, Error> {
        self.parts.projection = Some(projection);
        Self::from_parts(self.parts)
    }

    /// What the encoded columns are reduced to, if they are.
    pub fn projection(&self) -> Option<&Projection> {
        self.parts.projection.as_ref()
    }

    /// What the design knows.
    pub fn parts(&self) -> &DesignParts {
        &self.parts
    }

    /// The raw columns that points must have, in this order: features, then the
    /// target if there is one.
    pub fn wanted(&self) -> Vec<Wanted> {
        self.parts.features.iter().chain(&self.parts.target).cloned().collect()
    }

    /// The raw columns that reference rows must have: those of points, then
    /// the weight if there is one.
    pub fn wanted_of_reference(&self) -> Vec<Wanted> {
        let mut wanted = self.wanted();
        wanted.extend(self.parts.weight.clone());
        wanted
    }

    /// The same design with other policies. Where missing cells are to be filled and
    /// no mean was learned, `mean` of the design column is used; principal components
    /// know the means of the columns they replace.
    pub fn with_policies(
        &self,
        missing: Option<Missing>,
        unseen: Option<Unseen>,
        mean: impl Fn(usize) -> f64,
    ) -> Self {
        let mut parts = self.parts.clone();
        parts.missing = missing.unwrap_or(parts.missing);
        parts.unseen = unseen.unwrap_or(parts.unseen);
        let means = parts.projection.as_ref().map(|projection| projection.mean.clone());
        let mean = |column: usize| means.as_ref().map_or_else(|| mean(column), |means| means[column]);
        let widths: Vec<usize> = parts.encodings.iter().map(|encoding| parts.width(encoding)).collect();
        let mut next = 0;
        for (encoding, width) in parts.encodings.iter_mut().zip(widths) {
            let from = next;
            next += width;
            match encoding {
                Encoding::Number { fill } => {
                    if parts.missing == Missing::Mean {
                        fill.get_or_insert_with(|| mean(from));
                    } else {
                        *fill = None;
                    }
                }
                Encoding::OneHot { fill, .. } | Encoding::Date { fill, .. } => {
                    if parts.missing == Missing::Mean {
                        fill.get_or_insert_with(|| (from..next).map(&mean).collect());
                    } else {
                        *fill = None;
                    }
                }
            }
        }
        Self::new(parts)
    }

    /// The same design for rows whose target is not known.
    pub fn without_target(&self) -> Self {
        let mut parts = self.parts.clone();
        (parts.target, parts.labels) = (None, None);
        Self::new(parts)
    }

    /// Number of design columns.
    pub fn n_columns(&self) -> usize {
        self.components.as_ref().unwrap_or(&self.encoded).len()
    }

    /// Number of columns while a row is encoded, before they are reduced to fewer.
    pub fn n_encoded(&self) -> usize {
        self.encoded.len()
    }

    /// The name of a design column, such as `age`, `city=Paris` or `pca_1`; after the
    /// last one, the name of the target.
    pub fn column_name(&self, column: usize) -> &str {
        let name = self.components.as_ref().unwrap_or(&self.encoded).get(column);
        name.map(String::as_str).or(self.target()).unwrap_or_default()
    }

    /// Names of the raw features.
    pub fn features(&self) -> impl Iterator<Item = &str> {
        self.parts.features.iter().map(|feature| feature.name.as_str())
    }

    /// Text features with a single level, which have no design column.
    pub fn constant_features(&self) -> impl Iterator<Item = &str> {
        let has_no_column = |encoding: &Encoding| self.parts.width(encoding) == 0;
        self.features()
            .zip(&self.parts.encodings)
            .filter_map(move |(name, encoding)| has_no_column(encoding).then_some(name))
    }

    /// The raw features that are one-hot encoded.
    pub fn text_features(&self) -> impl Iterator<Item = &str> {
        self.features()
            .zip(&self.parts.encodings)
            .filter_map(|(name, encoding)| matches!(encoding, Encoding::OneHot { .. }).then_some(name))
    }

    /// The text features whose rare levels are pooled, by name.
    pub fn pooled_features(&self) -> impl Iterator<Item = (&str, &Pooled)> {
        self.parts.pooled.iter().map(|(name, pooled)| (name.as_str(), pooled))
    }

    /// What the cells of the target stand for, if they are labels.
    pub fn labels(&self) -> Option<&Labels> {
        self.parts.labels.as_ref()
    }

    /// The same design with another label as the positive one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownLabel`], [`Error::PositiveOfMany`].
    pub fn with_positive(mut self, positive: &str) -> Result<Self, Error> {
        if let (Some(labels), Some(target)) = (self.parts.labels.take(), &self.parts.target) {
            self.parts.labels = Some(labels.with_positive(&target.name, positive)?);
        }
        Ok(self)
    }

    /// Whether there is a target, and both it and the design columns are the table's
    /// own numbers.
    pub fn is_plain(&self) -> bool {
        self.parts.labels.is_none() && self.parts.target.is_some() && self.has_plain_features()
    }

    /// Whether the design columns are the table's own numbers, whatever the target
    /// is.
    pub fn has_plain_features(&self) -> bool {
        let is_number = |encoding: &Encoding| matches!(encoding, Encoding::Number { .. });
        self.parts.projection.is_none() && self.parts.encodings.iter().all(is_number)
    }

    /// Name of the target, if there is one.
    pub fn target(&self) -> Option<&str> {
        self.parts.target.as_ref().map(|target| target.name.as_str())
    }

    /// Name of the column with the weights of reference rows.
    pub fn weight(&self) -> Option<&str> {
        self.parts.weight.as_ref().map(|weight| weight.name.as_str())
    }
}

fn component_name(number: usize) -> String {
    format!("pca_{number}")
}

/// The present spelling of levels in designs from before categories had one spelling.
fn respelled(encoding: &Encoding) -> Vec<(String, usize)> {
    let Encoding::OneHot { levels, .. } = encoding else { return Vec::new() };
    let now = |(code, level): (usize, &String)| (spelled(level).into_owned(), code);
    levels.iter().enumerate().map(now).filter(|(spelling, code)| *spelling != levels[*code]).collect()
}

#[cfg(test)]
mod rare_levels_tests;
#[cfg(test)]
mod tests;
