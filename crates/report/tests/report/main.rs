//! Pages of real runs.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use dshap_catalogue::Given;
use dshap_catalogue::Value;
use dshap_catalogue::options::{BY, MISSING, TARGET, TASK, TEST};
use dshap_report::{Findings, Gathered, Report, ValuesReport, holds_values};
use dshap_run::{Resources, Unwatched, ValueRequest};
use std::fmt::Write;

/// A table of `n` rows with a linear target, one label and two owners.
fn rows(n: usize) -> String {
    let mut text = String::from("a,b,y,label,who\n");
    for i in 0..n {
        let (a, b) = (((i * 37) % 101) as f64 / 10.0, ((i * 53) % 97) as f64 / 7.0);
        let noise = ((i * 71) % 89) as f64 / 89.0 - 0.5;
        let label = if a - b + 4.0 * noise > 0.0 { "yes" } else { "no" };
        let who = ["<acme>", "bolt & co"][i % 2];
        writeln!(text, "{a},{b},{},{label},{who}", 2.0 * a - b + noise).unwrap();
    }
    text
}

fn page(table: &str, given: Given) -> String {
    page_by(None, table, given)
}

fn page_by(method: Option<&str>, table: &str, given: Given) -> String {
    let folder = tempfile::tempdir().unwrap();
    // Test rows are every fifth row of the table.
    let test = folder.path().join("test.csv");
    let is_test = |i: usize| i == 0 || i % 5 == 1;
    let lines: Vec<&str> =
        table.lines().enumerate().filter(|(i, _)| is_test(*i)).map(|(_, line)| line).collect();
    std::fs::write(&test, lines.join("\n") + "\n").unwrap();
    let given = match given.list(&TEST) {
        [] => given,
        _ => given.with(&TEST, Value::List(vec![test.to_str().unwrap().to_owned()])),
    };
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, table).unwrap();
    let owners = given.word(&BY).map(str::to_owned);
    let request = ValueRequest {
        points: vec![path.to_str().unwrap().to_owned()],
        valuer: None,
        method: method.map(|name| dshap_models::methods::find(name).unwrap()),
        given,
        digests: true,
        outputs: Vec::new(),
        resources: Resources { memory: None, checkpoint: None },
    };
    let mut rows = Gathered::new(owners.as_deref());
    let summary = dshap_run::value(&request, &Unwatched, &mut rows).unwrap();
    let warnings = ["use `--method calibrated` <now>".to_owned()];
    let findings = Findings::of(&request, &summary, &rows, &Unwatched).unwrap();
    let report = Report {
        title: "rows.csv",
        summary: &summary,
        described: "one line\n",
        warnings: &warnings,
        command: "dshap report rows.csv",
        rows: &rows,
        findings: &findings,
    };
    report.page().unwrap()
}

fn word(text: &str) -> Value {
    Value::Word(text.to_owned())
}

/// Headings of the parts, in order.
fn parts(page: &str) -> Vec<&str> {
    page.split("<h2 id=\"").skip(1).filter_map(|part| part.split('"').next()).collect()
}

/// What must hold for every page.
fn check(page: &str) {
    assert!(page.len() < 500_000, "{} bytes", page.len());
    // No address: the name of the SVG dialect is not fetched.
    let addresses = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http:") && !addresses.contains("https:") && !addresses.contains("url("));
    for (open, close) in
        [("<table", "</table>"), ("<section", "</section>"), ("<figure", "</figure>"), ("<svg", "</svg>")]
    {
        assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
    }
    // Each chart has words for those who cannot see it, and a table.
    for figure in page.split("<figure>").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.contains("role=\"img\" aria-label=\"") && figure.contains("<table>"), "{figure}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf<"), "a number that is none");
}

#[test]
fn a_regression_has_every_part() {
    let given = Given::new().with(&TARGET, word("y")).with(&BY, word("who"));
    let page = page(&rows(300).replace(",yes,", ",1,").replace(",no,", ",0,"), given);
    check(&page);
    let all = [
        "overview",
        "quality",
        "warnings",
        "assumptions",
        "distribution",
        "rows",
        "dependence",
        "owners",
        "sizes",
        "sensitivity",
        "cleaning",
        "reproduce",
    ];
    assert_eq!(parts(&page), all);
    assert!(page.contains("&lt;acme&gt;") && page.contains("bolt &amp; co") && !page.contains("<acme>"));
    assert!(page.contains("use <code>--method calibrated</code> &lt;now&gt;"), "warnings are escaped");
}

#[test]
fn labels_and_densities_leave_out_what_they_do_not_have() {
    let labels = page(&rows(200), Given::new().with(&TARGET, word("label")));
    check(&labels);
    let all = [
        "overview",
        "quality",
        "warnings",
        "assumptions",
        "distribution",
        "rows",
        "dependence",
        "sensitivity",
        "cleaning",
        "reproduce",
    ];
    assert_eq!(parts(&labels), all);
    assert!(labels.contains("Value against probability"), "labels have probabilities");

    let numbers: String =
        rows(200).lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n").collect();
    let density = page(&numbers, Given::new().with(&TASK, word("density")));
    check(&density);
    assert_eq!(parts(&density), ["overview", "warnings", "distribution", "rows", "reproduce"]);
}

#[test]
fn a_few_rows_are_a_page_without_charts() {
    let numbers: String =
        rows(12).lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n").collect();
    let page = page(&numbers, Given::new().with(&TARGET, word("y")));
    check(&page);
    assert!(!parts(&page).contains(&"distribution"), "{:?}", parts(&page));
}

#[test]
fn the_size_does_not_grow_with_the_rows() {
    let given = || Given::new().with(&TARGET, word("y"));
    let numbers = |n| -> String {
        rows(n).lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n").collect()
    };
    let (some, many) = (page(&numbers(1_000), given()), page(&numbers(60_000), given()));
    check(&many);
    assert!(many.len() < some.len() + some.len() / 10, "{} and {}", some.len(), many.len());
    assert!(many.contains("50 000 rows chosen at random") && !some.contains("chosen at random"));
}

/// The text after `before`, up to the next of `until`.
fn between<'a>(page: &'a str, before: &str, until: &str) -> &'a str {
    let rest = page.split(before).nth(1).unwrap_or_else(|| panic!("`{before}` is not on the page"));
    rest.split(until).next().unwrap()
}

#[test]
fn quartiles_are_the_same_wherever_they_are_shown() {
    let numbers: String =
        rows(302).lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n").collect();
    let page = page(&numbers, Given::new().with(&TARGET, word("y")));
    let half = between(&page, "<figcaption>Half of the rows have a value between ", ".</figcaption>");
    let cells = between(&page, "<caption>Quantiles of the values</caption>", "</table>");
    let of_share =
        |share: &str| between(cells, &format!(">{share}</td>"), "</td>").rsplit('>').next().unwrap();
    assert_eq!(half, format!("{} and {}", of_share("25.0 %"), of_share("75.0 %")));
    assert_eq!(between(&page, "<dt>median value</dt><dd>", "</dd>"), of_share("50.0 %"));
}

#[test]
fn each_method_has_its_own_assumptions() {
    let table = rows(200).replace(",yes,", ",1,").replace(",no,", ",0,");
    let table: String =
        table.lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n").collect();
    for method in ["gaussian", "calibrated", "lower", "upper"] {
        let page = page_by(Some(method), &table, Given::new().with(&TARGET, word("y")));
        let lead =
            between(between(&page, "<h2 id=\"assumptions\">", "</section>"), "<p class=\"lead\">", "</p>");
        let entry = &dshap_models::methods::find(method).unwrap().entry;
        assert!(lead.contains(entry.assumes), "{method}: {lead}");
        assert_eq!(lead.contains("Inputs are Gaussian"), method == "gaussian", "{lead}");
        // A quantile says nothing about every row.
        assert!(!page.contains("no row lies as far out"), "{method}");
    }
}

#[test]
fn lines_show_on_light_and_on_dark_paper() {
    let page = page(&rows(300), Given::new().with(&TARGET, word("y")).with(&BY, word("who")));
    let style = between(&page, "<style>", "</style>");
    let (light, dark) = style.split_once("prefers-color-scheme: dark").unwrap();
    let variable = |mode: &str, name: &str| between(mode, &format!("--{name}: #"), ";").to_owned();
    let mut seen = 0;
    let codes = page
        .split("<svg ")
        .skip(1)
        .flat_map(|svg| svg.split("</svg>").next().unwrap().split("stroke=\"#").skip(1));
    let mut codes: Vec<&str> = codes.map(|rest| &rest[..6]).collect();
    codes.sort_unstable();
    codes.dedup();
    // Lines of the grid are no more than a hint.
    for code in codes.into_iter().filter(|code| *code != "E3E3E3") {
        let name = between(style, &format!("[stroke=\"#{code}\"] {{ stroke: var(--"), ")");
        for mode in [light, dark] {
            let ratio = contrast(&variable(mode, name), &variable(mode, "paper"));
            assert!(ratio >= 3.0, "#{code} is --{name}: {ratio}");
        }
        seen += 1;
    }
    assert!(seen >= 4, "{seen} colours");
}

/// The contrast of two colours, as WCAG has it.
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |code: &str| {
        let part = |at: usize| {
            let share = f64::from(u8::from_str_radix(&code[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
    };
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

#[test]
fn folded_parts_are_opened_for_print() {
    let page = page(&rows(60), Given::new().with(&TARGET, word("y")));
    assert!(page.contains("addEventListener(\"beforeprint\"") && page.contains("details::details-content"));
}

#[test]
fn the_same_rows_give_the_same_page() {
    let given = || Given::new().with(&TARGET, word("y"));
    let table = rows(120).replace(",yes,", ",1,").replace(",no,", ",0,");
    let cut = |page: String| page.split("How to repeat this").next().unwrap().to_owned();
    assert_eq!(cut(page(&table, given())), cut(page(&table, given())));
}

#[test]
fn rows_that_stand_out_are_explained_as_explain_does() {
    let table = rows(200).replace(",yes,", ",1,").replace(",no,", ",0,");
    // One target is far off.
    let wrong = table.lines().nth(51).unwrap().to_owned();
    let mut cells: Vec<&str> = wrong.split(',').collect();
    cells[2] = "400";
    let page = page(&table.replacen(&wrong, &cells.join(","), 1), Given::new().with(&TARGET, word("y")));
    check(&page);
    assert!(page.contains("<summary>Row 50 has the value"), "the wrong row is explained");
    assert!(page.contains("Its <code>y</code> is 400; the model of the other rows predicts"));
    assert!(page.contains("Recommendation: ") && !page.contains("--mark"), "what cleaning found");
}

#[test]
fn owners_have_errors_and_copies_are_named() {
    let table = rows(150).replace(",yes,", ",1,").replace(",no,", ",0,");
    // The other owner has a copy of a row.
    let copied = table.lines().nth(3).unwrap();
    let twin = match copied.contains("<acme>") {
        true => copied.replace("<acme>", "bolt & co"),
        false => copied.replace("bolt & co", "<acme>"),
    };
    let page =
        page(&format!("{table}{twin}\n"), Given::new().with(&TARGET, word("y")).with(&BY, word("who")));
    check(&page);
    assert!(page.contains("value given the others") && page.contains("standard error"));
    assert!(page.contains("<h3>Duplicates</h3>") && page.contains("have 1 row in common"), "{page}");
}

#[test]
fn all_pairs_that_share_rows_are_listed() {
    // Five owners share one row, which makes ten pairs; a sixth makes fifteen.
    let copied = |n_owners: usize| {
        let mut table = String::from("a,b,y,who\n");
        for (i, line) in rows(180).lines().skip(1).enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            writeln!(table, "{},{},{},o{}", cells[0], cells[1], cells[2], i % 6).unwrap();
        }
        for owner in 0..n_owners {
            writeln!(table, "1.25,2.5,0.125,o{owner}").unwrap();
        }
        page(&table, Given::new().with(&TARGET, word("y")).with(&BY, word("who")))
    };
    let listed = |page: &str| {
        between(page, "<caption>Owners with rows in common</caption>", "</table>").matches("<tr>").count() - 1
    };
    let page = copied(5);
    assert!(
        page.contains("10 pairs of owners have rows in common") && !page.contains("are not shown"),
        "{page}"
    );
    assert_eq!(listed(&page), 10);
    let page = copied(6);
    assert!(
        page.contains("15 pairs of owners") && page.contains("5 pairs with fewer such rows are not shown")
    );
    assert_eq!(listed(&page), 10);
}

#[test]
fn curves_need_test_rows_and_settings_what_they_change() {
    let numbers: String =
        rows(200).lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n").collect();
    let given = Given::new().with(&TARGET, word("y"));
    let plain = page(&numbers, given.clone());
    assert!(!parts(&plain).contains(&"curves"));
    assert!(plain.contains("q = 5") && !plain.contains("missing cells:"), "the least q for two columns");
    let tested = page(&numbers, given.clone().with(&TEST, Value::List(vec!["every fifth".into()])));
    check(&tested);
    assert!(parts(&tested).contains(&"curves"), "{:?}", parts(&tested));
    assert!(tested.contains("Rows added") && tested.contains("Rows removed"));
    assert!(tested.contains("Compared with a random order, adding the highest values first "));
    assert!(tested.contains("Compared with a random order, removing the lowest values first "));
    let holes = numbers.replacen("3.7,", ",", 3);
    assert_ne!(holes, numbers);
    let dropped = page(&holes, given.with(&MISSING, word("drop")));
    check(&dropped);
    assert!(dropped.contains("missing cells: mean"));
}

#[test]
fn values_that_were_computed_before_are_a_page_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("values.csv"), folder.path().join("other.csv"));
    let mut text = String::from("row,who,value,dist_sq\n");
    for i in 0..60 {
        writeln!(text, "{i},{},{},{}", i % 3, f64::from(i) - 20.5, i * i % 31).unwrap();
    }
    std::fs::write(&path, &text).unwrap();
    std::fs::write(&other, text.replace("value", "price")).unwrap();
    let open = |path: &std::path::Path| {
        dshap_run::open_given(&[path.to_str().unwrap().to_owned()], &Given::new(), &[]).unwrap()
    };
    assert!(holds_values(&open(&path)) && !holds_values(&open(&other)));
    let rows = Gathered::read(&open(&path), Some("who")).unwrap();
    let page = ValuesReport { title: "values.csv", files: &[], command: None, rows: &rows }.page().unwrap();
    check(&page);
    assert_eq!(parts(&page), ["overview", "distribution", "rows", "dependence", "owners", "reproduce"]);
    // Numbers of rows are whole, and owners may be called by numbers.
    assert!(page.contains("data-number=\"59\">59<"), "the highest row");
    assert!(page.contains("<td>2</td>"), "an owner");
}
