//! Faults injected from outside: runs killed at random moments, disks that are full,
//! files that break or change, little memory, several writers. Each test counts what
//! happened and prints it; `./test full` injects 20 times as many, and
//! docs/reliability.md has the counts.
#![cfg(target_os = "linux")]

use crate::common::{Folder, many_rows, program};
use dshap_testkit::Draws;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Faults of each kind: 10, and 10 for each further seed.
fn n_faults() -> usize {
    10 * std::env::var("DSHAP_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1)
}

fn draws() -> Draws {
    Draws::new(std::process::id().into())
}

/// Runs a line in a shell that first limits itself.
fn limited(folder: &Folder, limit: &str, line: &str) -> Output {
    let words = line.strip_prefix("dshap").expect("lines begin with the program");
    Command::new("sh")
        .args(["-c", &format!("{limit}; exec {}{words}", program().display())])
        .current_dir(folder.path(""))
        .env("TMPDIR", folder.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("starts")
}

/// An output that is there is the old one or the new one, never anything else.
fn assert_whole(folder: &Folder, name: &str, old: &[u8], new: &[u8], after: &str) -> bool {
    let now = folder.bytes(name);
    assert!(
        now == old || now == new,
        "{after}: {} bytes, neither {} nor {}",
        now.len(),
        old.len(),
        new.len()
    );
    now == new
}

#[test]
fn a_killed_run_leaves_the_old_output_or_the_new_one() {
    let folder = Folder::with("t.csv", many_rows(30_000)).and("old", "old\n");
    let line = "dshap value t.csv --target y -o out.csv";
    let started = Instant::now();
    folder.stdout(line);
    let (whole, new) = (started.elapsed(), folder.bytes("out.csv"));
    let (mut draws, mut n_old) = (draws(), 0);
    for _ in 0..n_faults() {
        folder.write("out.csv", "old\n");
        let mut child =
            folder.command(line).stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        std::thread::sleep(whole.mul_f64(1.1 * draws.uniform()));
        let _ = child.kill();
        let _ = child.wait();
        n_old += usize::from(!assert_whole(&folder, "out.csv", b"old\n", &new, "kill -9"));
    }
    println!("killed {} times: {n_old} old outputs, {} new ones, none mixed", n_faults(), n_faults() - n_old);
    // What they left is removed once it is older than 2 s.
    std::thread::sleep(Duration::from_millis(2100));
    folder.stdout(line);
    assert_eq!(folder.files(), ["old", "out.csv", "t.csv"]);
}

/// An update replaces the valuer that it reads; owners write JSON.
#[test]
fn a_killed_update_or_game_leaves_the_old_file_or_the_new_one() {
    let teams: String = many_rows(20_000)
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("team,{line}\n") } else { format!("t{},{line}\n", i % 7) })
        .collect();
    let folder =
        Folder::with("t.csv", many_rows(2_000)).and("more.csv", many_rows(30_000)).and("teams.csv", teams);
    folder.stdout("dshap fit t.csv --target y -o v.dshap --quiet");
    for (name, line) in [
        ("v.dshap", "dshap update v.dshap more.csv -o v.dshap --quiet"),
        ("owners.json", "dshap owners teams.csv --by team --target y --quiet -o owners.json"),
    ] {
        let old = if name == "v.dshap" { folder.bytes(name) } else { b"old\n".to_vec() };
        let started = Instant::now();
        folder.stdout(line);
        let (whole, new) = (started.elapsed(), folder.bytes(name));
        assert_ne!(old, new);
        let (mut draws, mut n_old) = (draws(), 0);
        for _ in 0..n_faults() {
            folder.write(name, &old);
            let mut child =
                folder.command(line).stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
            std::thread::sleep(whole.mul_f64(1.1 * draws.uniform()));
            let _ = child.kill();
            let _ = child.wait();
            n_old += usize::from(!assert_whole(&folder, name, &old, &new, line));
        }
        println!(
            "{name} killed {} times: {n_old} old files, {} new ones, none mixed",
            n_faults(),
            n_faults() - n_old
        );
    }
    // A valuer that was left is one that can be updated.
    folder.stdout("dshap update v.dshap more.csv -o v.dshap --quiet");
}

/// What ends midway as a device that fails does: reading goes well up to a random place, and
/// then is an error.
#[test]
fn a_read_error_midway_leaves_the_old_output() {
    use std::io::Write;
    let text = many_rows(30_000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("is compressed");
    let packed = encoder.finish().expect("is compressed");
    let folder = Folder::with("whole.csv", &text);
    folder.stdout("dshap fit whole.csv --target y -o old.dshap --quiet");
    let valuer = folder.bytes("old.dshap");
    let lines = [
        ("out.csv", "dshap value t.csv.gz --target y -o out.csv"),
        ("new.dshap", "dshap fit t.csv.gz --target y -o new.dshap"),
        ("old.dshap", "dshap update old.dshap t.csv.gz -o old.dshap"),
        ("owners.json", "dshap owners t.csv.gz --by x --target y -o owners.json"),
    ];
    let mut draws = draws();
    for _ in 0..n_faults() {
        // Some of the header of the compression is there, and some of its end is missing.
        let length = 20 + ((packed.len() - 30) as f64 * draws.uniform()) as usize;
        folder.write("t.csv.gz", &packed[..length]);
        for (name, line) in lines {
            let old: &[u8] = if name == "old.dshap" { &valuer } else { b"old\n" };
            folder.write(name, old);
            let output = folder.output(line);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{line}, {length} bytes: {stderr}");
            assert!(stderr.contains("t.csv.gz"), "{line}, {length} bytes: {stderr}");
            assert_eq!(folder.bytes(name), old, "{line}, {length} bytes");
        }
    }
    println!("reading failed midway in {} runs: all ended with exit 1 and left the old file", 4 * n_faults());
    assert!(!folder.files().iter().any(|name| name.ends_with("-part")), "{:?}", folder.files());
}

#[test]
fn a_full_disk_is_an_error_and_leaves_the_old_output() {
    let folder = Folder::with("t.csv", many_rows(5_000));
    let (mut draws, mut n_refused, mut n_done) = (draws(), 0, 0);
    for name in ["out.csv", "out.parquet", "out.arrow", "out.json", "v.dshap"] {
        let line = match name {
            "v.dshap" => "dshap fit t.csv --target y --method knn -o v.dshap".to_owned(),
            name => format!("dshap value t.csv --target y -o {name}"),
        };
        folder.stdout(&line);
        let new = folder.bytes(name);
        for _ in 0..n_faults() {
            folder.write(name, "old\n");
            // In blocks of 512 bytes. The signal is ignored, so writing fails as on a full disk.
            let blocks = (1.2 * draws.uniform() * new.len() as f64 / 512.0) as usize;
            let output = limited(&folder, &format!("trap '' XFSZ; ulimit -f {blocks}"), &line);
            let is_new = assert_whole(&folder, name, b"old\n", &new, &line);
            let stderr = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => assert!(is_new, "{stderr}"),
                code => assert!(code == Some(1) && !is_new && stderr.contains("error"), "{code:?}: {stderr}"),
            }
            if is_new { n_done += 1 } else { n_refused += 1 }
        }
    }
    println!("disk full: {n_refused} runs refused with exit 1, {n_done} had room, none half written");
    assert!(
        n_refused > 0 && !folder.files().iter().any(|name| name.ends_with("-part")),
        "{:?}",
        folder.files()
    );
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_short_reads_change_nothing() {
    let text = many_rows(3_000);
    let folder = Folder::with("t.csv", &text);
    // Reading from its beginning is an error of the device.
    let block = folder.run("dshap value /proc/self/mem --target y -o out.csv");
    assert!(block.contains("exit 1") && block.contains("cannot read"), "{block}");
    assert!(!folder.path("out.csv").exists());
    let expected = folder.stdout("dshap value t.csv --target y --quiet");
    let mut draws = draws();
    for _ in 0..n_faults().div_ceil(10) {
        let mut child = folder
            .command("dshap value - --target y --quiet")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut stdin = child.stdin.take().expect("piped");
        let bytes = text.clone().into_bytes();
        let lengths: Vec<usize> =
            (0..bytes.len()).map(|_| 1 + (4000.0 * draws.uniform().powi(4)) as usize).collect();
        let writer = std::thread::spawn(move || {
            let mut rest = &bytes[..];
            for length in lengths {
                let (now, later) = rest.split_at(length.min(rest.len()));
                std::io::Write::write_all(&mut stdin, now).expect("the program reads");
                rest = later;
            }
        });
        let output = child.wait_with_output().expect("ends");
        writer.join().expect("writes");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
    println!(
        "{} tables read from pipes in pieces of 1 to 4000 bytes: the same bits",
        n_faults().div_ceil(10)
    );
}

#[test]
fn a_file_that_changes_under_way_is_refused_or_read_whole() {
    let before = many_rows(30_000);
    let folder = Folder::with("t.csv", &before);
    let line = "dshap value t.csv --target y --quiet -o out.csv";
    let started = Instant::now();
    folder.stdout(line);
    let (whole, expected) = (started.elapsed(), folder.bytes("out.csv"));
    let half = before[..before.len() / 2].rfind('\n').expect("many lines");
    let changed = [before[..=half].to_owned(), before.replacen("1.", "2.", 5), format!("{before}9,9\n")];
    // A run that opens its file only after the change reads another table, whole.
    let others = changed.clone().map(|text| {
        folder.write("t.csv", text);
        folder.stdout(line);
        folder.bytes("out.csv")
    });
    let (mut draws, mut n_refused, mut n_done) = (draws(), 0, 0);
    for round in 0..n_faults() {
        folder.write("t.csv", &before);
        folder.write("out.csv", "old\n");
        let child = folder.command(line).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
        std::thread::sleep(whole.mul_f64(1.1 * draws.uniform()));
        folder.write("t.csv", &changed[round % 3]);
        let output = child.wait_with_output().expect("ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let now = folder.bytes("out.csv");
        if output.status.success() {
            assert!(now == expected || now == others[round % 3], "round {round}: {} bytes", now.len());
            n_done += 1;
        } else {
            assert!(output.status.code() == Some(1) && now == b"old\n", "round {round}: {stderr}");
            n_refused += 1;
        }
    }
    println!("changed under way {} times: {n_refused} refused, {n_done} read one table whole", n_faults());
}

#[test]
fn little_memory_leaves_no_half_output() {
    let folder = Folder::with("t.csv", many_rows(30_000));
    let line = "dshap value t.csv --target y --threads 2 -o out.csv";
    folder.stdout(line);
    let new = folder.bytes("out.csv");
    let (mut draws, mut n_done, mut n_ended) = (draws(), 0, 0);
    for _ in 0..n_faults() {
        folder.write("out.csv", "old\n");
        let kib = 20_000 + (280_000.0 * draws.uniform()) as usize;
        let output = limited(&folder, &format!("ulimit -c 0; ulimit -v {kib}"), line);
        let is_new = assert_whole(&folder, "out.csv", b"old\n", &new, &format!("{kib} KiB"));
        assert_eq!(output.status.success(), is_new, "{}", String::from_utf8_lossy(&output.stderr));
        if is_new { n_done += 1 } else { n_ended += 1 }
    }
    println!(
        "{} runs in 20 to 300 MB of addresses: {n_done} done, {n_ended} ended, none half written",
        n_faults()
    );
}

#[test]
fn of_several_writers_one_is_whole() {
    let folder = Folder::with("a.csv", many_rows(3_000)).and("b.csv", many_rows(4_000));
    let line = |table: &str| format!("dshap value {table} --target y --quiet -o out.csv");
    let [a, b] = ["a.csv", "b.csv"].map(|table| {
        folder.stdout(&line(table));
        folder.bytes("out.csv")
    });
    for _ in 0..n_faults() {
        let children = ["a.csv", "b.csv", "a.csv", "b.csv"]
            .map(|table| folder.command(&line(table)).stdin(Stdio::null()).spawn().expect("starts"));
        for mut child in children {
            assert!(child.wait().expect("ends").success());
        }
        assert_whole(&folder, "out.csv", &a, &b, "four writers");
    }
    println!("four writers of one file, {} times: always one of the outputs, whole", n_faults());
}
