//! Looking columns up by name.

use std::collections::HashMap;

/// Where each name stands. Tables may have many thousand columns, for which a
/// search from the first on for each of them takes longer than reading.
pub(crate) fn positions<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut positions = HashMap::new();
    for (position, name) in names.enumerate() {
        positions.entry(name).or_insert(position);
    }
    positions
}
