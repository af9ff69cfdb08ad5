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
