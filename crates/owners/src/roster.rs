//! Owners and their names.

use std::collections::HashMap;

/// Owners in the order in which their names come.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    places: HashMap<String, usize>,
    names: Vec<String>,
    /// Usable rows of each.
    pub(crate) n_rows: Vec<u64>,
    /// Usable rows of nobody.
    pub(crate) n_nobody: u64,
}

impl Roster {
    /// The number of an owner, who may be new, and one more row for it; none if the cell is
    /// empty.
    pub(crate) fn count(&mut self, name: Option<&str>) -> Option<usize> {
        let Some(name) = name else {
            self.n_nobody += 1;
            return None;
        };
        let place = match self.places.get(name) {
            Some(&place) => place,
            None => {
                self.places.insert(name.into(), self.names.len());
                self.names.push(name.into());
                self.n_rows.push(0);
                self.names.len() - 1
            }
        };
        self.n_rows[place] += 1;
        Some(place)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Names and rows by name, and the rank of each owner among them: results do not depend
    /// on who comes first in the table.
    pub(crate) fn sorted(self) -> Sorted {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&one, &two| self.names[one].cmp(&self.names[two]));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &owner)| rank[owner] = place);
        Sorted {
            names: order.iter().map(|&owner| self.names[owner].clone()).collect(),
            n_rows: order.iter().map(|&owner| self.n_rows[owner]).collect(),
            rank,
            n_nobody: self.n_nobody,
        }
    }
}

/// Owners by name.
#[derive(Debug, Clone)]
pub(crate) struct Sorted {
    pub(crate) names: Vec<String>,
    pub(crate) n_rows: Vec<u64>,
    /// The place of each owner, in the order in which they came.
    pub(crate) rank: Vec<usize>,
    pub(crate) n_nobody: u64,
}
