//! `dshap methods`, help made from the catalogue, and options that methods do not take.

use crate::common::{Folder, goods};
use dshap_catalogue::{Kind, OptionEntry, options};
use dshap_models::methods::METHODS;

#[test]
fn short_help_fits_a_screen() {
    let help = Folder::new().stdout("dshap value -h");
    assert!(help.lines().count() <= 40, "{} lines:\n{help}", help.lines().count());
    for flag in ["--reference", "--target", "--method", "--top", "-o, --output"] {
        assert!(help.contains(flag), "no {flag}: {help}");
    }
    assert!(!help.contains("--bandwidth"), "{help}");
}

#[test]
fn long_help_has_every_option_under_its_heading() {
    let [value, fit, owners, payout] = ["value", "fit", "owners", "payout"]
        .map(|command| Folder::new().stdout(&format!("dshap {command} --help")));
    for option in options::all().filter(|option| option.group.heading() != "Trial") {
        let help = match option.group.heading() {
            "Owners" => &owners,
            "Payout" => &payout,
            // Only a file has them.
            _ if option.name == options::LISTS.name => &fit,
            _ => &value,
        };
        let (flag, heading) = (flag(option), format!("\n{}:\n", option.group.heading()));
        if [options::FIGURE.name, options::MARK.name].contains(&option.name) {
            continue;
        }
        let (_, section) = help.split_once(&heading).unwrap_or_else(|| panic!("no heading {heading}"));
        let section: Vec<&str> =
            section.lines().take_while(|line| line.is_empty() || line.starts_with(' ')).collect();
        let is_it = |line: &&str| line.split_whitespace().any(|word| word == flag);
        assert!(section.iter().any(is_it), "{flag} is not under {heading}");
    }
}

#[test]
fn help_says_what_an_option_means_for_each_method() {
    let help = Folder::new().stdout("dshap value --help");
    let (_, samples) = help.split_once("--samples <T>\n").expect("the flag");
    let (samples, _) = samples.split_once("--seed").expect("the next flag");
    for words in ["general: ", "default 4096", "algorithm-3: ", "default 1000"] {
        assert!(samples.contains(words), "{samples}");
    }
    let (_, k) = help.split_once("--k <N>\n").expect("the flag");
    let (k, _) = k.split_once("--metric").expect("the next flag");
    assert!(k.contains("knn, knn-shapley") && k.contains('5'), "{k}");
    for method in METHODS {
        assert!(help.contains(method.entry.summary), "{}", method.name());
    }
}

#[test]
fn the_methods_are_listed() {
    let table = Folder::new().stdout("dshap methods");
    for method in METHODS {
        let line = table.lines().find(|line| line.split_whitespace().next() == Some(method.name()));
        let line = line.unwrap_or_else(|| panic!("no line for {}: {table}", method.name()));
        assert!(line.contains(method.entry.summary), "{line}");
    }
    assert!(table.lines().last().is_some_and(|line| line.contains("`dshap methods NAME`")), "{table}");
}

#[test]
fn each_method_is_described_with_its_options() {
    let folder = Folder::new();
    for method in METHODS {
        let (entry, text) = (&method.entry, folder.stdout(&format!("dshap methods {}", method.name())));
        for words in [entry.name, entry.page, "\nOptions:\n", "\nExample:\n  dshap "] {
            assert!(text.contains(words), "{words} is missing: {text}");
        }
        for takes in entry.options {
            assert!(text.contains(&format!("\n  {}", flag(takes.option))), "{}: {text}", takes.option.name);
        }
        assert!(!text.contains('{') && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn the_catalogue_is_json() {
    let folder = Folder::new();
    let all: serde_json::Value = serde_json::from_str(&folder.stdout("dshap methods --json")).expect("JSON");
    let names = |list: &str| -> Vec<String> {
        let entries = all[list].as_array().expect("a list");
        entries.iter().map(|entry| entry["name"].as_str().expect("a name").to_string()).collect()
    };
    assert_eq!(names("methods"), METHODS.iter().map(|method| method.name()).collect::<Vec<_>>());
    assert_eq!(names("options"), options::all().map(|option| option.name).collect::<Vec<_>>());
    let value = &all["commands"][names("commands").iter().position(|name| name == "value").expect("value")];
    let arguments: Vec<&str> = value["arguments"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["name"].as_str())
        .collect();
    assert_eq!(arguments, ["points", "valuer", "method", "output"]);
    assert_eq!(value["arguments"][0]["several"], true);
    let takes = value["options"].as_array().expect("a list");
    assert!(
        takes.iter().all(|name| names("options").iter().any(|known| name == known.as_str())),
        "{takes:?}"
    );
    assert!(
        takes.iter().any(|name| name == "metric") && !takes.iter().any(|name| name == "budget"),
        "{takes:?}"
    );
    let one = folder.stdout("dshap methods knn --json");
    let one: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    let knn = METHODS.iter().position(|method| method.name() == "knn").expect("knn");
    assert_eq!(one, all["methods"][knn]);
}

/// The table of README.md is written by hand: its first column names each method, and no other.
#[test]
fn the_table_of_the_readme_has_every_method() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).expect("a page");
    let (_, table) = readme.split_once("\n## Methods\n").expect("a section");
    let rows =
        table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells: Vec<&str> = rows.skip(2).filter_map(|row| row.split('|').nth(1)).collect();
    // `lower`, `upper` (also `--ridge`): what is in parentheses, or begins with a dash, is an option.
    let named: Vec<&str> = cells
        .iter()
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter_map(|code| code.split(' ').next())
        .filter(|word| !word.starts_with('-'))
        .collect();
    for method in METHODS {
        assert!(named.contains(&method.name()), "README.md has no row for `{}`", method.name());
    }
    for word in named {
        assert!(METHODS.iter().any(|method| method.name() == word), "README.md names `{word}`");
    }
}

#[test]
fn a_mistyped_method_suggests_the_closest() {
    let folder = Folder::with("goods.csv", goods());
    for line in [
        "methods gausian",
        "value goods.csv --target price --method gausian",
        "compare goods.csv --target price --methods loo,gausian",
    ] {
        let block = folder.run(&format!("dshap {line}"));
        assert!(block.contains("exit 2") && block.contains("'gaussian'"), "{block}");
    }
}

#[test]
fn an_option_of_other_methods_is_refused_with_those_that_take_it() {
    let folder = Folder::with("goods.csv", goods());
    let block = folder.run("dshap value goods.csv --target price --metric cosine");
    assert!(block.contains("exit 2"), "{block}");
    assert!(block.contains("`--metric` goes with `knn` and `knn-shapley` only"), "{block}");
}

/// Whatever a method does not take is refused before anything is read, with the option named.
#[test]
fn no_option_is_ignored() {
    let folder = Folder::with("goods.csv", goods());
    for method in METHODS {
        for option in options::all().filter(|option| option.is_of_methods()) {
            let is_of_value = option.name != options::REFERENCE.name && option.name != options::TEST.name;
            if method.entry.takes(option, None).is_some() || !is_of_value {
                continue;
            }
            let needs = if option.name == options::SYNERGY.name { "--sets age " } else { "" };
            let (flag, value) = (flag(option), example(option));
            let line = format!("dshap value goods.csv --method {} {needs}{flag} {value}", method.name());
            let block = folder.run(&line);
            let named =
                block.contains(&format!("`{flag}")) || !needs.is_empty() && block.contains("`--sets`");
            // Only `dshap fit` has it.
            let is_unknown = option.name == options::LISTS.name
                && block.contains(&format!("unexpected argument '{flag}' found"));
            assert!(block.contains("\nexit 2\n") && (named || is_unknown), "{block}");
        }
    }
}

/// An option as it is typed.
fn flag(option: &OptionEntry) -> String {
    format!("--{}", option.name.replace('_', "-"))
}

/// A value that an option takes.
fn example(option: &OptionEntry) -> String {
    match option.takes {
        Kind::Switch => String::new(),
        Kind::Number { .. } => "0.5".into(),
        Kind::Count { least, .. } | Kind::Counts { least, .. } => (least + 8).to_string(),
        Kind::Choice { words } => words[0].word.into(),
        Kind::WordOrNumber { words, .. } => words[0].word.into(),
        Kind::Constant => "gain".into(),
        Kind::Semivalue => "shapley".into(),
        Kind::Names => "a,b".into(),
        Kind::Text | Kind::File | Kind::Files => "age".into(),
        Kind::Bytes => "1GB".into(),
    }
}

/// Words that a method refuses are not listed, and messages name methods for the task at hand.
#[test]
fn only_what_fits_is_suggested() {
    let folder = Folder::with("t.csv", crate::common::many_rows(60));
    for method in ["loo", "d-shapley"] {
        let described = folder.stdout(&format!("dshap methods {method}"));
        assert!(described.contains("--utility accuracy|log-loss"), "{described}");
    }
    let json: serde_json::Value = serde_json::from_str(&folder.stdout("dshap methods --json")).expect("JSON");
    for method in json["methods"].as_array().expect("methods") {
        let tasks = method["tasks"].as_array().expect("tasks");
        for option in method["options"].as_array().expect("options") {
            let has = |task: &serde_json::Value| tasks.contains(task);
            assert!(
                option["tasks"].as_array().expect("tasks").iter().all(has),
                "{}: {option}",
                method["name"]
            );
        }
    }
    let spread = folder.run("dshap value t.csv --target y --task regression --spread model");
    assert!(spread.contains("`--spread` is for classification"), "{spread}");
    let scale = folder.run("dshap value t.csv --target y --task regression --scale none");
    assert!(scale.contains("`--scale` goes with `knn` and `knn-shapley` only"), "{scale}");

    let small = folder.run("dshap value t.csv --target y --method lower --m 10");
    let (_, hint) = small.split_once("set `--m` to at least ").unwrap_or_else(|| panic!("{small}"));
    let m: usize = hint.split([',', '\n']).next().and_then(|m| m.trim().parse().ok()).expect("a number");
    folder.stdout(&format!("dshap value t.csv --target y --method lower --m {m}"));
    let less = folder.run(&format!("dshap value t.csv --target y --method lower --m {}", m - 1));
    assert!(less.contains("exit 1"), "{less}");
}

/// The reason stands in the catalogue, once for every front end.
#[test]
fn options_that_exclude_or_need_each_other_say_why() {
    let folder = Folder::with("t.csv", goods());
    for (flags, words) in [
        (
            "--top 3 --bottom 2",
            "`--bottom 2` and `--top 3` do not go together: each says which rows are kept; leave out `--bottom`",
        ),
        ("--sets city --id city", "the output has one row per set, not one per point; leave out `--id`"),
        ("--synergy a,b", "it compares two of the sets that `--sets` names; give `--sets` too"),
        ("--checkpoint-every 5", "it says how often `--checkpoint` is written; give `--checkpoint` too"),
    ] {
        let block = folder.run(&format!("dshap value t.csv --target price {flags}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
}
