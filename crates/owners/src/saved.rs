//! Owners that were valued before: what `owners` wrote, read again.

use crate::report::{Interaction, Measured, OwnerLine, SharedRows};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use dshap_io::{ScanOptions, Source};
use dshap_models::{Error, OwnersFault};
use dshap_table::{Kind, ReadAs, Wanted};
use serde::Deserialize;
use std::path::Path;

/// What a file of `owners` has. A table has the owners only; an object of JSON has it all.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedOwners {
    /// The owners.
    pub owners: Vec<OwnerLine>,
    /// Pairs of owners, from the strongest substitutes on.
    #[serde(default)]
    pub interactions: Vec<Interaction>,
    /// Pairs of owners that have rows in common.
    #[serde(default)]
    pub shared: Option<Vec<SharedRows>>,
    /// Which rows measured utility, if that is known.
    #[serde(default)]
    pub measured_on: Option<Measured>,
    /// How many.
    #[serde(default)]
    pub n_test: Option<u64>,
    /// What all owners are worth together.
    #[serde(default)]
    pub total: Option<f64>,
    /// `regression`, `classification` or `density`.
    #[serde(default)]
    pub task: Option<String>,
    /// The column that names the owners.
    #[serde(default)]
    pub by: Option<String>,
}

/// Whether a table is an output of `owners`: it has the columns `owner` and `shapley`.
pub fn holds_owners(source: &Source) -> bool {
    let kind = |name| source.schema().column(name).map(|column| &column.kind);
    kind("owner").is_some() && kind("shapley") == Some(&Kind::Number)
}

impl SavedOwners {
    /// Reads an object of JSON; none if the file holds something else.
    pub fn of_json(path: &Path) -> Option<Self> {
        Self::of_text(&std::fs::read_to_string(path).ok()?)
    }

    /// Reads an object of JSON; none if the text is something else.
    pub fn of_text(text: &str) -> Option<Self> {
        let saved: Self = serde_json::from_str(text).ok()?;
        (!saved.owners.is_empty()).then_some(saved)
    }

    /// Reads a table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`OwnersFault::NotANumber`].
    pub fn of_table(source: &Source) -> Result<Self, Error> {
        const NUMBERS: [&str; 14] = [
            "rows",
            "row_sum",
            "row_sum_stderr",
            "row_mean",
            "below_zero",
            "joint",
            "shapley",
            "stderr",
            "given_own",
            "given_own_stderr",
            "duplicates",
            "near",
            "near_repeated",
            "repeated",
        ];
        let file = source.files().next().unwrap_or_default().to_owned();
        let known: Vec<&str> =
            NUMBERS.into_iter().filter(|name| source.schema().column(name).is_some()).collect();
        let mut wanted = vec![Wanted { name: "owner".into(), read_as: ReadAs::Text }];
        wanted.extend(known.iter().map(|name| Wanted { name: (*name).into(), read_as: ReadAs::Number }));
        let mut owners = Vec::new();
        for batch in source.scan(&wanted, ScanOptions::default())? {
            let rows = batch?.rows;
            for row in (0..rows.num_rows()).filter(|&row| rows.column(0).is_valid(row)) {
                owners.push(line(&rows, &known, row).map_err(|owner| OwnersFault::NotANumber {
                    file: file.clone(),
                    column: "shapley".into(),
                    owner,
                })?);
            }
        }
        source.check_unchanged()?;
        Ok(Self {
            owners,
            interactions: Vec::new(),
            shared: None,
            measured_on: None,
            n_test: None,
            total: None,
            task: None,
            by: None,
        })
    }
}

/// The owner in a row; its name if it has no value.
fn line(rows: &RecordBatch, known: &[&str], row: usize) -> Result<OwnerLine, String> {
    let owner = rows.column(0).as_string::<i32>().value(row).to_owned();
    let cell = |name: &str| {
        let place = known.iter().position(|one| *one == name)?;
        let cells = rows.column(place + 1).as_primitive::<Float64Type>();
        cells.is_valid(row).then(|| cells.value(row))
    };
    let count = |name: &str| cell(name).map(|count| count as u64);
    let Some(shapley) = cell("shapley") else { return Err(owner) };
    Ok(OwnerLine {
        rows: count("rows").unwrap_or(0),
        row_sum: cell("row_sum"),
        row_sum_stderr: cell("row_sum_stderr"),
        row_mean: cell("row_mean"),
        below_zero: cell("below_zero"),
        joint: cell("joint"),
        sizes: Vec::new(),
        shapley,
        stderr: cell("stderr"),
        given_own: cell("given_own"),
        given_own_stderr: cell("given_own_stderr"),
        duplicates: count("duplicates"),
        near: count("near"),
        near_repeated: count("near_repeated"),
        repeated: count("repeated"),
        owner,
    })
}
