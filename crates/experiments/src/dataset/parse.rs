//! The formats of the sources, and the tables they become.

use crate::Table;

/// How the text of a source becomes a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Format {
    /// Numbers with a separator, a fixed number of them in each line, the target
    /// last. Any amount of white space counts as one separator.
    Numbers {
        /// The separator; a blank means any white space.
        separator: char,
        /// Whether the first line names the columns.
        has_header: bool,
        /// The names of the features.
        names: &'static [&'static str],
        /// The target that becomes 1, while all others become 0; without it, targets
        /// stay as they are.
        positive: Option<f64>,
    },
    /// UCI abalone: a letter for the sex, seven numbers, the rings.
    Abalone,
    /// UCI breast cancer (diagnostic): a number, M or B, thirty numbers.
    Wdbc,
    /// UCI optical digits: 64 counts and the digit.
    Digits,
    /// LIBSVM: a label, then `index:value` for cells that are not 0.
    Libsvm {
        /// The names of the features.
        names: &'static [&'static str],
        /// The label that becomes 1.
        positive: f64,
    },
    /// Pima as in LIBSVM: columns mapped to [−1, 1] and rounded to six digits, with
    /// label 1 for those who tested negative.
    PimaScaled,
    /// The same without rows that have a 0, which the authors' parser drops.
    PimaScaledAuthors,
    /// LIBSVM's australian as the authors' parser reads it: only lines with 12 cells
    /// that are not 0, and only those cells.
    AustralianAuthors,
}

pub(super) const PIMA: &[&str] =
    &["pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "bmi", "pedigree", "age"];
pub(super) const AUSTRALIAN: &[&str] =
    &["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a14"];

const ABALONE: [&str; 10] = [
    "length",
    "diameter",
    "height",
    "whole_weight",
    "shucked_weight",
    "viscera_weight",
    "shell_weight",
    "sex_F",
    "sex_I",
    "sex_M",
];
const WDBC: [&str; 10] = [
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
];

/// Cells of a line that the authors' parser keeps.
const AUTHORS_CELLS: usize = 12;

impl Format {
    /// Names of the features of the table.
    pub fn names(self) -> Vec<String> {
        let own = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        match self {
            Format::Numbers { names, .. } | Format::Libsvm { names, .. } => own(names),
            Format::Abalone => own(&ABALONE),
            Format::Wdbc => {
                let kinds = ["mean", "se", "worst"];
                kinds.iter().flat_map(|kind| WDBC.map(|name| wdbc_name(kind, name))).collect()
            }
            Format::Digits => (0..8).flat_map(|i| (0..8).map(move |j| format!("pixel_{i}_{j}"))).collect(),
            Format::PimaScaled | Format::PimaScaledAuthors => own(PIMA),
            Format::AustralianAuthors => (1..=AUTHORS_CELLS).map(|j| format!("nz{j}")).collect(),
        }
    }

    /// The table in `text`.
    ///
    /// # Errors
    ///
    /// What is wrong, with its line.
    pub fn parse(self, text: &str) -> Result<Table, String> {
        Ok(Table::from_rows(&self.names(), &self.rows(text)?))
    }

    /// Its rows, the target last.
    fn rows(self, text: &str) -> Result<Vec<Vec<f64>>, String> {
        match self {
            Format::Numbers { separator, has_header, names, positive } => {
                let mut rows = lines(text, usize::from(has_header), |line| {
                    let cells = numbers(cells(line, separator))?;
                    of_length(cells, names.len() + 1)
                })?;
                if let Some(positive) = positive {
                    for row in &mut rows {
                        row[names.len()] = f64::from(u8::from(row[names.len()] == positive));
                    }
                }
                Ok(rows)
            }
            Format::Abalone => lines(text, 0, |line| {
                let (sex, rest) = line.split_once(',').ok_or("there is no comma")?;
                let sexes = ["F", "I", "M"].map(|letter| f64::from(u8::from(letter == sex.trim())));
                if sexes.iter().sum::<f64>() != 1.0 {
                    return Err(format!("`{sex}` is not F, I or M"));
                }
                let mut row = of_length(numbers(cells(rest, ','))?, 8)?;
                row.splice(7..7, sexes);
                Ok(row)
            }),
            Format::Wdbc => lines(text, 0, |line| {
                let mut cells = line.split(',').skip(1);
                let benign = match cells.next().map(str::trim) {
                    Some("B") => 1.0,
                    Some("M") => 0.0,
                    other => return Err(format!("`{}` is not M or B", other.unwrap_or_default())),
                };
                let mut row = of_length(numbers(cells)?, 30)?;
                row.push(benign);
                Ok(row)
            }),
            Format::Digits => lines(text, 0, |line| of_length(numbers(cells(line, ','))?, 65)),
            Format::Libsvm { names, positive } => lines(text, 0, |line| libsvm(line, names.len(), positive)),
            Format::PimaScaled => pima_scaled(text),
            Format::PimaScaledAuthors => {
                let mut rows = pima_scaled(text)?;
                rows.retain(|row| row[..PIMA.len()].iter().all(|cell| *cell != 0.0));
                Ok(rows)
            }
            Format::AustralianAuthors => {
                let sparse = lines(text, 0, |line| libsvm(line, AUSTRALIAN.len(), 1.0))?;
                let rows = sparse.into_iter().filter_map(|row| {
                    let (cells, target) = row.split_at(AUSTRALIAN.len());
                    let mut cells: Vec<f64> = cells.iter().copied().filter(|cell| *cell != 0.0).collect();
                    (cells.len() == AUTHORS_CELLS).then(|| {
                        cells.extend(target);
                        cells
                    })
                });
                Ok(rows.collect())
            }
        }
    }
}

fn wdbc_name(kind: &str, name: &str) -> String {
    match kind {
        "se" => format!("{name}_error"),
        kind => format!("{kind}_{name}"),
    }
}

/// Rows of the lines that are not blank; errors name the line.
fn lines(
    text: &str,
    skip: usize,
    row: impl Fn(&str) -> Result<Vec<f64>, String>,
) -> Result<Vec<Vec<f64>>, String> {
    let rows: Vec<Vec<f64>> = text
        .lines()
        .enumerate()
        .skip(skip)
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(i, line)| row(line).map_err(|reason| format!("line {}: {reason}", i + 1)))
        .collect::<Result<_, String>>()?;
    if rows.is_empty() { Err("there are no rows".into()) } else { Ok(rows) }
}

fn cells(line: &str, separator: char) -> Box<dyn Iterator<Item = &str> + '_> {
    if separator == ' ' { Box::new(line.split_whitespace()) } else { Box::new(line.split(separator)) }
}

fn numbers<'a>(cells: impl Iterator<Item = &'a str>) -> Result<Vec<f64>, String> {
    cells.map(number).collect()
}

fn number(cell: &str) -> Result<f64, String> {
    let number: Option<f64> = cell.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{}` is not a number", cell.trim()))
}

fn of_length(row: Vec<f64>, n: usize) -> Result<Vec<f64>, String> {
    if row.len() == n { Ok(row) } else { Err(format!("{} cells, expected {n}", row.len())) }
}

/// A line of LIBSVM as a dense row, with its label last.
fn libsvm(line: &str, dim: usize, positive: f64) -> Result<Vec<f64>, String> {
    let mut cells = line.split_whitespace();
    let label = number(cells.next().unwrap_or_default())?;
    let mut row = vec![0.0; dim + 1];
    for cell in cells {
        let (index, value) = cell.split_once(':').ok_or_else(|| format!("`{cell}` is not index:value"))?;
        let index: usize = index.parse().map_err(|_| format!("`{index}` is not an index"))?;
        if !(1..=dim).contains(&index) {
            return Err(format!("there is no feature {index}"));
        }
        row[index - 1] = number(value)?;
    }
    row[dim] = f64::from(u8::from(label == positive));
    Ok(row)
}

fn pima_scaled(text: &str) -> Result<Vec<Vec<f64>>, String> {
    let p = PIMA.len();
    let mut rows = lines(text, 0, |line| of_length(numbers(cells(line, ','))?, p + 1))?;
    for j in 0..p {
        let column = rows.iter().map(|row| row[j]);
        let (low, high) = column.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        for row in &mut rows {
            row[j] = six_digits(-1.0 + 2.0 * (row[j] - low) / (high - low));
        }
    }
    for row in &mut rows {
        row[p] = 1.0 - row[p];
    }
    Ok(rows)
}

/// Rounded as C's `%g` prints.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().expect("a number as it was printed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_lines_become_dense_and_the_authors_parser_moves_cells() {
        let text = "+1 1:-1 2:0.5 3:-0.25 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 14:-0.5 \n-1 1:1 13:-1\n";
        let dense = Format::Libsvm { names: AUSTRALIAN, positive: 1.0 }.parse(text).unwrap();
        assert_eq!((dense.x[(0, 13)], dense.x[(0, 11)], dense.x[(1, 12)]), (-0.5, 0.0, -1.0));
        assert_eq!(dense.y, [1.0, 0.0]);
        let moved = Format::AustralianAuthors.parse(text).unwrap();
        assert_eq!((moved.y.len(), moved.x.ncols(), moved.x[(0, 11)]), (1, 12, -0.5));
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        let airfoil = Format::Numbers { separator: ' ', has_header: false, names: &["a"], positive: None };
        assert_eq!(airfoil.parse("1\t2\n\n3 x\n").unwrap_err(), "line 3: `x` is not a number");
        assert_eq!(airfoil.parse("1 2 3\n").unwrap_err(), "line 1: 3 cells, expected 2");
        assert_eq!(airfoil.parse("\n").unwrap_err(), "there are no rows");
        assert_eq!(Format::Abalone.parse("X,1\n").unwrap_err(), "line 1: `X` is not F, I or M");
        let libsvm = Format::Libsvm { names: &["a"], positive: 1.0 };
        assert_eq!(libsvm.parse("1 2:3\n").unwrap_err(), "line 1: there is no feature 2");
    }

    #[test]
    fn six_digits_are_those_of_c() {
        assert_eq!(six_digits(-0.294_117_647), -0.294_118);
        assert_eq!(six_digits(0.001_490_312_965_722_8), 0.001_490_31);
    }
}
