//! A design: how raw columns become the numbers a model sees.

use crate::{Error, Labels, Projection, ReadAs, UnknownLabel, Wanted, spelled};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// What to do with missing cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Refuse them.
    #[default]
    Error,
    /// Leave out rows that have one.
    Drop,
    /// Fill in the mean of the reference column. A missing target is refused.
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
        /// What stands for a missing cell.
        fill: Option<f64>,
    },
    /// One column per level; the first has one only in a design with all levels.
    OneHot {
        /// The levels, sorted.
        levels: Vec<String>,
        /// What stands for a missing cell, one number per column.
        fill: Option<Vec<f64>>,
    },
}

/// How raw columns become numbers, learned on the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    parts: DesignParts,
    /// The columns that raw features are encoded as.
    encoded: Vec<String>,
    /// The principal components in their place, if there are any.
    components: Option<Vec<String>>,
    /// Per raw feature, levels that are spelled in another way now.
    respelled: Vec<Vec<(String, usize)>>,
}

/// All that a [`Design`] knows, to be written to files and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignParts {
    /// The raw features, in the order of the design.
    pub features: Vec<Wanted>,
    /// How each of them is encoded.
    pub encodings: Vec<Encoding>,
    /// The target, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Wanted>,
    /// What the target's cells stand for, if they are labels. Absent in files
    /// that know regression only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// What the encoded columns are reduced to, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    /// The column with the weights of reference rows.
    pub weight: Option<Wanted>,
    /// Whether the first level of a text feature has a column too, as distances
    /// need it; else it is where the columns of the others are all 0.
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
    pub(crate) fn width(&self, encoding: &Encoding) -> usize {
        match encoding {
            Encoding::Number { .. } => 1,
            Encoding::OneHot { levels, .. } => levels.len().saturating_sub(self.first_level()),
        }
    }

    /// Where the weights are among the columns of a reference.
    fn weight_index(&self) -> usize {
        self.features.len() + usize::from(self.target.is_some())
    }
}

/// Rows of a batch as numbers.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// One row per usable row of the batch.
    pub x: Mat<f64>,
    /// Their targets; the number of the class where targets are labels, 0 where there is no target.
    pub y: Vec<f64>,
    /// Their weights, where the batch has them.
    pub weights: Option<Vec<f64>>,
    /// Missing cells that a mean was put into.
    pub n_filled: u64,
    /// Where rows were left out: the rows of the batch that remain.
    pub remaining: Option<Vec<usize>>,
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
            }
        }
        let names = |projection: &Projection| (1..=projection.axes.len()).map(component_name).collect();
        let components = parts.projection.as_ref().map(names);
        let respelled = parts.encodings.iter().map(respelled).collect();
        Self { parts, encoded, components, respelled }
    }

    /// A design from what it knows.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when no survey can have learned this.
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
            };
            if !is_sound || !fill.iter().all(|fill| fill.is_finite()) {
                return wrong("the encoding of a feature contradicts itself");
            }
        }
        let design = Self::new(parts);
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

    /// The same design with other policies. Where missing cells are to be
    /// filled and no mean was learned for it, `mean` of the design column is
    /// put in; principal components know the means of what they replace.
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
                Encoding::OneHot { fill, .. } => {
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

    /// Number of design columns.
    pub fn n_columns(&self) -> usize {
        self.components.as_ref().unwrap_or(&self.encoded).len()
    }

    /// Number of columns that a row takes while it is encoded: before they are
    /// reduced to fewer.
    pub fn n_encoded(&self) -> usize {
        self.encoded.len()
    }

    /// The name of a design column, such as `age`, `city=Paris` or `pca_1`; the
    /// target's after the last.
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

    /// Whether there is a target, and it and the design columns are the numbers
    /// of the table as they are.
    pub fn is_plain(&self) -> bool {
        self.parts.labels.is_none() && self.parts.target.is_some() && self.has_plain_features()
    }

    /// Whether design columns are, whatever the target is.
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

    /// Turns a batch, read as [`wanted`](Self::wanted) or
    /// [`wanted_of_reference`](Self::wanted_of_reference), into numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::UnseenLevel`], [`Error::UnknownLabel`],
    /// [`Error::NotFinite`], [`Error::BadWeight`].
    pub fn encode(&self, batch: &RecordBatch) -> Result<Encoded, Error> {
        self.encode_rows(batch, self.remaining(batch))
    }

    /// As [`encode`](Self::encode), without rows of weight 0, which are not in
    /// the reference; also returns how many there were.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_reference(&self, batch: &RecordBatch) -> Result<(Encoded, u64), Error> {
        let remaining = self.remaining(batch);
        let Some(weights) = batch.columns().get(self.parts.weight_index()) else {
            return Ok((self.encode_rows(batch, remaining)?, 0));
        };
        let weights = weights.as_primitive::<Float64Type>();
        let is_weightless = |row: &usize| weights.is_valid(*row) && weights.value(*row) == 0.0;
        let rows = remaining.clone().unwrap_or_else(|| (0..batch.num_rows()).collect());
        let n_weightless = rows.iter().filter(|row| is_weightless(row)).count() as u64;
        if n_weightless == 0 {
            return Ok((self.encode_rows(batch, remaining)?, 0));
        }
        let weighty = rows.into_iter().filter(|row| !is_weightless(row)).collect();
        Ok((self.encode_rows(batch, Some(weighty))?, n_weightless))
    }

    fn encode_rows(&self, batch: &RecordBatch, remaining: Option<Vec<usize>>) -> Result<Encoded, Error> {
        let first_level = self.parts.first_level();
        let n_rows = remaining.as_ref().map_or(batch.num_rows(), Vec::len);
        let rows = Remaining { rows: remaining.as_deref(), n_rows };

        let mut x = Mat::<f64>::zeros(n_rows, self.encoded.len());
        let (mut next, mut n_filled) = (0, 0);
        for (index, encoding) in self.parts.encodings.iter().enumerate() {
            let cells = batch.column(index);
            match encoding {
                Encoding::Number { fill } => {
                    n_filled += self.copy_numbers(index, cells, *fill, rows, x.col_as_slice_mut(next))?;
                    next += 1;
                }
                Encoding::OneHot { levels, fill } => {
                    let codes = self.codes(index, cells, levels, fill.is_some(), rows)?;
                    n_filled += codes.iter().filter(|code| matches!(code, Code::Missing)).count() as u64;
                    for level in first_level..levels.len() {
                        for (cell, code) in x.col_as_slice_mut(next).iter_mut().zip(&codes) {
                            *cell = match code {
                                Code::Level(code) => f64::from(*code == level),
                                Code::Unseen => 0.0,
                                Code::Missing => {
                                    fill.as_ref().map_or(f64::NAN, |fill| fill[level - first_level])
                                }
                            };
                        }
                        next += 1;
                    }
                }
            }
        }
        let y = match &self.parts.target {
            Some(target) => self.targets(target, batch.column(self.parts.features.len()), rows)?,
            None => vec![0.0; n_rows],
        };
        let weight_index = self.parts.weight_index();
        let weights = match batch.columns().get(weight_index) {
            Some(cells) => Some(self.copy_weights(weight_index, cells, rows)?),
            None => None,
        };
        if let Some(projection) = &self.parts.projection {
            x = projection.apply(x.as_ref());
        }
        Ok(Encoded { x, y, weights, n_filled, remaining })
    }

    fn targets(&self, target: &Wanted, cells: &ArrayRef, rows: Remaining<'_>) -> Result<Vec<f64>, Error> {
        let (index, mut y) = (self.parts.features.len(), vec![0.0; rows.n_rows]);
        let Some(labels) = &self.parts.labels else {
            self.copy_numbers(index, cells, None, rows, &mut y)?;
            return Ok(y);
        };
        let unknown = |i: usize, label: String| Error::UnknownLabel {
            row: Some(rows.row(i)),
            unknown: Box::new(UnknownLabel { name: self.name(index), label, labels: labels.words() }),
        };
        if target.read_as == ReadAs::Text {
            let cells = cells.as_string::<i32>();
            for (i, y) in y.iter_mut().enumerate() {
                let row = rows.row(i);
                if !cells.is_valid(row) {
                    return Err(self.missing_at(index, row));
                }
                let class = labels.class_of_text(cells.value(row));
                *y = class.ok_or_else(|| unknown(i, cells.value(row).into()))? as f64;
            }
        } else {
            self.copy_numbers(index, cells, None, rows, &mut y)?;
            for (i, y) in y.iter_mut().enumerate() {
                let class = labels.class_of_number(*y);
                *y = class.ok_or_else(|| unknown(i, labels.word_of_number(*y)))? as f64;
            }
        }
        Ok(y)
    }

    fn copy_weights(&self, index: usize, cells: &ArrayRef, rows: Remaining<'_>) -> Result<Vec<f64>, Error> {
        let mut weights = vec![0.0; rows.n_rows];
        self.copy_numbers(index, cells, None, rows, &mut weights)?;
        let is_bad = |&weight: &f64| weight != 0.0 && !(1e-100..=1e100).contains(&weight);
        match weights.iter().position(is_bad) {
            Some(i) => Err(Error::BadWeight { row: rows.row(i), name: self.name(index), weight: weights[i] }),
            None => Ok(weights),
        }
    }

    /// The rows that have no missing cell, where such rows are left out and
    /// there is one.
    fn remaining(&self, batch: &RecordBatch) -> Option<Vec<usize>> {
        let has_missing = batch.columns().iter().any(|column| column.null_count() > 0);
        (self.parts.missing == Missing::Drop && has_missing).then(|| {
            (0..batch.num_rows())
                .filter(|&row| batch.columns().iter().all(|column| column.is_valid(row)))
                .collect()
        })
    }

    fn name(&self, index: usize) -> String {
        let DesignParts { features, target, weight, .. } = &self.parts;
        let columns = features.iter().chain(target).chain(weight);
        columns.map(|column| column.name.clone()).nth(index).unwrap_or_default()
    }

    fn missing_at(&self, index: usize, row: usize) -> Error {
        Error::Missing { row, name: self.name(index), can_fill: index < self.parts.features.len() }
    }

    fn copy_numbers(
        &self,
        index: usize,
        cells: &ArrayRef,
        fill: Option<f64>,
        rows: Remaining<'_>,
        out: &mut [f64],
    ) -> Result<u64, Error> {
        let mut n_filled = 0;
        let cells = cells.as_primitive::<Float64Type>();
        if rows.rows.is_none() && cells.null_count() == 0 {
            out.copy_from_slice(cells.values());
        } else {
            for (i, out) in out.iter_mut().enumerate() {
                let row = rows.row(i);
                *out = if cells.is_valid(row) {
                    cells.value(row)
                } else {
                    n_filled += 1;
                    fill.ok_or_else(|| self.missing_at(index, row))?
                };
            }
        }
        match out.iter().position(|cell| !cell.is_finite()) {
            Some(i) => Err(Error::NotFinite { row: rows.row(i), name: self.name(index) }),
            None => Ok(n_filled),
        }
    }

    fn codes(
        &self,
        index: usize,
        cells: &ArrayRef,
        levels: &[String],
        has_fill: bool,
        rows: Remaining<'_>,
    ) -> Result<Vec<Code>, Error> {
        let cells = cells.as_string::<i32>();
        (0..rows.n_rows)
            .map(|i| {
                let row = rows.row(i);
                if !cells.is_valid(row) {
                    return if has_fill { Ok(Code::Missing) } else { Err(self.missing_at(index, row)) };
                }
                let cell = cells.value(row);
                let by_spelling = |_| {
                    let twin = self.respelled[index].iter().find(|(level, _)| level == cell);
                    twin.map(|(_, code)| *code).ok_or(())
                };
                match levels.binary_search_by(|level| level.as_str().cmp(cell)).or_else(by_spelling) {
                    Ok(code) => Ok(Code::Level(code)),
                    Err(()) if self.parts.unseen == Unseen::Zero => Ok(Code::Unseen),
                    Err(()) => Err(Error::UnseenLevel { row, name: self.name(index), level: cell.into() }),
                }
            })
            .collect()
    }
}

fn component_name(number: usize) -> String {
    format!("pca_{number}")
}

/// Levels of a design that was learned before all routes had one spelling, as
/// cells are spelled now.
fn respelled(encoding: &Encoding) -> Vec<(String, usize)> {
    let Encoding::OneHot { levels, .. } = encoding else { return Vec::new() };
    let now = |(code, level): (usize, &String)| (spelled(level).into_owned(), code);
    levels.iter().enumerate().map(now).filter(|(spelling, code)| *spelling != levels[*code]).collect()
}

/// Maps encoded rows to rows of the batch.
#[derive(Clone, Copy)]
struct Remaining<'a> {
    rows: Option<&'a [usize]>,
    n_rows: usize,
}

impl Remaining<'_> {
    fn row(&self, i: usize) -> usize {
        self.rows.map_or(i, |rows| rows[i])
    }
}

enum Code {
    Level(usize),
    Unseen,
    Missing,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadAs, Roles, Survey, TargetAs};
    use arrow_array::{Float64Array, StringArray};
    use std::sync::Arc;

    fn wanted(name: &str, read_as: ReadAs) -> Wanted {
        Wanted { name: name.into(), read_as }
    }

    fn roles() -> Roles {
        Roles {
            features: vec![wanted("age", ReadAs::Number), wanted("city", ReadAs::Text)],
            target: Some(wanted("price", ReadAs::Number)),
            target_as: TargetAs::Numbers,
            weight: None,
            carried: vec![],
        }
    }

    #[test]
    fn without_a_target_every_level_may_have_a_column() {
        let roles = Roles { target: None, target_as: TargetAs::Nothing, ..roles() };
        let mut survey = Survey::new(roles, Missing::Mean, Unseen::Zero).with_all_levels();
        let rows = batch(
            &[Some(1.0), None, Some(3.0)],
            &[Some("b"), Some("a"), Some("b")],
            &[Some(0.0), Some(0.0), Some(0.0)],
        );
        let rows = rows.project(&[0, 1]).unwrap();
        survey.look_at(&rows).unwrap();
        let design = survey.into_design().unwrap();
        assert_eq!((design.target(), design.wanted().len(), design.is_plain()), (None, 2, false));
        let names: Vec<_> = (0..design.n_columns()).map(|j| design.column_name(j)).collect();
        assert_eq!(names, ["age", "city=a", "city=b"]);
        let encoded = design.encode(&rows).unwrap();
        assert_eq!((encoded.y, encoded.n_filled), (vec![0.0; 3], 1));
        assert_eq!(encoded.x, faer::mat![[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 1.0_f64]]);
        assert_eq!(Design::from_parts(design.parts().clone()).unwrap(), design);
    }

    fn batch(age: &[Option<f64>], city: &[Option<&str>], price: &[Option<f64>]) -> RecordBatch {
        let columns: [(&str, ArrayRef); 3] = [
            ("age", Arc::new(Float64Array::from(age.to_vec()))),
            ("city", Arc::new(StringArray::from(city.to_vec()))),
            ("price", Arc::new(Float64Array::from(price.to_vec()))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn learn(missing: Missing, unseen: Unseen, batch: &RecordBatch) -> Result<Design, Error> {
        let mut survey = Survey::new(roles(), missing, unseen);
        assert!(survey.is_needed());
        survey.look_at(batch)?;
        survey.into_design()
    }

    fn reference() -> RecordBatch {
        batch(
            &[Some(1.0), Some(2.0), Some(6.0), Some(7.0)],
            &[Some("Rome"), Some("Bonn"), Some("Rome"), Some("Oslo")],
            &[Some(10.0), Some(20.0), Some(30.0), Some(40.0)],
        )
    }

    #[test]
    fn text_becomes_one_column_per_level_but_the_first() {
        let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
        let names: Vec<_> = (0..=design.n_columns()).map(|j| design.column_name(j)).collect();
        assert_eq!(names, ["age", "city=Oslo", "city=Rome", "price"]);
        let encoded = design.encode(&reference()).unwrap();
        assert_eq!(encoded.x.col_as_slice(1), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(encoded.x.col_as_slice(2), [1.0, 0.0, 1.0, 0.0]);
        assert_eq!(encoded.y, [10.0, 20.0, 30.0, 40.0]);
        assert_eq!(encoded.remaining, None);
    }

    #[test]
    fn missing_cells_are_refused_dropped_or_filled() {
        let gaps = batch(&[Some(1.0), None, Some(5.0)], &[Some("Rome"), Some("Bonn"), None], &[Some(1.0); 3]);
        let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
        let error = design.encode(&gaps).unwrap_err();
        assert_eq!(error, Error::Missing { row: 1, name: "age".into(), can_fill: true });

        let design = learn(Missing::Drop, Unseen::Error, &reference()).unwrap();
        let encoded = design.encode(&gaps).unwrap();
        assert_eq!((encoded.x.nrows(), encoded.remaining), (1, Some(vec![0])));

        let design = learn(Missing::Mean, Unseen::Error, &reference()).unwrap();
        let encoded = design.encode(&gaps).unwrap();
        assert_eq!(encoded.x.col_as_slice(0), [1.0, 4.0, 5.0]);
        assert_eq!(encoded.x.col_as_slice(2), [1.0, 0.0, 0.5], "half of the reference is in Rome");
    }

    #[test]
    fn a_missing_target_cannot_be_filled() {
        let gaps = batch(&[Some(1.0)], &[Some("Rome")], &[None]);
        let design = learn(Missing::Mean, Unseen::Error, &reference()).unwrap();
        let error = design.encode(&gaps).unwrap_err();
        assert_eq!(error, Error::Missing { row: 0, name: "price".into(), can_fill: false });
    }

    #[test]
    fn unseen_levels_are_refused_or_zero() {
        let new = batch(&[Some(1.0)], &[Some("Lima")], &[Some(1.0)]);
        let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
        let error = design.encode(&new).unwrap_err();
        assert_eq!(error, Error::UnseenLevel { row: 0, name: "city".into(), level: "Lima".into() });
        let design = learn(Missing::Error, Unseen::Zero, &reference()).unwrap();
        let encoded = design.encode(&new).unwrap();
        assert_eq!([encoded.x[(0, 1)], encoded.x[(0, 2)]], [0.0, 0.0]);
    }

    #[test]
    fn infinite_numbers_are_refused() {
        let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
        let error = design.encode(&batch(&[Some(f64::INFINITY)], &[Some("Rome")], &[Some(1.0)])).unwrap_err();
        assert_eq!(error, Error::NotFinite { row: 0, name: "age".into() });
    }

    #[test]
    fn names_are_not_categories() {
        let names: Vec<String> = (0..300).map(|i| format!("n{i}")).collect();
        let cells: Vec<_> = names.iter().map(|name| Some(name.as_str())).collect();
        let many = batch(&[Some(1.0); 300], &cells, &[Some(1.0); 300]);
        let error = learn(Missing::Error, Unseen::Error, &many).unwrap_err();
        assert_eq!(error, Error::TooManyLevels { name: "city".into(), n_levels: 256, more: true });
        assert!(error.to_string().contains("more than 256 different values"));

        let each = many.slice(0, 5);
        let error = learn(Missing::Error, Unseen::Error, &each).unwrap_err();
        assert_eq!(error, Error::TooManyLevels { name: "city".into(), n_levels: 5, more: false });
        assert!(error.to_string().contains("5 rows and 5 different values"));
    }

    fn label_design(target: ReadAs, cells: ArrayRef) -> Result<(Design, RecordBatch), Error> {
        let roles = Roles {
            features: vec![wanted("age", ReadAs::Number)],
            target: Some(wanted("y", target)),
            target_as: TargetAs::Labels,
            weight: None,
            carried: vec![],
        };
        let age: ArrayRef = Arc::new(Float64Array::from(vec![1.0; cells.len()]));
        let batch =
            RecordBatch::try_from_iter_with_nullable([("age", age, true), ("y", cells, true)]).unwrap();
        let mut survey = Survey::new(roles, Missing::Error, Unseen::Error);
        survey.look_at(&batch)?;
        Ok((survey.into_design()?, batch))
    }

    #[test]
    fn labels_become_classes_and_the_later_one_is_positive() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["yes", "no", "no", "yes"]));
        let (design, batch) = label_design(ReadAs::Text, text).unwrap();
        assert_eq!(design.encode(&batch).unwrap().y, [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(design.labels().and_then(Labels::positive).as_deref(), Some("yes"));
        let flipped = design.clone().with_positive("no").unwrap();
        assert_eq!(flipped.encode(&batch).unwrap().y, [0.0, 1.0, 1.0, 0.0]);
        let error = design.with_positive("yess").unwrap_err();
        assert_eq!(error.hint().as_deref(), Some("did you mean `yes`?"));

        let signs: ArrayRef = Arc::new(Float64Array::from(vec![1.0, -1.0, -1.0]));
        let (design, batch) = label_design(ReadAs::Number, signs).unwrap();
        assert_eq!(design.encode(&batch).unwrap().y, [1.0, 0.0, 0.0]);
        assert_eq!(design.clone().with_positive("-1.0").unwrap().encode(&batch).unwrap().y, [0.0, 1.0, 1.0]);
        assert_eq!(Design::from_parts(design.parts().clone()), Ok(design));

        let booleans: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 0.0]));
        let (design, _) = label_design(ReadAs::Boolean, booleans).unwrap();
        assert_eq!(design.labels().unwrap().words(), ["false", "true"]);
    }

    #[test]
    fn labels_that_are_none_are_refused() {
        let numbers = |cells: Vec<f64>| label_design(ReadAs::Number, Arc::new(Float64Array::from(cells)));
        let one = numbers(vec![3.0; 4]).unwrap_err();
        assert_eq!(one, Error::OneLabel { name: "y".into(), label: "3".into() });
        let each = numbers((0..9).map(f64::from).collect()).unwrap_err();
        assert!(matches!(each, Error::TooManyLabels { n_labels: 9, more: false, .. }));
        let many = numbers((0..900).map(f64::from).collect()).unwrap_err();
        assert!(matches!(many, Error::TooManyLabels { more: true, .. }));
        let large = numbers(vec![9_007_199_254_740_992.0, 1.0, 1.0]).unwrap_err();
        assert_eq!((large.row(), large.hint().is_some()), (Some(0), true), "{large}");
        let (design, batch) = numbers(vec![0.0, 1.0, 2.0, 2.0]).unwrap();
        assert!(matches!(design.clone().with_positive("1"), Err(Error::PositiveOfMany { .. })));
        let known = numbers(vec![0.0, 1.0]).unwrap().0;
        let error = known.encode(&batch).unwrap_err();
        assert_eq!((error.row(), error.to_string().contains("`2`")), (Some(2), true), "{error}");
    }

    #[test]
    fn levels_of_designs_that_are_older_than_the_spelling_are_met() {
        let parts = |levels: &[&str]| DesignParts {
            features: vec![wanted("size", ReadAs::Text)],
            encodings: vec![Encoding::OneHot {
                levels: levels.iter().map(|&level| level.into()).collect(),
                fill: None,
            }],
            target: Some(wanted("y", ReadAs::Number)),
            labels: None,
            projection: None,
            all_levels: false,
            weight: None,
            missing: Missing::Error,
            unseen: Unseen::Error,
        };
        let old = Design::from_parts(parts(&["1.0", "2.0", "True", "x"])).unwrap();
        let cells: ArrayRef = Arc::new(StringArray::from(vec!["2", "1", "true", "x"]));
        let y: ArrayRef = Arc::new(Float64Array::from(vec![0.0; 4]));
        let rows = RecordBatch::try_from_iter([("size", cells), ("y", y)]).unwrap();
        let x = old.encode(&rows).unwrap().x;
        let ones: Vec<_> = (0..4).map(|i| (0..3).find(|&j| x[(i, j)] == 1.0)).collect();
        assert_eq!(ones, [Some(0), None, Some(1), Some(2)]);

        // The same level in two spellings is one, and keeps its older name.
        let more = vec![vec!["1".into(), "3".into(), "true".into()]];
        let (wider, from) = old.with_levels(&more).unwrap().unwrap();
        let names: Vec<_> = (0..wider.n_columns()).map(|j| wider.column_name(j)).collect();
        assert_eq!(names, ["size=2.0", "size=3", "size=True", "size=x"]);
        use crate::Derived::{Column, Zero};
        assert_eq!(from, [Column(0), Zero, Column(1), Column(2)]);
        assert_eq!(old.with_levels(&[vec!["2".into()]]).unwrap(), None);
        let new = Design::from_parts(parts(&["1", "2"])).unwrap();
        let merged = old.merged(1.0, &new, 1.0).unwrap();
        assert_eq!(merged.from_second, [Column(0), Zero, Zero]);
    }

    #[test]
    fn a_column_without_any_cell_has_no_mean() {
        let empty = batch(&[None, None, None], &[Some("a"), Some("a"), Some("b")], &[Some(1.0); 3]);
        let error = learn(Missing::Mean, Unseen::Error, &empty).unwrap_err();
        assert_eq!(error, Error::AllMissing { name: "age".into() });
    }

    #[test]
    fn a_single_level_has_no_column_but_is_remembered() {
        let same = batch(&[Some(1.0), Some(2.0)], &[Some("Rome"), Some("Rome")], &[Some(1.0), Some(2.0)]);
        let design = learn(Missing::Error, Unseen::Error, &same).unwrap();
        assert_eq!(design.n_columns(), 1);
        assert_eq!(design.constant_features().collect::<Vec<_>>(), ["city"]);
    }
}
