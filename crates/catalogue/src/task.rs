//! What is predicted.

use serde::Serialize;

/// What kind of model the rows are valued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A number is predicted.
    Regression,
    /// A label is predicted.
    Classification,
    /// Nothing is predicted: a density is estimated.
    Density,
}

impl Task {
    /// All tasks.
    pub const ALL: [Task; 3] = [Task::Regression, Task::Classification, Task::Density];

    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Task::Regression => "regression",
            Task::Classification => "classification",
            Task::Density => "density",
        }
    }

    /// The task of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.name() == name)
    }
}
