//! Looking columns up by name.

use std::collections::HashMap;

/// More columns of a text file are taken for a mistake. Each takes kilobytes while a file
/// is opened, and no method values as many.
pub(crate) const MAX_TEXT_COLUMNS: usize = 200_000;

/// The position of each name. Tables may have thousands of columns; a linear search
/// for each takes longer than reading.
pub(crate) fn positions<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut positions = HashMap::new();
    for (position, name) in names.enumerate() {
        positions.entry(name).or_insert(position);
    }
    positions
}
