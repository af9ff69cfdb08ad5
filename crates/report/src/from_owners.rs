//! The page of owners that were valued before, such as a file that `dshap owners` wrote.

use crate::advice::{Players, owners_section};
use crate::from_values::reproduced;
use crate::html::{escaped, section};
use crate::page::around;
use dshap_models::InputFile;
use dshap_owners::SavedOwners;
use dshap_words::{counted, grouped, significant};

/// Owners without the rows that they own.
#[derive(Debug)]
pub struct OwnersReport<'a> {
    /// What they are called, such as the name of a file.
    pub title: &'a str,
    /// The files they come from.
    pub files: &'a [InputFile],
    /// What makes this page again.
    pub command: Option<&'a str>,
    /// The owners.
    pub found: &'a SavedOwners,
}

impl OwnersReport<'_> {
    /// The page: one HTML file.
    pub fn page(&self) -> String {
        let SavedOwners { owners, interactions, shared, measured_on, .. } = self.found;
        let players = Players {
            owners,
            interactions,
            shared: shared.as_deref().unwrap_or_default(),
            measured_on: *measured_on,
        };
        let body =
            [self.overview(), owners_section(&players), reproduced("owners", self.files, self.command)];
        let below = "from owners that were valued before";
        around(self.title, below, env!("CARGO_PKG_VERSION"), &body.concat())
    }

    fn overview(&self) -> String {
        let found = self.found;
        let n_rows: u64 = found.owners.iter().map(|line| line.rows).sum();
        let mut tiles = vec![("owners", grouped(found.owners.len() as u64))];
        if n_rows > 0 {
            tiles.push(("rows", grouped(n_rows)));
        }
        let total = found.total.unwrap_or_else(|| found.owners.iter().map(|line| line.shapley).sum());
        tiles.push(("all together bring", significant(total)));
        if let Some(n_test) = found.n_test {
            tiles.push(("test rows", grouped(n_test)));
        }
        let tiles: String = tiles
            .iter()
            .map(|(name, number)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(number)))
            .collect();
        let task = found.task.as_ref().map_or(String::new(), |task| format!(", {task}"));
        let by = found.by.as_ref().map_or(String::new(), |by| format!(" in column `{by}`"));
        let what = format!(
            "{}{by}{task}. The value of an owner is what its rows add, on average over all orders in which owners may \
             join. The values add up to what all bring together.",
            counted(found.owners.len() as u64, "owner")
        );
        section("overview", "What was valued", &what, &format!("<dl class=\"tiles\">\n{tiles}</dl>\n"))
    }
}
