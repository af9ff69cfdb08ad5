//! Runs the program in a folder of its own and shows what it did.

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use dshap_io::{Destination, Format, Sink};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// Size, age and price of some goods; the price of row 5 is out of line.
pub(crate) const GOODS: [(f64, u32, f64); 22] = [
    (33.75, 36, 80.4),
    (33.75, 33, 72.7),
    (42.5, 13, 120.3),
    (44.25, 12, 128.7),
    (11.0, 29, 12.1),
    (7.5, 39, 16.8),
    (30.25, 29, 67.3),
    (15.0, 40, 12.4),
    (5.75, 34, -5.6),
    (20.25, 39, 33.9),
    (6.75, 30, -3.2),
    (17.5, 34, 33.4),
    (19.75, 19, 40.1),
    (34.25, 18, 90.2),
    (31.0, 36, 75.5),
    (21.25, 21, 48.8),
    (19.5, 33, 35.0),
    (11.75, 26, 18.5),
    (11.75, 19, 14.3),
    (5.0, 14, 11.8),
    (18.25, 4, 40.9),
    (30.25, 27, 74.0),
];

/// The goods as CSV.
pub(crate) fn goods() -> String {
    goods_with("", |_| String::new())
}

/// The goods with more columns in front: `header` and what `cells` gives for
/// each row, both with a comma behind.
pub(crate) fn goods_with(header: &str, cells: impl Fn(usize) -> String) -> String {
    let mut csv = format!("{header}size,age,price\n");
    for (row, (size, age, price)) in GOODS.iter().enumerate() {
        let _ = writeln!(csv, "{}{size},{age},{price}", cells(row));
    }
    csv
}

/// A table of `n` rows with one feature and a noisy target.
pub(crate) fn many_rows(n: usize) -> String {
    let mut draws = dshap_testkit::Draws::new(17);
    let mut csv = String::from("x,y\n");
    for _ in 0..n {
        let x = draws.normal();
        let _ = writeln!(csv, "{x:.6},{:.6}", 2.0 * x + draws.normal());
    }
    csv
}

/// The program under test.
pub(crate) fn program() -> PathBuf {
    PathBuf::from(assert_cmd::cargo::cargo_bin!("dshap"))
}

/// A temporary folder in which the program runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder that holds one file.
    pub(crate) fn with(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        Self::new().and(name, bytes)
    }

    /// The same folder with one more file.
    pub(crate) fn and(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.write(name, bytes);
        self
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("the folder can be written to");
    }

    /// Writes the goods as Parquet.
    pub(crate) fn write_parquet(&self, name: &str) {
        let column = |cell: fn(&(f64, u32, f64)) -> f64| -> ArrayRef {
            Arc::new(GOODS.iter().map(|row| Some(cell(row))).collect::<Float64Array>())
        };
        let columns = [
            ("size", column(|row| row.0)),
            ("age", column(|row| f64::from(row.1))),
            ("price", column(|row| row.2)),
        ];
        let rows = RecordBatch::try_from_iter(columns).expect("columns of one length");
        let destination = Destination::File(self.path(name));
        let mut sink = Sink::create(&destination, Format::Parquet, rows.schema()).expect("begins");
        sink.write(&rows).expect("writes");
        sink.finish().expect("finishes");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("text")
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Lets every user enter.
    #[cfg(unix)]
    pub(crate) fn open_to_all(&self) {
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.0.path(), open).expect("is ours");
    }

    /// The names of all files, hidden ones too, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    /// `dshap …` as typed, without a shell; words are separated by blanks.
    pub(crate) fn command(&self, line: &str) -> Command {
        let words = line.strip_prefix("dshap").expect("lines begin with the program");
        let mut command = Command::new(program());
        command.args(words.split_whitespace()).current_dir(self.0.path()).env("TMPDIR", self.0.path());
        command
    }

    /// Runs a line with nothing on standard input.
    pub(crate) fn output(&self, line: &str) -> Output {
        self.command(line).stdin(Stdio::null()).output().expect("the program starts")
    }

    /// Runs a line that must succeed; its standard output.
    #[track_caller]
    pub(crate) fn stdout(&self, line: &str) -> String {
        let output = self.output(line);
        assert!(output.status.success(), "{}", block(line, &output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a line; command, exit code, standard output and standard error in
    /// one block, numbers to six digits.
    pub(crate) fn run(&self, line: &str) -> String {
        block(line, &self.output(line))
    }

    /// Runs a line whose standard input is `input`.
    pub(crate) fn output_with(&self, line: &str, input: &[u8]) -> Output {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("standard input is piped");
        // It may find a fault, and end, before it has read everything.
        match stdin.write_all(input) {
            Err(reason) if reason.kind() != std::io::ErrorKind::BrokenPipe => {
                panic!("cannot write: {reason}")
            }
            _ => drop(stdin),
        }
        child.wait_with_output().expect("the program ends")
    }

    /// Runs a line in bash, with `dshap` on the path.
    pub(crate) fn shell(&self, line: &str) -> String {
        let folder = program().parent().map(Path::to_path_buf).unwrap_or_default();
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .args(["-c", line])
            .current_dir(self.0.path())
            .env("PATH", format!("{}:{path}", folder.display()))
            .stdin(Stdio::null())
            .output()
            .expect("bash starts");
        block(line, &output)
    }
}

fn block(line: &str, output: &Output) -> String {
    let mut text = format!("$ {line}\n");
    let _ = writeln!(text, "exit {}", output.status.code().map_or("by signal".into(), |c| c.to_string()));
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            let _ = write!(text, "--- {name}\n{}", rounded(&String::from_utf8_lossy(bytes)));
        }
    }
    text
}

/// The text with its longer numbers rounded to six significant digits: the last
/// ones may differ between processors.
pub(crate) fn rounded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let inside_word = rest[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let end = start + number_length(&rest[start..]);
        out += &rest[..start];
        let number = &rest[start..end];
        let n_digits = number.split('e').next().unwrap_or("").bytes().filter(u8::is_ascii_digit).count();
        match number.parse::<f64>() {
            Ok(exact) if !inside_word && number.contains('.') && n_digits > 6 => {
                let six: f64 = format!("{exact:.5e}").parse().expect("a number");
                out += &format!("{six:?}");
            }
            _ => out += number,
        }
        rest = &rest[end..];
    }
    out + rest
}

/// Length of the number the text begins with.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    if text[length..].starts_with('.') {
        length += 1 + digits(&text[length + 1..]);
    }
    if let Some(power) = text[length..].strip_prefix('e') {
        let sign = usize::from(power.starts_with(['-', '+']));
        let n_digits = digits(&power[sign..]);
        if n_digits > 0 {
            length += 1 + sign + n_digits;
        }
    }
    length
}

/// A CSV without quotes, as the program writes it.
pub(crate) struct Csv {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    pub(crate) fn parse(text: &str) -> Self {
        let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<String>>());
        let header = lines.next().expect("a header");
        let rows: Vec<_> = lines.collect();
        assert!(rows.iter().all(|row| row.len() == header.len()), "ragged: {text}");
        Self { header, rows }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn header(&self) -> Vec<&str> {
        self.header.iter().map(String::as_str).collect()
    }

    #[track_caller]
    pub(crate) fn column(&self, name: &str) -> Vec<&str> {
        let index = self.header.iter().position(|have| have == name);
        let index = index.unwrap_or_else(|| panic!("no column {name} in {:?}", self.header));
        self.rows.iter().map(|row| row[index].as_str()).collect()
    }

    /// A column as numbers, NaN where a cell is empty.
    #[track_caller]
    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        let number = |cell: &str| if cell.is_empty() { f64::NAN } else { cell.parse().expect("a number") };
        self.column(name).into_iter().map(number).collect()
    }
}
