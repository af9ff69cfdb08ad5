//! Tables larger than memory, and runs that are killed.

#![cfg(unix)]

use crate::common::Folder;
use dshap_io::Container;
use dshap_testkit::Draws;
use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// `n` rows of six features and a target; blocks repeat, so that it is written quickly.
fn table(n: usize) -> String {
    const BLOCK: usize = 10_000;
    let mut draws = Draws::new(21);
    let mut block = String::new();
    for _ in 0..BLOCK {
        let mut y = draws.normal();
        for j in 0..6 {
            let x = draws.normal();
            y += f64::from(j) * x;
            let _ = write!(block, "{x},");
        }
        let _ = writeln!(block, "{y}");
    }
    let mut csv = String::from("a,b,c,d,e,f,y\n");
    csv.reserve(block.len() * n.div_ceil(BLOCK));
    (0..n / BLOCK).for_each(|_| csv += &block);
    csv
}

/// However often and whenever a run is killed, its checkpoint is whole, no
/// work is done twice for long, and the valuer has the same bytes.
#[test]
fn a_killed_fit_goes_on_and_ends_with_the_same_bits() {
    let folder = Folder::with("big.csv", table(250_000));
    // Little memory makes many batches, and there is a checkpoint after each.
    let started = Instant::now();
    let fit = "dshap fit big.csv --target y --memory 64MB";
    folder.stdout(&format!("{fit} -o whole.dshap"));
    let whole = started.elapsed();
    let line = format!("{fit} --checkpoint state --checkpoint-every 0 -o killed.dshap");

    let mut draws = Draws::new(std::process::id().into());
    let (mut rows, mut n_resumed) = (0, 0);
    for _ in 0..60 {
        let mut child =
            folder.command(&line).stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        std::thread::sleep(whole.mul_f64(0.6 * draws.uniform()));
        let _ = child.kill();
        let _ = child.wait();
        if !folder.path("state").exists() {
            if folder.path("killed.dshap").exists() {
                break;
            }
            continue;
        }
        let kept =
            Container::read(&folder.path("state"), "checkpoint", 4).expect("a checkpoint is always whole");
        let document: serde_json::Value = serde_json::from_str(&kept.document).expect("JSON");
        let now = document["n_read"].as_u64().expect("a count");
        assert!(now >= rows, "{now} after {rows}");
        n_resumed += usize::from(now > rows && rows > 0);
        rows = now;
    }
    if !folder.path("killed.dshap").exists() {
        folder.stdout(&line);
    }
    assert!(n_resumed > 0 || rows > 0, "the run was never killed between two checkpoints");
    assert_eq!(folder.bytes("killed.dshap"), folder.bytes("whole.dshap"), "resumed {n_resumed} times");
    let left = folder.files();
    assert!(!left.iter().any(|name| name.starts_with("state")), "checkpoints are removed: {left:?}");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = Folder::with("big.csv", table(250_000));
    let fit = "dshap fit big.csv --target y --memory 64MB --checkpoint state --checkpoint-every 0";
    let mut child =
        folder.command(&format!("{fit} -o v.dshap")).stderr(Stdio::null()).spawn().expect("starts");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !folder.path("state").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    let _ = child.wait();
    let block = folder.run(&format!("{fit} --exclude a -o v.dshap"));
    assert!(block.contains("checkpoint `state` is of another run: `--exclude` was different"), "{block}");
    assert!(block.contains("hint: delete it to start again"), "{block}");

    folder.write("big.csv", table(240_000));
    let block = folder.run(&format!("{fit} -o v.dshap"));
    assert!(block.contains("`big.csv` has changed since"), "{block}");

    folder.write("state", "not a checkpoint");
    let block = folder.run(&format!("{fit} -o v.dshap"));
    assert!(block.contains("`state` is not a file made by dshap"), "{block}");
    assert!(!folder.path("v.dshap").exists());
}

#[cfg(target_os = "linux")]
mod memory {
    use super::*;
    use std::process::Command;

    /// Bytes that a line reads from files, the program itself included. The shell knows when
    /// the program has ended.
    fn bytes_read(folder: &Folder, line: &str) -> u64 {
        let command = folder.command(line);
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$0\" \"$@\" >&2 && while read -r line; do echo \"$line\"; done < /proc/$$/io"]);
        shell.arg(command.get_program()).args(command.get_args());
        shell.current_dir(folder.path(".")).stdin(Stdio::null());
        let output = shell.output().expect("starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
        let text = String::from_utf8(output.stdout).expect("text");
        let count = text.lines().find_map(|line| line.strip_prefix("rchar:"));
        count.expect("the kernel counts").trim().parse().expect("a number")
    }

    /// Rows with a number, a name, numbers, a level, a label and a target.
    fn mixed_table(n: usize) -> String {
        let mut draws = Draws::new(29);
        let mut csv = String::from("id,name,a,b,level,c,y\n");
        for row in 0..n {
            let (a, b, noise) = (draws.normal(), draws.normal(), draws.normal());
            let level = ["u", "v", "w"][row % 3];
            let c = if a - b + noise > 0.0 { "yes" } else { "no" };
            let _ = writeln!(csv, "{row},row {row},{a:.4},{b:.4},{level},{c},{:.4}", a + b + noise);
        }
        csv
    }

    /// Rows that a later pass needs stay in memory where they fit, so that each row of the file is
    /// read once.
    #[test]
    fn a_table_that_fits_into_memory_is_read_once() {
        let folder = Folder::with("short.csv", mixed_table(100_000)).and("long.csv", mixed_table(250_000));
        let n_bytes = |name: &str| std::fs::metadata(folder.path(name)).expect("is there").len();
        let more = (n_bytes("long.csv") - n_bytes("short.csv")) as f64;
        let values = "dshap value T --target y --exclude name,c";
        let labels = "dshap value T --target c --exclude name,y,level";
        let reference = "dshap value short.csv --reference T --target y --exclude name,c,id,level";
        let fit = "dshap fit T --target y --exclude name,c,id,level -o v.dshap";
        for (line, n_reads) in [
            // No text: the moments, and the values with what is carried through.
            (format!("{values},level --id id --keep name -o out.csv"), 1),
            (format!("{values},level --id id --keep name --memory 300MB -o out.csv"), 1),
            (format!("{values},level --id id --keep name --memory 60MB -o out.csv"), 2),
            // Levels, moments, values.
            (format!("{values},id -o out.csv"), 1),
            (format!("{values},id --memory 300MB -o out.csv"), 1),
            (format!("{values},level --method calibrated --id id -o out.csv"), 1),
            // Labels, the steps of a logistic fit, values.
            (format!("{labels} --id id -o out.csv"), 1),
            (format!("{labels} --id id --memory 300MB -o out.csv"), 1),
            (format!("{reference} --method calibrated -o out.csv"), 1),
            // Its digest is one more.
            (format!("{fit} --method calibrated"), 2),
        ] {
            // The beginning of a file is read more often, whatever its length.
            let read = |name: &str| bytes_read(&folder, &line.replace('T', name)) as f64;
            let found = (read("long.csv") - read("short.csv")) / more;
            assert!((found - f64::from(n_reads)).abs() < 0.2, "{line}: each row is read {found} times");
        }
    }

    /// Runs a line; the most memory it had resident, in bytes. The kernel keeps
    /// count, so that only what happens in the last millisecond is missed.
    fn peak(folder: &Folder, line: &str) -> u64 {
        let mut child =
            folder.command(line).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        loop {
            if let Ok(text) = std::fs::read_to_string(&status) {
                let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
                peak = peak.max(1024 * kib.unwrap_or(0));
            }
            match child.try_wait().expect("can be waited for") {
                None => std::thread::sleep(Duration::from_millis(1)),
                Some(status) => {
                    let mut text = String::new();
                    let stderr = child.stderr.as_mut().expect("is piped");
                    std::io::Read::read_to_string(stderr, &mut text).expect("text");
                    assert!(status.success(), "{line}: {text}");
                    return peak;
                }
            }
        }
    }

    /// A limit is kept with a table several times as large, in every format,
    /// and changes no bit.
    #[test]
    fn the_memory_limit_is_kept() {
        const LIMIT: u64 = 80_000_000;
        let folder = Folder::with("big.csv", table(2_500_000));
        folder.stdout("dshap fit big.csv --target y -o free.dshap");
        let free = peak(&folder, "dshap value big.csv --target y -o free.csv");
        assert!(free > LIMIT, "without a limit {free} bytes: the test has no power");
        for (line, file) in [
            ("dshap fit big.csv --target y --memory 80MB -o v.dshap", "big.csv"),
            ("dshap value big.csv --target y --memory 80MB -o out.csv", "big.csv"),
            ("dshap value big.csv --valuer v.dshap --memory 100MB --keep a,b -o out.parquet", "big.csv"),
            ("dshap value big.csv --target y --memory 80MB --top 100 -o top.csv", "big.csv"),
        ] {
            let bytes = std::fs::metadata(folder.path(file)).expect("is there").len();
            assert!(bytes > 3 * LIMIT, "{file} has only {bytes} bytes");
            let peak = peak(&folder, line);
            let limit = if line.contains("100MB") { 100_000_000 } else { LIMIT };
            assert!(peak < limit, "{line}: {peak} bytes");
        }
        assert!(folder.bytes("out.csv") == folder.bytes("free.csv"), "a limit changes values");
        let fitted = |name: &str| {
            Container::read(&folder.path(name), "valuer", dshap_run::FORMAT_VERSION).expect("a valuer")
        };
        assert!(fitted("v.dshap") == fitted("free.dshap"), "a limit changes the fit");
    }
}
