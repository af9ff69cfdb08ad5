//! Random option sets, tables of extreme numbers, and valuers that somebody wrote by hand:
//! each is valued or refused, none makes dshap panic, and no value is infinite.

use crate::common::{Asked, Folder};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use dshap_catalogue::{Given, Kind, OptionEntry, Value, options};
use dshap_io::Container;
use dshap_run::{FORMAT_VERSION, Summary, ValueRequest, methods};
use dshap_testkit::{Attack, fuzz};
use std::fmt::Write;

/// Rows of a label, a text and numbers, which most methods can value.
fn table() -> String {
    let mut csv = String::from("a,b,kind,y,label,owner\n");
    for i in 0..24_i32 {
        let (a, b) = (f64::from(i * 7 % 11), f64::from(i * i % 13) / 4.0);
        let y = 2.0 * a - b + f64::from(i * 5 % 9) / 3.0;
        let _ = writeln!(csv, "{a},{b},{},{y},{},{}", ["x", "y", "z"][i as usize % 3], i * 3 % 7 % 2, i % 4);
    }
    csv
}

/// A bound that is infinite is warned of.
#[track_caller]
fn no_value_is_infinite_in_silence(rows: &RecordBatch, summary: &Summary) {
    if !summary.warnings.is_empty() {
        return;
    }
    for name in ["value", "stderr"] {
        let column = rows.column_by_name(name).map(|column| column.as_primitive_opt::<Float64Type>());
        let Some(Some(cells)) = column else { continue };
        let is_bad = |row: usize| cells.is_valid(row) && !cells.value(row).is_finite();
        let found = (0..cells.len()).find(|&row| is_bad(row));
        assert_eq!(found, None, "column {name} of row {found:?}");
    }
}

fn random_value(attack: &mut Attack, option: &OptionEntry, folder: &Folder) -> Option<Value> {
    const NAMES: [&str; 8] = ["a", "b", "kind", "y", "label", "owner", "", "no such"];
    let count = |attack: &mut Attack| *attack.one_of(&[0, 1, 2, 3, 5, 12, 24, 25, 100, 1 << 40, u64::MAX]);
    let number =
        |attack: &mut Attack| *attack.one_of(&[0.0, 1e-300, 1e-9, 0.5, 0.999, 1.0, 3.0, 1e9, 1e300, -1.0]);
    let value = match option.takes {
        Kind::Switch => Value::On,
        Kind::Number { .. } => Value::Number(number(attack)),
        Kind::Count { .. } | Kind::Bytes => Value::Count(count(attack)),
        Kind::Counts { .. } => match attack.below(2) {
            0 => Value::Count(count(attack)),
            _ => Value::Counts(vec![count(attack), count(attack)]),
        },
        Kind::Choice { words } => Value::Word(attack.one_of(words).word.into()),
        Kind::WordOrNumber { words, .. } => match attack.below(2) {
            0 => Value::Word(attack.one_of(words).word.into()),
            _ => Value::Number(number(attack)),
        },
        Kind::Semivalue => {
            let words = ["shapley", "banzhaf", "at-m", "beta:1,16", "beta:0.001,1000", "beta:1000,1000"];
            Value::Word((*attack.one_of(&words)).into())
        }
        Kind::Constant => Value::Word((*attack.one_of(&["gain", "theorem", "full:2", "full:1e300"])).into()),
        Kind::Text => Value::Word((*attack.one_of(&NAMES)).into()),
        Kind::Names => Value::List(vec![(*attack.one_of(&NAMES)).into()]),
        Kind::Files => Value::List(vec![folder.name("t.csv")]),
        // Outputs of the command line.
        Kind::File => return None,
    };
    option.takes.accepts(&value).then_some(value)
}

#[test]
fn any_option_set_is_valued_or_refused() {
    let folder = Folder::new();
    folder.write("t.csv", &table());
    let all: Vec<&'static OptionEntry> = options::all().collect();
    let names: Vec<&str> = methods::entries().iter().map(|entry| entry.name).collect();
    fuzz("options", |attack| {
        let mut given = Given::new();
        if attack.below(8) > 0 {
            let target = *attack.one_of(&["y", "label", "kind"]);
            given = given.with(&options::TARGET, Value::Word(target.into()));
        }
        for _ in 0..attack.below(5) {
            let option = *attack.one_of(&all);
            if let Some(value) = random_value(attack, option, &folder) {
                given.set(option, value).expect("was checked");
            }
        }
        // Drawing as many sets as a random number asks for takes for ever.
        if given.has(&options::SAMPLES) || given.has(&options::STOP_DRAWS) {
            given = given.with(&options::SAMPLES, Value::Count(3));
        }
        let method =
            (attack.below(4) > 0).then(|| methods::find(attack.one_of::<&str>(&names)).expect("is listed"));
        let request = ValueRequest { method, ..ValueRequest::new(vec![folder.name("t.csv")], given) };
        if let Ok((rows, summary)) = Folder::valued(&request) {
            no_value_is_infinite_in_silence(&rows, &summary);
        }
    });
}

#[test]
fn any_numbers_are_valued_or_refused() {
    let folder = Folder::new();
    let names: Vec<&str> = methods::entries().iter().map(|entry| entry.name).collect();
    fuzz("numbers", |attack| {
        let scale = *attack.one_of(&[5e-324, 1e-310, 1e-200, 1e-150, 1e-9, 1.0, 1e15, 1e150, 1e200, 1e300]);
        let offset = *attack.one_of(&[0.0, 0.0, 1.0, 1e15]);
        let mut csv = String::from("a,b,y\n");
        for i in 0..20 {
            let mut cell = |k: i32| match attack.below(40) {
                0 => attack.double(),
                _ => offset + scale * f64::from((i * k) % 7 - 3),
            };
            let (a, b, y) = (cell(3), cell(5), cell(4));
            // An infinite cell is refused by the reader; that is another target.
            let finite = |x: f64| if x.is_finite() { x } else { 1.0 };
            let _ = writeln!(csv, "{:e},{:e},{:e}", finite(a), finite(b), finite(y));
        }
        folder.write("n.csv", &csv);
        let method = methods::find(attack.one_of::<&str>(&names)).expect("is listed");
        if let Ok((rows, summary)) =
            folder.try_value("n.csv", Asked { method: Some(method), ..Asked::new("y") })
        {
            no_value_is_infinite_in_silence(&rows, &summary);
        }
    });
}

/// Numbers and words of a valuer are changed, and its checksum made right again.
#[test]
fn valuers_written_by_hand_are_used_or_refused() {
    let folder = Folder::new();
    folder.write("t.csv", &table());
    let kinds: [(&str, &str, &str); 5] = [
        ("linear", "gaussian", "y"),
        ("general", "general", "y"),
        ("labels", "gaussian", "label"),
        ("second", "second-order", "label"),
        ("near", "knn", "y"),
    ];
    let mut seeds = Vec::new();
    for (name, method, target) in kinds {
        let asked = Asked::new(target).by(method);
        folder.fit(&["t.csv"], asked, name);
        seeds.push(Container::read(&folder.path(name), "valuer", FORMAT_VERSION).expect("was written"));
    }
    fuzz("valuers", |attack| {
        let mut container = attack.one_of(&seeds).clone();
        for _ in 0..=attack.below(3) {
            let n_arrays = container.arrays.len();
            match attack.below(5) {
                0 => {
                    let bytes = attack.damage(container.document.as_bytes());
                    container.document = String::from_utf8_lossy(&bytes).into_owned();
                }
                1 if n_arrays > 0 => drop(container.arrays.remove(attack.below(n_arrays))),
                2 if n_arrays > 0 => {
                    let (array, n) = (attack.below(n_arrays), attack.below(5));
                    container.arrays[array].1.truncate(n);
                }
                3 if n_arrays > 0 => {
                    let (array, cell) = (attack.below(n_arrays), attack.double());
                    container.arrays[array].1.push(cell);
                }
                _ if n_arrays > 0 => {
                    let array = &mut container.arrays[attack.below(n_arrays)].1;
                    if !array.is_empty() {
                        let at = attack.below(array.len());
                        array[at] = attack.double();
                    }
                }
                _ => {}
            }
        }
        let Ok(bytes) = container.to_bytes() else { return };
        std::fs::write(folder.path("bad.dshap"), bytes).expect("the folder is ours");
        let request = ValueRequest {
            valuer: Some(folder.path("bad.dshap")),
            ..ValueRequest::new(vec![folder.name("t.csv")], Given::new())
        };
        let _ = Folder::valued(&request);
    });
}
