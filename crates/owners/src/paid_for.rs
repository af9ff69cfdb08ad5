//! What owners are paid for: read from a table of owners, or from row values.

use crate::seal::is_intact;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array};
use dshap::owners::Errors;
use dshap_catalogue::Given;
use dshap_catalogue::options::{BASIS, BY};
use dshap_io::{ScanOptions, Source};
use dshap_models::{Error, InputFile, OwnersFault};
use dshap_run::open;
use dshap_table::{ReadAs, Wanted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Owners and what they are paid for.
#[derive(Debug, Clone)]
pub(crate) struct PaidFor {
    pub(crate) basis: &'static str,
    /// By name.
    pub(crate) owners: BTreeMap<String, Worth>,
    /// How far values may be off, owners in the order of their names.
    pub(crate) errors: Option<Errors>,
    pub(crate) files: Vec<InputFile>,
    /// Whether the file has a digest of its own, which is right.
    pub(crate) is_sealed: bool,
}

/// One owner.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Worth {
    pub(crate) rows: Option<u64>,
    pub(crate) value: f64,
    pub(crate) stderr: Option<f64>,
}

/// The column of a basis.
fn column_of(basis: &str) -> &'static str {
    match basis {
        "given-own" => "given_own",
        "rows" => "row_sum",
        _ => "shapley",
    }
}

/// The column with the standard errors of a basis.
fn errors_of(basis: &str) -> &'static str {
    match basis {
        "given-own" => "given_own_stderr",
        "rows" => "row_sum_stderr",
        _ => "stderr",
    }
}

/// Where an object of `owners` has the covariances of a basis.
fn covariance_of(basis: &str) -> &'static str {
    match basis {
        "given-own" => "given_own_covariance",
        "rows" => "row_sum_covariance",
        _ => "covariance",
    }
}

impl PaidFor {
    /// Owners in memory.
    pub(crate) fn of(
        given_owners: Vec<(String, Option<u64>, f64, Option<f64>)>,
        covariance: Option<Vec<Vec<f64>>>,
        given: &Given,
    ) -> Result<Self, Error> {
        let (n, mut owners) = (given_owners.len(), BTreeMap::new());
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| given_owners[i].0.cmp(&given_owners[j].0));
        let is_square = |rows: &Vec<Vec<f64>>| rows.len() == n && rows.iter().all(|row| row.len() == n);
        let joint = covariance.filter(is_square).map(|rows| {
            Errors::Joint(order.iter().map(|&i| order.iter().map(|&j| rows[i][j]).collect()).collect())
        });
        for (name, rows, value, stderr) in given_owners {
            add(&mut owners, "owners", &name, Worth { rows, value, stderr })?;
        }
        let errors = joint.or_else(|| independent(&owners));
        let basis = known(given.word(&BASIS).unwrap_or("shapley"));
        Ok(Self { basis, owners, errors, files: Vec::new(), is_sealed: false })
    }

    /// Reads a table.
    pub(crate) fn read(files: &[String], given: &Given, outputs: &[PathBuf]) -> Result<Self, Error> {
        if let [file] = files
            && Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
        {
            return Self::of_json(file, given);
        }
        let source = open(files, outputs)?;
        let read = match source.schema().column("owner").is_some() && !given.has(&BY) {
            true => Self::of_owners(&source, given)?,
            false => Self::of_values(&source, given)?,
        };
        source.check_unchanged()?;
        Ok(read)
    }

    /// The object that `owners` writes as JSON.
    fn of_json(file: &str, given: &Given) -> Result<Self, Error> {
        let bytes =
            std::fs::read(file).map_err(|reason| dshap_io::Error::Read { file: file.into(), reason })?;
        let lacks = |column: &str| OwnersFault::Lacks { file: file.into(), column: column.into() };
        let document: serde_json::Value = serde_json::from_slice(&bytes).map_err(|_| lacks("owners"))?;
        let is_intact = is_intact(&document);
        if is_intact == Some(false) {
            return Err(OwnersFault::Edited { file: file.into() }.into());
        }
        let lines = document["owners"].as_array().ok_or_else(|| lacks("owners"))?;
        let basis = given.word(&BASIS).unwrap_or("shapley");
        let (column, mut owners) = (column_of(basis), BTreeMap::new());
        for line in lines {
            let name = line["owner"].as_str().ok_or_else(|| lacks("owner"))?;
            let worth = Worth {
                rows: line["rows"].as_u64(),
                value: line[column].as_f64().ok_or_else(|| lacks(column))?,
                stderr: line[errors_of(basis)].as_f64(),
            };
            add(&mut owners, file, name, worth)?;
        }
        // Lines are sorted by name, as owners are here.
        let is_sorted = lines.windows(2).all(|pair| pair[0]["owner"].as_str() < pair[1]["owner"].as_str());
        let is_square = |rows: &Vec<Vec<f64>>| {
            is_sorted && rows.len() == lines.len() && rows.iter().all(|row| row.len() == lines.len())
        };
        let covariance = serde_json::from_value::<Vec<Vec<f64>>>(document[covariance_of(basis)].clone()).ok();
        let joint = covariance.filter(is_square).map(Errors::Joint);
        let errors = joint.or_else(|| independent(&owners));
        let files = vec![InputFile::of_valuer(Path::new(file), true)?];
        Ok(Self { basis: known(basis), owners, errors, files, is_sealed: is_intact.is_some() })
    }

    /// One row per owner.
    fn of_owners(source: &Source, given: &Given) -> Result<Self, Error> {
        let basis = given.word(&BASIS).unwrap_or("shapley");
        let (column, file) = (column_of(basis), first_file(source));
        let has = |name: &str| source.schema().column(name).is_some();
        if !has(column) {
            return Err(OwnersFault::Lacks { file, column: column.into() }.into());
        }
        let errors = errors_of(basis);
        let optional = ["rows", errors].into_iter().filter(|name| has(name));
        let names: Vec<&str> = [column].into_iter().chain(optional).collect();
        let mut owners = BTreeMap::new();
        each(source, "owner", &names, |name, cells| {
            let cell = |name: &str| names.iter().position(|one| *one == name).and_then(|place| cells[place]);
            let not_a_number =
                || OwnersFault::NotANumber { file: file.clone(), column: column.into(), owner: name.into() };
            let worth = Worth {
                rows: cell("rows").map(|rows| rows as u64),
                value: cell(column).ok_or_else(not_a_number)?,
                stderr: cell(errors),
            };
            add(&mut owners, &file, name, worth)
        })?;
        let errors = independent(&owners);
        let files = InputFile::of(source, true)?;
        Ok(Self { basis: known(basis), owners, errors, files, is_sealed: false })
    }

    /// One row per row: values are summed by owner.
    fn of_values(source: &Source, given: &Given) -> Result<Self, Error> {
        let file = first_file(source);
        let by = given.word(&BY).unwrap_or("owner");
        for column in [by, "value"] {
            if source.schema().column(column).is_none() {
                return Err(OwnersFault::Lacks { file, column: column.into() }.into());
            }
        }
        if let Some(basis) = given.word(&BASIS).filter(|basis| *basis != "rows") {
            return Err(OwnersFault::Lacks { file, column: column_of(basis).into() }.into());
        }
        let mut owners: BTreeMap<String, Worth> = BTreeMap::new();
        each(source, by, &["value"], |name, cells| {
            if let Some(value) = cells[0] {
                let worth = owners.entry(name.into()).or_default();
                (worth.value, worth.rows) = (worth.value + value, Some(worth.rows.unwrap_or(0) + 1));
            }
            Ok(())
        })?;
        let files = InputFile::of(source, true)?;
        Ok(Self { basis: "rows", owners, errors: None, files, is_sealed: false })
    }
}

fn known(basis: &str) -> &'static str {
    match basis {
        "given-own" => "given-own",
        "rows" => "rows",
        _ => "shapley",
    }
}

fn first_file(source: &Source) -> String {
    source.files().next().unwrap_or_default().into()
}

fn add(owners: &mut BTreeMap<String, Worth>, file: &str, name: &str, worth: Worth) -> Result<(), Error> {
    match owners.insert(name.into(), worth) {
        None => Ok(()),
        Some(_) => Err(OwnersFault::Twice { file: file.into(), owner: name.into() }.into()),
    }
}

/// Standard errors that do not depend on each other, if all owners have one.
fn independent(owners: &BTreeMap<String, Worth>) -> Option<Errors> {
    owners.values().map(|worth| worth.stderr).collect::<Option<Vec<f64>>>().map(Errors::Independent)
}

/// Shows the name and the numbers of every row that has a name.
fn each(
    source: &Source,
    name: &str,
    numbers: &[&str],
    mut see: impl FnMut(&str, &[Option<f64>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut wanted = vec![Wanted { name: name.into(), read_as: ReadAs::Text }];
    wanted.extend(numbers.iter().map(|name| Wanted { name: (*name).into(), read_as: ReadAs::Number }));
    for batch in source.scan(&wanted, ScanOptions::default())? {
        let rows = batch?.rows;
        let names = rows.column(0).as_string::<i32>();
        let columns: Vec<&Float64Array> =
            (1..rows.num_columns()).map(|j| rows.column(j).as_primitive::<Float64Type>()).collect();
        for row in (0..rows.num_rows()).filter(|&row| names.is_valid(row)) {
            let cell = |cells: &&Float64Array| {
                cells.is_valid(row).then(|| cells.value(row)).filter(|cell| cell.is_finite())
            };
            see(names.value(row), &columns.iter().map(cell).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}
