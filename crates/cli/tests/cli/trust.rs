//! What a hostile tester tried: planted links, signals, files under other names, and two
//! runs at a time.
#![cfg(unix)]

use crate::common::{Folder, goods, many_rows, program};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const THESIS: &str = "the only copy\n";

#[test]
fn the_demonstration_follows_no_link_that_somebody_planted() {
    let folder = Folder::with("thesis.txt", THESIS);
    // The name that earlier versions wrote to.
    symlink("thesis.txt", folder.path("dshap-demo.csv")).expect("links");
    let shown = folder.stdout("dshap");
    assert_eq!(folder.read("thesis.txt"), THESIS);
    let made: Vec<String> =
        folder.files().into_iter().filter(|name| name.starts_with("dshap-demo-")).collect();
    let [made] = &made[..] else { panic!("{made:?}") };
    assert!(shown.contains(&format!("{made}/demo.csv --target y")), "{shown}");
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(folder.path(made)).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "only this user may write there");
}

#[test]
fn a_checkpoint_follows_no_link_that_somebody_planted() {
    let folder = Folder::with("big.csv", many_rows(20_000)).and("thesis.txt", THESIS);
    // The names of what is written beside the state, now and earlier, and the state itself.
    for name in ["state.partial", ".state.dshap-part"] {
        symlink("thesis.txt", folder.path(name)).expect("links");
    }
    let fit = "dshap fit big.csv --target y --memory 64MB --checkpoint-every 0 -o v.dshap";
    folder.stdout(&format!("{fit} --checkpoint state"));
    assert_eq!(folder.read("thesis.txt"), THESIS);
    symlink("nowhere", folder.path("other")).expect("links");
    folder.stdout(&format!("{fit} --checkpoint other"));
    assert!(!folder.path("nowhere").exists(), "the state was written through a link");
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("there is kill").success());
}

/// A run that waits for more rows, and has installed its handlers.
fn waiting(folder: &Folder, before: &str) -> Child {
    let line = format!("{before} exec {} value - --target y -o out.csv", program().display());
    let mut child = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let stdin = child.stdin.as_mut().expect("piped");
    // More than a pipe holds: once it is written, the program is reading.
    stdin.write_all(many_rows(60_000).as_bytes()).expect("the program reads");
    child
}

#[test]
fn each_signal_has_the_exit_code_that_shells_expect() {
    for (signal, code) in [("-HUP", 129), ("-INT", 130), ("-TERM", 143)] {
        let folder = Folder::new();
        let mut child = waiting(&folder, "");
        send(signal, &child);
        assert_eq!(child.wait().expect("ends").code(), Some(code), "{signal}");
        assert_eq!(folder.files(), [""; 0], "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    // What nohup does.
    let folder = Folder::new();
    let mut child = waiting(&folder, "trap '' HUP;");
    for _ in 0..3 {
        send("-HUP", &child);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.try_wait().expect("a child").is_none(), "the run has ended");
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    assert_eq!(folder.files(), ["out.csv"]);
}

#[test]
fn points_are_recognised_as_the_reference_by_whatever_name() {
    let folder = Folder::with("goods.csv", goods()).and("copy.csv", goods());
    let other = goods().replace("33.75", "33.76");
    folder.write("same-length.csv", other);
    symlink("goods.csv", folder.path("link.csv")).expect("links");
    std::fs::hard_link(folder.path("goods.csv"), folder.path("hard.csv")).expect("links");
    std::fs::create_dir(folder.path("deep")).expect("makes a folder");
    for (points, reference, is_same) in [
        ("goods.csv", "goods.csv", true),
        ("./goods.csv", "goods.csv", true),
        ("deep/../goods.csv", "goods.csv", true),
        ("link.csv", "goods.csv", true),
        ("hard.csv", "goods.csv", true),
        ("copy.csv", "goods.csv", true),
        ("same-length.csv", "goods.csv", false),
    ] {
        let line = format!("dshap value {points} --reference {reference} --target price -o out.csv");
        let block = folder.run(&line);
        assert!(block.contains("exit 0"), "{block}");
        assert_eq!(block.contains("is both points and reference"), is_same, "{block}");
    }
    let block = folder.run("dshap value goods.csv hard.csv --target price -o out.csv");
    assert!(block.contains("`hard.csv` is given more than once"), "{block}");
}

/// Two updates of one valuer at the same time: one of them succeeds, and the other says
/// that it was too late. Nothing is lost in silence.
#[test]
fn the_slower_of_two_updates_is_refused() {
    let folder = Folder::with("goods.csv", goods()).and("more.csv", goods()).and("late.csv", goods());
    folder.stdout("dshap fit goods.csv --target price -o v.dshap");
    // It reads the valuer, and then waits for rows.
    let mut slow = folder
        .command("dshap update v.dshap - -o v.dshap --quiet")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdin = slow.stdin.take().expect("piped");
    stdin.write_all(goods().as_bytes()).expect("is read");
    let begun = Instant::now();
    // It opens the output once before the work; by then the valuer is not read yet.
    while begun.elapsed() < Duration::from_millis(500) {
        std::thread::sleep(Duration::from_millis(50));
    }
    folder.stdout("dshap update v.dshap more.csv -o v.dshap --quiet");
    let after_first = folder.bytes("v.dshap");
    drop(stdin);
    let output = slow.wait_with_output().expect("ends");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("another run has written it meanwhile"), "{words}");
    assert_eq!(folder.bytes("v.dshap"), after_first);
    assert!(folder.files().iter().all(|name| !name.contains("dshap-part")), "{:?}", folder.files());
}

#[test]
fn many_updates_at_once_lose_nothing_in_silence() {
    let folder = Folder::with("goods.csv", goods()).and("more.csv", goods());
    folder.stdout("dshap fit goods.csv --target price -o v.dshap");
    let n_rows = |folder: &Folder| {
        let shown: serde_json::Value =
            serde_json::from_str(&folder.stdout("dshap inspect v.dshap --json")).expect("is JSON");
        shown["n_reference"].as_u64().expect("a number")
    };
    let before = n_rows(&folder);
    let start = || {
        let line = "dshap update v.dshap more.csv -o v.dshap --quiet";
        folder.command(line).stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
    };
    let children: Vec<Child> = (0..6).map(|_| start()).collect();
    let n_done =
        children.into_iter().filter_map(|mut child| child.wait().ok()?.code()).filter(|&c| c == 0).count();
    assert!(n_done >= 1);
    assert_eq!(n_rows(&folder), before + 22 * n_done as u64, "{n_done} updates succeeded");
}

/// A table of two features and a target, all multiplied by `scale` and moved by `offset`.
fn scaled(scale: f64, offset: f64) -> String {
    let mut csv = String::from("a,b,y\n");
    for i in 0..40 {
        let cell = |k: i32| offset + scale * f64::from((i * k * k + 3 * i) % 17 - 8);
        csv += &format!("{:e},{:e},{:e}\n", cell(1), cell(2), cell(3));
    }
    csv
}

#[test]
fn numbers_of_any_size_give_values_or_say_why_not() {
    let folder = Folder::new();
    let regression = ["gaussian", "lower", "upper", "general", "knn", "loo"];
    for (scale, offset) in
        [(5e-324, 0.0), (1e-200, 0.0), (1e-150, 0.0), (1.0, 1e15), (1e150, 0.0), (1e300, 0.0)]
    {
        folder.write("t.csv", scaled(scale, offset));
        let lines = regression.map(|method| format!("--target y --method {method}"));
        for line in lines.iter().map(String::as_str).chain(["--task density"]) {
            let block = folder.run(&format!("dshap value t.csv {line}"));
            assert!(!block.contains("inf") && !block.contains("NaN"), "{scale:e} {block}");
            assert!(block.contains("exit 0") || block.contains("exit 1"), "{scale:e} {block}");
            assert!(!block.contains("constant"), "{scale:e} {block}");
        }
    }
    for scale in [1e-200, 5e-324] {
        folder.write("t.csv", scaled(scale, 0.0));
        for line in ["--target y", "--target y --method knn", "--task density"] {
            let block = folder.run(&format!("dshap value t.csv {line}"));
            assert!(block.contains("varies by less than about 1e-150"), "{block}");
            assert!(block.contains("hint: write the column in a smaller unit"), "{block}");
        }
    }
}

#[test]
fn a_formula_of_numbers_too_large_is_refused() {
    let folder = Folder::new();
    let line = "dshap formula bounds --p 3 --q 10 --m 50 --gamma 1 --lambda-min 1 --lambda-max 2 --c 1 --C 1 --d2 1 --e2 1e300 --sigma2 1";
    let block = folder.run(line);
    assert!(block.contains("e2 = 1e300 is too large; the limit is 1e150"), "{block}");
}

/// A hint names what works for the method that was chosen.
#[test]
fn a_table_without_a_target_is_valued_as_the_hint_says() {
    let folder = Folder::with("goods.csv", goods());
    for method in ["gaussian", "knn", "random", "loo"] {
        let block = folder.run(&format!("dshap value goods.csv --method {method}"));
        assert!(block.contains("`--task density` with `--method closed` needs none"), "{block}");
    }
    let block = folder.run("dshap value goods.csv --task density --method closed");
    assert!(block.contains("exit 0"), "{block}");
}

#[test]
fn names_cannot_turn_the_text_around_them() {
    let folder = Folder::with("t.csv", "x,\u{202e}y\n1,2\n3,4\n");
    let block = folder.run("dshap value t.csv --target z");
    assert!(block.contains("\\u{202e}y") && !block.contains('\u{202e}'), "{block}");
}

/// The user names a folder, and somebody has placed links under the names of results.
#[test]
fn results_of_an_experiment_follow_no_link() {
    let folder = Folder::with("thesis.txt", THESIS).and("empty.txt", "");
    std::fs::create_dir(folder.path("res")).expect("makes a folder");
    for extension in ["md", "json", "svg", "png"] {
        symlink("../thesis.txt", folder.path(&format!("res/fig3.{extension}"))).expect("links");
    }
    folder.stdout("dshap experiment fig3 --quick -o res");
    assert_eq!(folder.read("thesis.txt"), THESIS);
    assert!(folder.read("res/fig3.md").starts_with("# "), "the summary takes the name");
    for (folder_name, target) in [("res2", "empty.txt"), ("res3", "thesis.txt"), ("res4", "nowhere")] {
        std::fs::create_dir(folder.path(folder_name)).expect("makes a folder");
        symlink(format!("../{target}"), folder.path(&format!("{folder_name}/fig3.csv"))).expect("links");
        let block = folder.run(&format!("dshap experiment fig3 --quick -o {folder_name}"));
        assert!(block.contains("fig3.csv` is a link") && block.contains("exit 1"), "{block}");
    }
    assert_eq!((folder.read("thesis.txt"), folder.read("empty.txt")), (THESIS.into(), String::new()));
    assert!(!folder.path("nowhere").exists());
}
