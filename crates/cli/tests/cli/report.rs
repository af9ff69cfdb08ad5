//! `dshap report`.

use crate::common::Folder;
use std::fmt::Write;

fn goods() -> String {
    let mut text = String::from("vendor,a,b,price\n");
    for i in 0..60 {
        let (a, b) = ((i * 37 % 101) as f64 / 10.0, (i * 53 % 97) as f64 / 7.0);
        let noise = (i * 71 % 89) as f64 / 89.0;
        writeln!(text, "v{},{a},{b},{}", i % 3, 2.0 * a - b + noise).expect("a string");
    }
    text
}

#[test]
fn a_page_shows_what_value_gives() {
    let folder = Folder::with("goods.csv", goods());
    let said = folder.run("dshap report goods.csv --target price --by vendor --exclude vendor -o goods.html");
    assert!(said.contains("exit 0") && said.contains("wrote `goods.html`, "), "{said}");
    let page = folder.read("goods.html");
    let values =
        folder.stdout("dshap value goods.csv --target price --by vendor --exclude vendor --bottom 1");
    let lowest = values.lines().nth(1).and_then(|line| line.split(',').nth(2)).expect("a value");
    let first = page.split("Rows with the lowest values</caption>").nth(1).expect("a table");
    let exact = format!("data-number=\"{}\"", lowest.parse::<f64>().expect("a number"));
    assert!(first.split("</tr>").nth(1).is_some_and(|row| row.contains(&exact)), "{exact}");
    assert!(
        page.contains("dshap report goods.csv --target price --by vendor --exclude vendor -o goods.html")
    );
    for vendor in ["v0", "v1", "v2"] {
        assert!(page.contains(&format!("<td>{vendor}</td>")), "{vendor}");
    }
}

#[test]
fn a_page_appears_whole_or_not_at_all() {
    let folder = Folder::with("goods.csv", goods());
    for line in [
        "dshap report goods.csv --target prize -o goods.html",
        "dshap report goods.csv --target price --strict --exclude vendor --m 12 --q 11 -o goods.html",
    ] {
        let said = folder.run(line);
        assert!(!said.contains("exit 0"), "{said}");
        assert!(!folder.path("goods.html").exists(), "{said}");
    }
    let said = folder.run("dshap report goods.csv --target price");
    assert!(said.contains("exit 2") && said.contains("--output <FILE>"), "{said}");
    let said = folder.run("dshap report goods.csv --target price -o nowhere/goods.html");
    assert!(said.contains("exit 1") && said.contains("nowhere"), "{said}");
}

#[test]
fn a_page_is_made_from_owners_that_were_valued_before() {
    let folder = Folder::with("goods.csv", goods());
    folder.stdout("dshap owners goods.csv --target price --by vendor -o o.json");
    folder.stdout("dshap owners goods.csv --target price --by vendor -o o.csv");
    let found: serde_json::Value = serde_json::from_str(&folder.read("o.json")).expect("JSON");
    let value = found["owners"][1]["shapley"].as_f64().expect("a value");
    for file in ["o.json", "o.csv"] {
        let said = folder.run(&format!("dshap report {file} -o page.html"));
        assert!(said.contains("exit 0") && said.contains("wrote `page.html`, "), "{said}");
        let page = folder.read("page.html");
        assert!(page.contains("<td>v1</td>") && page.contains(&format!("data-number=\"{value}\"")), "{file}");
        // Pairs are in the object only.
        assert_eq!(page.contains("Pairs of owners"), file == "o.json");
        assert!(page.contains(&format!("dshap report {file} -o page.html")));
    }
}

#[test]
fn value_against_m_is_left_out_where_values_depend_on_more() {
    let folder = Folder::with("goods.csv", goods()).and("test.csv", goods());
    let parts = |options: &str| {
        folder.stdout(&format!("dshap report goods.csv --target price --exclude vendor {options} -o p.html"));
        folder.read("p.html").contains("id=\"sizes\"")
    };
    assert!(parts(""));
    // Values for test rows are not those of a row at this distance and with this residual.
    assert!(!parts("--test test.csv"));
    assert!(!parts("--semivalue banzhaf"));
}
