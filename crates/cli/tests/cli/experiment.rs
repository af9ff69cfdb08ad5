//! `dshap experiment` and `dshap dataset`, as they are typed.

use crate::common::{Csv, Folder};

#[test]
fn an_experiment_leaves_a_table_a_figure_and_a_summary() {
    let folder = Folder::new();
    let block = folder.run("dshap experiment fig3 --quick -o out");
    insta::assert_snapshot!(block, @r"
    $ dshap experiment fig3 --quick -o out
    exit 0
    --- stderr
    fig3: the summary is in out/fig3.md, the figure in out/fig3.svg
    ");
    for extension in ["csv", "svg", "png", "md", "json"] {
        assert!(folder.path(&format!("out/fig3.{extension}")).is_file(), "{extension}");
    }
    assert_eq!(Csv::parse(&folder.read("out/fig3.csv")).len(), 7);
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    insta::assert_snapshot!(folder.run("dshap experiment fig2 --only abalon -o out"), @r"
    $ dshap experiment fig2 --only abalon -o out
    exit 2
    --- stderr
    error: `abalon` is not a panel of fig2

    hint: its panels are gaussian-r, abalone, airfoil, whitewine, gaussian-c, skin-nonskin, mnist, cifar10, diabetes, australian, fashion-mnist, cifar10-density

    For more information, try '--help'.
    ");
    folder.run("dshap experiment fig3 --quick -o out");
    insta::assert_snapshot!(folder.run("dshap experiment fig3 -o out"), @r"
    $ dshap experiment fig3 -o out
    exit 1
    --- stderr
    error: cannot run fig3
      caused by: `out/fig3.json` belongs to a run with other settings: `--quick` was given and is now not given

    hint: choose another folder with `--output`
    ");
    insta::assert_snapshot!(folder.run("dshap experiment fig3 --d-shapley 2 -o out"), @r"
    $ dshap experiment fig3 --d-shapley 2 -o out
    exit 2
    --- stderr
    error: fig3 does not use `--d-shapley`: D-SHAPLEY takes no part in it

    For more information, try '--help'.
    ");
    for (line, words) in [
        ("fig3 --seed 3", "fig3 does not use `--seed`: nothing in it is random"),
        ("fig4 --data nowhere", "fig4 does not use `--data`: it reads no table"),
        ("fig1 --data nowhere", "fig1 does not use `--data`: it reads no table"),
    ] {
        let block = folder.run(&format!("dshap experiment {line} --quick -o other"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
        assert!(!folder.path("other").exists());
    }
    let block = folder.run("dshap experiment fig2 --d-shapley mnist=few -o out");
    assert!(block.contains("exit 2") && block.contains("`few` is not a number of repetitions"), "{block}");
}

#[test]
fn made_datasets_are_csv_that_dshap_values() {
    let folder = Folder::new();
    let table = folder.stdout("dshap dataset gaussian-r --rows 40 --features 2 --seed 3");
    let csv = Csv::parse(&table);
    assert_eq!((csv.header(), csv.len()), (vec!["x1", "x2", "target"], 40));
    let block = folder.run("dshap dataset gaussian-r --rows 40 --features 2 --seed 3 -o g.csv");
    assert!(block.contains("exit 0"), "{block}");
    assert_eq!(folder.read("g.csv"), table);
    assert_eq!(Csv::parse(&folder.stdout("dshap value g.csv --target target")).len(), 40);
}

#[test]
fn datasets_that_cannot_be_made_are_refused() {
    let folder = Folder::new();
    assert!(folder.stdout("dshap dataset --list").contains("abalone "));
    insta::assert_snapshot!(folder.run("dshap dataset iris"), @r"
    $ dshap dataset iris
    exit 2
    --- stderr
    error: there is no dataset `iris`

    hint: `dshap dataset` with `--list` names them all

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(folder.run("dshap dataset mnist"), @r"
    $ dshap dataset mnist
    exit 1
    --- stderr
    error: cannot get dataset `mnist`
      caused by: `mnist` cannot be downloaded: its features were computed from images with a neural network and are not published

    hint: `dshap experiment` uses a table of it if `--data` names the folder
    ");
    insta::assert_snapshot!(folder.run("dshap dataset abalone --from none.zip"), @r"
    $ dshap dataset abalone --from none.zip
    exit 1
    --- stderr
    error: cannot get dataset `abalone`
      caused by: cannot get `none.zip`: there is no such file

    hint: `--from` takes a copy from another address or a local file
    ");
    for (line, words) in [
        ("abalone --rows 10", "`--rows` goes only with datasets that are made; `abalone` is not one"),
        ("gaussian-r --unchecked", "`--unchecked` goes only with datasets that are downloaded"),
        ("--list -o x.csv", "cannot be used with"),
        ("gaussian-r -o x.xlsx", "x.xlsx"),
    ] {
        let block = folder.run(&format!("dshap dataset {line}"));
        assert!(block.contains("exit 2") && block.contains(words), "{block}");
    }
    let block = folder.run("dshap dataset abalone --from ftp://example.org/a.zip");
    assert!(block.contains("only http://, https:// and files can be read"), "{block}");
    let folder = Folder::with("abalone.data", "M,1,2,3,4,5,6,7,8\n");
    let block = folder.run("dshap dataset abalone --from abalone.data");
    assert!(block.contains("exit 1") && block.contains("has the digest"), "{block}");
    let table = folder.stdout("dshap dataset abalone --from abalone.data --unchecked");
    assert!(table.ends_with("1,2,3,4,5,6,7,0,0,1,8\n"), "{table}");
}
