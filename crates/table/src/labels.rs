//! The labels of a classification: which cell is which class.

use crate::{Error, ReadAs, UnknownLabel, Wanted, spelled};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A target with more labels than this is not a classification.
pub(crate) const MAX_LABELS: usize = 256;

/// 2⁵³: from here on, several whole numbers share a double.
const LARGEST_LABEL: f64 = 9_007_199_254_740_992.0;

/// The labels that the target has in the reference. A class is the position of its
/// label in the list. With two labels, the last is the positive one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// Words.
    Text(Vec<String>),
    /// Numbers, such as 0 and 1 or −1 and 1.
    Numbers(Vec<f64>),
    /// True and false.
    Booleans(Vec<bool>),
}

impl Labels {
    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        match self {
            Labels::Text(labels) => labels.len(),
            Labels::Numbers(labels) => labels.len(),
            Labels::Booleans(labels) => labels.len(),
        }
    }

    /// The label of a class, as text.
    pub fn word(&self, class: usize) -> String {
        match self {
            Labels::Text(labels) => labels.get(class).cloned(),
            Labels::Numbers(labels) => labels.get(class).map(f64::to_string),
            Labels::Booleans(labels) => labels.get(class).map(bool::to_string),
        }
        .unwrap_or_default()
    }

    /// All labels as text, class by class.
    pub fn words(&self) -> Vec<String> {
        (0..self.n_classes()).map(|class| self.word(class)).collect()
    }

    /// The label that counts as 1, where there are two.
    pub fn positive(&self) -> Option<String> {
        (self.n_classes() == 2).then(|| self.word(1))
    }

    /// The class of a number, with true as 1; none if labels are text.
    pub fn class_of_number(&self, cell: f64) -> Option<usize> {
        match self {
            Labels::Text(_) => None,
            Labels::Numbers(labels) => labels.iter().position(|label| *label == cell),
            Labels::Booleans(labels) => labels.iter().position(|&label| f64::from(u8::from(label)) == cell),
        }
    }

    pub(crate) fn class_of_text(&self, cell: &str) -> Option<usize> {
        match self {
            // Labels in older files may be spelled differently.
            Labels::Text(labels) => labels.iter().position(|label| label == cell || spelled(label) == cell),
            _ => None,
        }
    }

    /// A number as this target writes it.
    pub(crate) fn word_of_number(&self, cell: f64) -> String {
        match self {
            Labels::Booleans(_) => (cell != 0.0).to_string(),
            _ => cell.to_string(),
        }
    }

    /// The class that a user means by a word.
    fn class_of_word(&self, word: &str) -> Option<usize> {
        match (self, word.trim().parse::<f64>()) {
            (Labels::Numbers(_), Ok(number)) => self.class_of_number(number),
            (Labels::Booleans(_), Ok(number)) => self.class_of_number(number),
            _ => {
                let is_meant = |label: &String| {
                    label == word || *label == spelled(word) || label.eq_ignore_ascii_case(word.trim())
                };
                self.words().iter().position(is_meant)
            }
        }
    }

    /// The same labels with another positive one.
    pub(crate) fn with_positive(mut self, name: &str, positive: &str) -> Result<Self, Error> {
        let labels = self.words();
        if labels.len() != 2 {
            return Err(Error::PositiveOfMany { name: name.into(), n_labels: labels.len() });
        }
        let Some(class) = self.class_of_word(positive) else {
            let unknown = UnknownLabel { name: name.into(), label: positive.into(), labels };
            return Err(Error::UnknownLabel { row: None, unknown: Box::new(unknown) });
        };
        if class == 0 {
            match &mut self {
                Labels::Text(labels) => labels.reverse(),
                Labels::Numbers(labels) => labels.reverse(),
                Labels::Booleans(labels) => labels.reverse(),
            }
        }
        Ok(self)
    }

    /// Whether a column that is read as `read_as` can have these labels.
    pub(crate) fn are_sound_for(&self, read_as: ReadAs) -> bool {
        let words: BTreeSet<String> = self.words().into_iter().collect();
        let fits = match self {
            Labels::Text(_) => read_as == ReadAs::Text,
            Labels::Numbers(labels) => read_as == ReadAs::Number && labels.iter().all(|l| l.is_finite()),
            Labels::Booleans(_) => read_as == ReadAs::Boolean,
        };
        fits && words.len() == self.n_classes() && words.len() >= 2
    }
}

/// Collects the labels of a reference.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LabelSurvey {
    target: Wanted,
    text: BTreeSet<String>,
    numbers: Vec<f64>,
    n_rows: usize,
}

impl LabelSurvey {
    pub(crate) fn new(target: Wanted) -> Self {
        Self { target, text: BTreeSet::new(), numbers: Vec::new(), n_rows: 0 }
    }

    pub(crate) fn look_at(&mut self, cells: &ArrayRef, usable: impl Fn(usize) -> bool) -> Result<(), Error> {
        for row in (0..cells.len()).filter(|&row| cells.is_valid(row) && usable(row)) {
            self.n_rows += 1;
            if self.target.read_as == ReadAs::Text {
                let cell = cells.as_string::<i32>().value(row);
                if !self.text.contains(cell) {
                    self.text.insert(cell.into());
                }
            } else {
                // Adding 0 turns −0 into 0, so that zero is one label.
                let cell = cells.as_primitive::<Float64Type>().value(row) + 0.0;
                if !cell.is_finite() {
                    return Err(Error::NotFinite { row, name: self.target.name.clone() });
                }
                if cell.abs() >= LARGEST_LABEL {
                    return Err(Error::LargeLabel { row, name: self.target.name.clone(), label: cell });
                }
                if let Err(place) = self
                    .numbers
                    .binary_search_by(|have| have.partial_cmp(&cell).unwrap_or(std::cmp::Ordering::Less))
                {
                    self.numbers.insert(place, cell);
                }
            }
            if self.n_labels() > MAX_LABELS {
                return Err(self.too_many(true));
            }
        }
        Ok(())
    }

    /// Adds the labels of later rows.
    pub(crate) fn absorb(&mut self, later: LabelSurvey) -> Result<(), Error> {
        self.n_rows += later.n_rows;
        self.text.extend(later.text);
        self.numbers.extend(later.numbers);
        self.numbers.sort_unstable_by(f64::total_cmp);
        self.numbers.dedup();
        if self.n_labels() > MAX_LABELS { Err(self.too_many(true)) } else { Ok(()) }
    }

    fn n_labels(&self) -> usize {
        self.text.len() + self.numbers.len()
    }

    fn too_many(&self, more: bool) -> Error {
        let n_labels = self.n_labels().min(MAX_LABELS);
        Error::TooManyLabels { name: self.target.name.clone(), n_labels, more }
    }

    pub(crate) fn into_labels(self) -> Result<Labels, Error> {
        let n_labels = self.n_labels();
        if n_labels > 2 && n_labels == self.n_rows {
            return Err(self.too_many(false));
        }
        let name = self.target.name;
        let labels = match self.target.read_as {
            ReadAs::Text => Labels::Text(self.text.into_iter().collect()),
            ReadAs::Boolean => {
                Labels::Booleans(self.numbers.into_iter().map(|number| number != 0.0).collect())
            }
            _ => Labels::Numbers(self.numbers),
        };
        match n_labels {
            0 => Err(Error::NoLabels { name }),
            1 => Err(Error::OneLabel { name, label: labels.word(0) }),
            _ => Ok(labels),
        }
    }
}
