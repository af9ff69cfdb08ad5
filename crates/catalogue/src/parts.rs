//! The parts that values come with.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// The names of the parts that values come with, by what is valued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// For a target of numbers.
    pub regression: &'static [&'static str],
    /// For a target of two labels.
    pub two_labels: &'static [&'static str],
    /// For a target of more labels. With one model for each label, values by label come on demand.
    pub more_labels: &'static [&'static str],
    /// Without a target.
    pub density: &'static [&'static str],
}

impl Parts {
    /// Values alone.
    pub const NONE: Self = Self { regression: &[], two_labels: &[], more_labels: &[], density: &[] };

    /// Each case that has parts, by its name.
    pub fn cases(&self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        let all = [
            ("regression", self.regression),
            ("two labels", self.two_labels),
            ("more labels", self.more_labels),
            ("density", self.density),
        ];
        all.into_iter().filter(|(_, names)| !names.is_empty())
    }

    /// Whether values come with this part, whatever is valued.
    pub fn have(&self, name: &str) -> bool {
        self.cases().any(|(_, names)| names.contains(&name))
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (case, names) in self.cases() {
            map.serialize_entry(case, names)?;
        }
        map.end()
    }
}
