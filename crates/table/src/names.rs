//! What columns and labels are called.

use crate::Design;

/// Names for what arithmetic knows by number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Names {
    /// The columns of the design.
    pub columns: Vec<String>,
    /// The target, if there is one.
    pub target: Option<String>,
    /// The labels, class by class, if the target holds labels.
    pub labels: Vec<String>,
}

impl Names {
    /// The name of a design column, or of the target, which is the one after the last.
    pub fn column(&self, column: usize) -> String {
        let target = || self.target.clone().filter(|_| column == self.columns.len());
        self.columns.get(column).cloned().or_else(target).unwrap_or_else(|| column.to_string())
    }

    /// Columns in backticks, with commas between them.
    pub fn listed(&self, columns: &[usize]) -> String {
        columns.iter().map(|&column| format!("`{}`", self.column(column))).collect::<Vec<_>>().join(", ")
    }

    /// The target as the subject of a sentence.
    pub fn subject(&self) -> String {
        self.target.as_ref().map_or_else(|| "the target".into(), |target| format!("target `{target}`"))
    }

    /// Whether the target holds labels. Only then does a ridge belong to the fit
    /// instead of the sets.
    pub fn is_classification(&self) -> bool {
        !self.labels.is_empty()
    }

    /// The label of a class.
    pub fn label(&self, class: usize) -> String {
        self.labels.get(class).cloned().unwrap_or_else(|| class.to_string())
    }
}

impl Design {
    /// What its columns and labels are called.
    pub fn names(&self) -> Names {
        Names {
            columns: (0..self.n_columns()).map(|column| self.column_name(column).to_string()).collect(),
            target: self.target().map(String::from),
            labels: self.labels().map(crate::Labels::words).unwrap_or_default(),
        }
    }
}
