//! `dshap value`: what it prints, and that the numbers are right.

use crate::common::{Csv, Folder, GOODS, goods, goods_with};
use dshap_testkit::{assert_close, assert_same_bits};
use insta::assert_snapshot;

/// What every row of the goods is called.
const NAMES: [&str; 3] = ["Ann", "Bob", "Cid"];

fn folder() -> Folder {
    Folder::with("goods.csv", goods())
}

#[test]
fn values_are_csv_in_a_pipe() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price"), @r"
        $ dshap value goods.csv --target price
        exit 0
        --- stdout
        row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
        0,0.780839,0.798142,0.0173032,3.09104,2.28765,78.8875,1.5125,
        1,0.0685847,0.588413,0.519828,2.23183,81.7897,81.7438,-9.04376,
        2,0.823683,1.08651,0.262825,5.63654,27.6428,115.042,5.25765,
        3,0.29793,1.12838,0.830448,6.86586,83.4323,119.566,9.13413,
        4,0.301194,0.311785,0.0105914,0.874986,3.1942,13.8872,-1.78723,
        5,-3.07698,0.388037,3.46502,2.91559,471.513,-4.91434,21.7143,
        6,0.210739,0.287406,0.0766667,0.818379,24.3845,72.2381,-4.93806,
        7,0.00447657,0.572826,0.568349,2.18087,90.6412,21.9206,-9.52057,
        8,0.656091,0.667841,0.0117494,2.35113,1.79413,-4.26055,-1.33945,
        9,0.47989,0.548138,0.0682476,1.80784,12.2126,37.3947,-3.49466,
        10,0.449462,0.544814,0.0953521,1.80627,17.0723,0.931862,-4.13186,
        11,0.218684,0.235463,0.0167785,0.634505,6.57448,30.8359,2.56407,
        12,0.187557,0.263809,0.0762521,0.742471,26.2376,45.2223,-5.12227,
        13,0.554425,0.563859,0.00943389,1.84929,1.66401,88.91,1.28997,
        14,0.454423,0.645259,0.190836,2.33643,29.2446,70.0922,5.40783,
        15,0.141451,0.141703,0.00025184,0.35871,0.162201,48.3973,0.402741,
        16,0.157963,0.171707,0.0137443,0.446276,7.28791,37.6996,-2.69961,
        17,0.289916,0.294329,0.00441287,0.81547,1.40756,17.3136,1.18641,
        18,0.234453,0.53255,0.298096,1.85086,52.5519,21.5493,-7.24927,
        19,-0.465683,1.00083,1.46651,6.17156,150.741,-0.47766,12.2777,
        20,0.340333,1.22647,0.886141,8.39627,86.3416,50.192,-9.29202,
        21,0.244504,0.24915,0.00464582,0.672452,1.73433,72.6831,1.31694,
        --- stderr
        regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
        p = 2, q = 12, m = 22, noise variance 42.102, R² 0.964 on rows left out
        values from -3.0770 to 0.82368, half of them between 0.16536 and 0.45318
        1 row lies far below the others, by more than two standard errors
        next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
        ");
}

#[test]
fn values_are_json_if_asked_for() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --top 2 --format json"), @r#"
        $ dshap value goods.csv --target price --top 2 --format json
        exit 0
        --- stdout
        [
        {"row":2,"value":0.823683,"potential":1.08651,"penalty":0.262825,"dist_sq":5.63654,"resid_sq":27.6428,"predicted":115.042,"residual":5.25765,"note":null},
        {"row":0,"value":0.780839,"potential":0.798142,"penalty":0.0173032,"dist_sq":3.09104,"resid_sq":2.28765,"predicted":78.8875,"residual":1.5125,"note":null}
        ]
        --- stderr
        regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
        p = 2, q = 12, m = 22, noise variance 42.102, R² 0.964 on rows left out
        values from -3.0770 to 0.82368, half of them between 0.16536 and 0.45318
        1 row lies far below the others, by more than two standard errors
        next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
        "#);
}

#[test]
fn top_begins_with_the_highest_value() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --top 3 --quiet"), @r"
        $ dshap value goods.csv --target price --top 3 --quiet
        exit 0
        --- stdout
        row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
        2,0.823683,1.08651,0.262825,5.63654,27.6428,115.042,5.25765,
        0,0.780839,0.798142,0.0173032,3.09104,2.28765,78.8875,1.5125,
        8,0.656091,0.667841,0.0117494,2.35113,1.79413,-4.26055,-1.33945,
        ");
}

#[test]
fn bottom_begins_with_the_lowest_value() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --bottom 3 --quiet"), @"
    $ dshap value goods.csv --target price --bottom 3 --quiet
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    5,-3.07698,0.388037,3.46502,2.91559,471.513,-4.91434,21.7143,
    19,-0.465683,1.00083,1.46651,6.17156,150.741,-0.47766,12.2777,
    7,0.00447657,0.572826,0.568349,2.18087,90.6412,21.9206,-9.52057,
    ");
}

#[test]
fn sorting_by_value_reorders_whole_rows() {
    let folder = folder();
    let by_row = folder.stdout("dshap value goods.csv --target price");
    let by_value = folder.stdout("dshap value goods.csv --target price --sort value");
    let value = Csv::parse(&by_value).numbers("value");
    assert!(value.is_sorted_by(|a, b| a >= b), "{value:?}");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&by_value), sorted(&by_row));
}

#[test]
fn the_file_in_the_output_is_what_a_pipe_would_get() {
    let folder = folder();
    let piped = folder.stdout("dshap value goods.csv --target price --stderr");
    assert_eq!(folder.stdout("dshap value goods.csv --target price --stderr -o out.csv"), "");
    assert_eq!(folder.read("out.csv"), piped);
    assert_eq!(folder.files(), ["goods.csv", "out.csv"]);
}

#[test]
fn id_group_and_kept_columns_are_carried_through() {
    let table = goods_with("sku,owner,", |row| format!("g-{row},{},", NAMES[row % 3]));
    let folder = Folder::with("goods.csv", table);
    assert_snapshot!(
        folder.run("dshap value goods.csv --target price --id sku --by owner --keep age,price --top 2 --quiet"),
        @"
    $ dshap value goods.csv --target price --id sku --by owner --keep age,price --top 2 --quiet
    exit 0
    --- stdout
    row,sku,owner,age,price,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    2,g-2,Cid,13,120.3,0.823683,1.08651,0.262825,5.63654,27.6428,115.042,5.25765,
    0,g-0,Ann,36,80.4,0.780839,0.798142,0.0173032,3.09104,2.28765,78.8875,1.5125,
    "
    );
}

#[test]
fn carried_columns_with_the_name_of_an_output_column_are_renamed() {
    let table =
        goods_with("row,value,value_input,note,", |row| format!("{},{},x,n{row},", row + 100, row % 7));
    let folder = Folder::with("goods.csv", table);
    assert_snapshot!(
        folder.run(
            "dshap value goods.csv --target price --features size,age --id row --by value --keep value_input,note --top 2 --quiet"
        ),
        @"
    $ dshap value goods.csv --target price --features size,age --id row --by value --keep value_input,note --top 2 --quiet
    exit 0
    --- stdout
    row,row_input,value_input_input,value_input,note_input,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    2,102,2,x,n2,0.823683,1.08651,0.262825,5.63654,27.6428,115.042,5.25765,
    0,100,0,x,n0,0.780839,0.798142,0.0173032,3.09104,2.28765,78.8875,1.5125,
    "
    );
}

#[test]
fn standard_errors_come_after_the_value() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --stderr --top 2 --quiet"), @"
    $ dshap value goods.csv --target price --stderr --top 2 --quiet
    exit 0
    --- stdout
    row,value,stderr,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    2,0.823683,0.439919,1.08651,0.262825,5.63654,27.6428,115.042,5.25765,
    0,0.780839,0.408555,0.798142,0.0173032,3.09104,2.28765,78.8875,1.5125,
    ");
}

#[test]
fn the_constant_of_the_theorem_is_available() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --constant theorem --top 2"), @"
    $ dshap value goods.csv --target price --constant theorem --top 2
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    2,-1.09342,-0.830592,0.262825,5.63654,27.6428,115.042,5.25765,
    0,-1.18325,-1.16594,0.0173032,3.09104,2.28765,78.8875,1.5125,
    --- stderr
    regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
    p = 2, q = 12, m = 22, noise variance 42.102, R² 0.964 on rows left out
    values from -4.0677 to -1.0934, half of them between -1.7328 and -1.4672
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
    ");
}

#[test]
fn the_full_value_is_available() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --constant full:2 --top 2"), @r"
        $ dshap value goods.csv --target price --constant full:2 --top 2
        exit 0
        --- stdout
        row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
        2,-1.54419,-1.28136,0.262825,5.63654,27.6428,115.042,5.25765,
        0,-1.64729,-1.62999,0.0173032,3.09104,2.28765,78.8875,1.5125,
        --- stderr
        regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
        p = 2, q = 12, m = 22, noise variance 42.102, R² 0.964 on rows left out
        values from -4.2567 to -1.5442, half of them between -2.1838 and -1.9092
        no value lies far below the others, by more than two standard errors
        ");
}

#[test]
fn the_printed_theorem_is_available() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --convention printed --top 2"), @r"
        $ dshap value goods.csv --target price --convention printed --top 2
        exit 0
        --- stdout
        row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
        2,-1.04047,-0.805583,0.234889,5.63654,27.6428,115.042,5.25765,
        0,-1.12668,-1.11158,0.0150966,3.09104,2.28765,78.8875,1.5125,
        --- stderr
        regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
        p = 2, q = 12, m = 22, noise variance 42.102, R² 0.964 on rows left out
        values from -3.5901 to -1.0405, half of them between -1.6023 and -1.3749
        no value lies far below the others, by more than two standard errors
        ");
}

#[test]
fn algorithm_3_says_how_much_it_left_out() {
    assert_snapshot!(
        folder().run("dshap value goods.csv --target price --method algorithm-3 --m 500 --seed 7 --top 2"),
        @"
    $ dshap value goods.csv --target price --method algorithm-3 --m 500 --seed 7 --top 2
    exit 0
    --- stdout
    row,value,dist_sq,resid_sq,predicted,residual,note
    2,-0.163434,5.63654,27.6428,115.042,5.25765,
    0,-0.167954,3.09104,2.28765,78.8875,1.5125,
    --- stderr
    regression (guessed) of `price`, method algorithm-3: 22 rows, each valued against the others
    p = 2, q = 12, m = 500, noise variance 42.102, R² 0.964 on rows left out
    values from -0.27239 to -0.16343, half of them between -0.19703 and -0.18245
    warning: the algorithm stopped after 78 of 489 set sizes (median over rows) and kept 55 % of the sum (54 to 57 % for nine rows in ten); `--method gaussian` is exact
    "
    );
}

#[test]
fn nothing_is_centred_without_an_intercept() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --no-intercept --top 2"), @"
    $ dshap value goods.csv --target price --no-intercept --top 2
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    2,0.9567,1.18451,0.22781,6.56095,23.0985,115.494,4.80609,
    8,0.749985,0.788177,0.0381919,2.99374,5.12898,-3.33527,-2.26473,
    --- stderr
    regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
    p = 2, q = 12, m = 22, noise variance 42.660, R² 0.986 on rows left out
    values from -3.4647 to 0.95670, half of them between 0.20978 and 0.48557
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
    ");
}

#[test]
fn set_sizes_can_be_given() {
    assert_snapshot!(folder().run("dshap value goods.csv --target price --q 6 --m 400 --bottom 1"), @"
    $ dshap value goods.csv --target price --q 6 --m 400 --bottom 1
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    5,-0.705606,0.11843,0.824036,2.91559,471.513,-4.91434,21.7143,
    --- stderr
    regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
    p = 2, q = 6, m = 400, noise variance 42.102, R² 0.964 on rows left out
    values from -0.70561 to 0.23932, half of them between 0.082906 and 0.16026
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
    ");
}

#[test]
fn unseen_points_are_valued_against_a_reference() {
    let folder = folder().and("new.csv", "age,price,size\n20,52.5,22\n20,152.5,22\n3,300,99.5\n");
    assert_snapshot!(folder.run("dshap value new.csv --reference goods.csv --target price"), @r"
        $ dshap value new.csv --reference goods.csv --target price
        exit 0
        --- stdout
        row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
        0,0.161956,0.165402,0.00344694,0.450268,1.81349,51.1533,1.34666,
        1,-19.3572,0.165402,19.5226,0.450268,10271.1,51.1533,101.347,
        2,1.44515,1.77873,0.333584,45.9488,48.5695,293.031,6.96919,
        --- stderr
        regression (guessed) of `price`, method gaussian: 3 rows valued against a reference of 22
        p = 2, q = 12, m = 22, noise variance 42.102
        values from -19.357 to 1.4452
        ");
}

#[test]
fn columns_to_carry_through_need_not_be_in_the_reference() {
    let folder = folder().and("new.csv", "sku,owner,age,price,size,shelf\nn-1,Ann,20,52.5,22,4\n");
    let line = "dshap value new.csv --reference goods.csv --target price --id sku --by owner --keep shelf";
    let csv = Csv::parse(&folder.stdout(line));
    assert_eq!(csv.header()[..5], ["row", "sku", "owner", "shelf", "value"]);
    assert_eq!((csv.column("sku"), csv.column("shelf")), (vec!["n-1"], vec!["4"]));
}

#[test]
fn a_point_worth_having_is_worth_less_with_a_wrong_target() {
    let folder = folder().and("new.csv", "age,price,size\n20,52.5,22\n20,152.5,22\n");
    let csv = Csv::parse(&folder.stdout("dshap value new.csv --reference goods.csv --target price"));
    let value = csv.numbers("value");
    assert!(value[0] > 0.0 && value[1] < 0.0, "{value:?}");
    let (potential, dist_sq) = (csv.numbers("potential"), csv.numbers("dist_sq"));
    assert_eq!((potential[0], dist_sq[0]), (potential[1], dist_sq[1]), "only the target differs");
}

#[test]
fn points_that_are_the_reference_are_pointed_out() {
    assert_snapshot!(folder().run("dshap value goods.csv --reference goods.csv --target price --top 1"), @"
    $ dshap value goods.csv --reference goods.csv --target price --top 1
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    2,0.778805,0.917692,0.138887,4.283,15.9608,116.305,3.99509,
    --- stderr
    regression (guessed) of `price`, method gaussian: 22 rows valued against a reference of 22
    p = 2, q = 12, m = 22, noise variance 42.102
    values from -1.5955 to 0.77881, half of them between 0.19519 and 0.47008
    warning: `goods.csv` is both points and reference, so its rows are valued with themselves in the reference; leave out `--reference` to value each row against the others
    ");
}

#[test]
fn text_and_booleans_become_columns_of_their_own() {
    let table =
        goods_with("shade,new,", |row| format!("{},{},", ["red", "blue", "grey"][row % 3], row % 4 == 1));
    let folder = Folder::with("goods.csv", table);
    assert_snapshot!(folder.run("dshap value goods.csv --target price --bottom 2 --summary s.json"), @"
    $ dshap value goods.csv --target price --bottom 2 --summary s.json
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    5,-3.68695,0.838197,4.52515,10.2324,433.296,-4.01576,20.8158,
    19,-2.19218,0.996174,3.18835,9.66009,305.243,-5.6712,17.4712,
    --- stderr
    regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
    p = 5, q = 15, m = 22, noise variance 41.362, R² 0.955 on rows left out
    3 passes over the table: an extra pass for text columns and means
    values from -3.6870 to 1.5446, half of them between 0.65493 and 1.0168
    2 rows lie far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
    warning: values average over only 8 set sizes; give more rows, a larger `--m` or a smaller `--q`
    ");
    let summary = summary(&folder, "s.json");
    assert_eq!(summary["features"], serde_json::json!(["shade", "new", "size", "age"]));
    assert_eq!((summary["p"].as_u64(), summary["reference_passes"].as_u64()), (Some(5), Some(2)));
}

#[test]
fn numbers_can_be_categories() {
    let table = goods_with("shelf,", |row| format!("{},", row % 3));
    let folder = Folder::with("goods.csv", table);
    let as_number = folder.stdout("dshap value goods.csv --target price --summary number.json");
    let as_category =
        folder.stdout("dshap value goods.csv --target price --categorical shelf --summary category.json");
    assert_ne!(as_number, as_category);
    assert_eq!(summary(&folder, "number.json")["p"], 3);
    assert_eq!(summary(&folder, "category.json")["p"], 4);
}

#[test]
fn rows_with_a_missing_cell_keep_their_place_without_a_value() {
    let mut lines: Vec<String> = goods().lines().map(String::from).collect();
    lines[3] = "42.5,,120.3".into();
    let folder = Folder::with("goods.csv", lines.join("\n")).and("whole.csv", {
        lines.remove(3);
        lines.join("\n")
    });
    assert_snapshot!(
        folder.run("dshap value goods.csv --target price --missing drop --keep age --q 12 --m 30"),
        @"
    $ dshap value goods.csv --target price --missing drop --keep age --q 12 --m 30
    exit 0
    --- stdout
    row,age,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    0,36,0.719078,0.747725,0.0286474,3.12766,4.09067,78.3775,2.02254,
    1,33,0.129793,0.572896,0.443103,2.37939,73.8837,81.2956,-8.59556,
    2,,,,,,,,,missing cell
    3,12,-0.393031,1.2084,1.60144,10.1787,155.128,116.245,12.455,
    4,29,0.25452,0.265186,0.0106653,0.814806,3.85955,14.0646,-1.96457,
    5,39,-2.81724,0.38136,3.1986,3.09841,459.017,-4.62467,21.4247,
    6,29,0.240564,0.304998,0.0644334,0.981436,20.0687,71.7798,-4.47982,
    7,40,-0.0373708,0.515494,0.552865,2.1439,98.3179,22.3155,-9.91554,
    8,34,0.613907,0.635729,0.0218218,2.45965,3.56688,-3.71138,-1.88862,
    9,39,0.413918,0.476661,0.062743,1.68744,13.0682,37.515,-3.61499,
    10,30,0.394093,0.496867,0.102773,1.80172,20.4722,1.32462,-4.52462,
    11,34,0.178026,0.19053,0.0125043,0.562261,6.19072,30.9119,2.48812,
    12,19,0.196863,0.259307,0.0624446,0.814796,22.5976,44.8537,-4.75369,
    13,18,0.637306,0.673614,0.0363073,2.68269,5.6413,87.8249,2.37514,
    14,36,0.388779,0.587784,0.199005,2.3099,33.7862,69.6874,5.81259,
    15,21,0.153634,0.154694,0.00105993,0.443923,0.646037,47.9962,0.803765,
    16,33,0.122038,0.132228,0.0101895,0.377793,7.17961,37.6795,-2.67948,
    17,26,0.23952,0.242692,0.00317244,0.733349,1.25261,17.3808,1.1192,
    18,19,0.216629,0.464827,0.248198,1.73003,50.8196,21.4288,-7.12879,
    19,14,-0.458204,0.924387,1.38259,5.83033,151.163,-0.494836,12.2948,
    20,4,0.487464,1.23311,0.745646,8.93587,73.5045,49.4735,-8.57348,
    21,27,0.276648,0.287435,0.010787,0.894512,3.61822,72.0978,1.90216,
    --- stderr
    regression (guessed) of `price`, method gaussian: 21 of 22 rows, each valued against the others
    p = 2, q = 12, m = 30, noise variance 43.275, R² 0.955 on rows left out
    values from -2.8172 to 0.71908, half of them between 0.12979 and 0.39409
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price --missing drop` tests whether fewer or corrected rows make a better model
    warning: 1 reference row has a missing cell or no target and is left out of the fit
    "
    );
    let whole = Csv::parse(&folder.stdout("dshap value whole.csv --target price --q 12 --m 30"));
    let dropped =
        Csv::parse(&folder.stdout("dshap value goods.csv --target price --missing drop --q 12 --m 30"));
    let mut value = dropped.column("value");
    assert_eq!(value.remove(2), "");
    assert_eq!(value, whole.column("value"), "a row left out has no part in the fit");
}

#[test]
fn missing_cells_can_be_filled_with_the_mean() {
    let mut lines: Vec<String> = goods().lines().map(String::from).collect();
    lines[3] = "42.5,NA,120.3".into();
    let rest: Vec<f64> =
        GOODS.iter().enumerate().filter(|(row, _)| *row != 2).map(|(_, g)| f64::from(g.1)).collect();
    let mean = rest.iter().sum::<f64>() / rest.len() as f64;
    let folder = Folder::with("gap.csv", lines.join("\n"));
    lines[3] = format!("42.5,{mean},120.3");
    let folder = folder.and("filled.csv", lines.join("\n"));
    let gap = folder.stdout("dshap value gap.csv --target price --missing mean");
    assert_eq!(gap, folder.stdout("dshap value filled.csv --target price"));
}

#[test]
fn unseen_levels_can_count_as_the_first_one() {
    let shade = |row: usize| format!("{},", ["red", "blue", "grey"][row % 3]);
    let folder = Folder::with("goods.csv", goods_with("shade,", shade))
        .and("new.csv", "shade,size,age,price\npink,22,20,52.5\nblue,22,20,52.5\n");
    let line = "dshap value new.csv --reference goods.csv --target price --unseen zero";
    let csv = Csv::parse(&folder.stdout(line));
    let value = csv.column("value");
    assert_eq!(value[0], value[1], "blue is the first level");
}

/// Rare categories become one, `other`: the same values as if the cells said so, for the
/// rows themselves, for new rows and by a saved valuer; and a hint leads there.
#[test]
fn rare_levels_are_pooled() {
    let shade = |row: usize| ["red", "blue", "grey", "pink", "lime"][if row < 2 { 3 + row } else { row % 3 }];
    let pooled = |row: usize| if row < 2 { "other" } else { shade(row) };
    let folder = Folder::with("rare.csv", goods_with("shade,", |row| format!("{},", shade(row))))
        .and("pooled.csv", goods_with("shade,", |row| format!("{},", pooled(row))))
        .and("new.csv", "shade,size,age,price\nteal,22,20,52.5\nlime,22,20,52.5\ngrey,22,20,52.5\n");
    let line = "dshap value rare.csv --target price --rare-levels 2";
    let expected = folder.stdout("dshap value pooled.csv --target price");
    assert_eq!(folder.stdout(line), expected);
    assert_ne!(folder.stdout("dshap value rare.csv --target price"), expected, "they were pooled");

    folder.stdout("dshap fit rare.csv --target price --rare-levels 2 -o rare.dshap");
    let csv = Csv::parse(&folder.stdout("dshap value new.csv --valuer rare.dshap"));
    let value = csv.column("value");
    assert_eq!(value[0], value[1], "an unknown category is a rare one");
    assert_ne!(value[1], value[2]);

    let updated = folder.run("dshap update rare.dshap new.csv -o both.dshap");
    assert!(updated.contains("warning: which categories of `shade` are rare was decided"), "{updated}");
    // Pink is rare here, too, but not the same categories are common.
    let other = goods_with("shade,", |row| format!("{},", if row == 0 { "pink" } else { "red" }));
    std::fs::write(folder.path("other.csv"), other).expect("writes");
    folder.stdout("dshap fit other.csv --target price --rare-levels 2 -o other.dshap");
    let merged = folder.run("dshap merge rare.dshap other.dshap -o all.dshap");
    assert!(merged.contains("hint: fit all rows together, or the parts without `--rare-levels`"), "{merged}");
}

#[test]
fn dependent_and_constant_columns_are_dropped_by_name() {
    let table = goods_with("one,shade,half,", |row| format!("1,red,{},", GOODS[row].0 / 2.0));
    let folder = Folder::with("goods.csv", table).and("plain.csv", goods());
    assert_snapshot!(folder.run("dshap value goods.csv --target price --bottom 2"), @"
    $ dshap value goods.csv --target price --bottom 2
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    5,-3.07698,0.388037,3.46502,2.91559,471.513,-4.91434,21.7143,
    19,-0.465683,1.00083,1.46651,6.17156,150.741,-0.47766,12.2777,
    --- stderr
    regression (guessed) of `price`, method gaussian: 22 rows, each valued against the others
    p = 2, q = 12, m = 22, noise variance 42.102, R² 0.964 on rows left out
    3 passes over the table: an extra pass for text columns and means
    values from -3.0770 to 0.82368, half of them between 0.16536 and 0.45318
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
    warning: `shade` was dropped: only one level
    warning: 2 columns were dropped, which are constant or linear functions of columns before them: `one`, `size`
    ");
    let plain = Csv::parse(&folder.stdout("dshap value plain.csv --target price"));
    let with = Csv::parse(&folder.stdout("dshap value goods.csv --target price"));
    for (found, exact) in with.numbers("value").iter().zip(plain.numbers("value")) {
        // A different but equivalent column is kept, so rounding differs.
        assert_close(*found, exact, 1e-10);
    }
}

#[test]
fn a_row_that_alone_determines_a_coefficient_has_no_value() {
    let table = goods_with("only,", |row| format!("{},", u8::from(row == 4)));
    let folder = Folder::with("goods.csv", table);
    assert_snapshot!(folder.run("dshap value goods.csv --target price"), @"
    $ dshap value goods.csv --target price
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    0,0.851673,0.869214,0.0175413,3.09184,2.25589,78.898,1.50196,
    1,0.104683,0.641764,0.537081,2.23239,81.9529,81.7528,-9.05278,
    2,0.903524,1.18043,0.276908,5.67346,28.4785,114.963,5.33652,
    3,0.355799,1.22312,0.867326,6.92445,85.4369,119.457,9.24321,
    4,,,,,,,,leverage 1
    5,-3.30449,0.450703,3.7552,3.21805,473.984,-4.97118,21.7712,
    6,0.235898,0.316964,0.081066,0.824833,24.6958,72.2695,-4.96949,
    7,0.0159253,0.651701,0.635776,2.33321,94.6117,22.1269,-9.72685,
    8,0.77422,0.79203,0.0178098,2.67054,2.46362,-4.03041,-1.56959,
    9,0.539968,0.617377,0.0774091,1.88848,13.0522,37.5128,-3.61279,
    10,0.537197,0.657965,0.120768,2.08541,19.1747,1.17889,-4.37889,
    11,0.274787,0.292815,0.0180278,0.732669,6.04109,30.9421,2.45786,
    12,0.222108,0.310564,0.0884557,0.808292,27.3853,45.3331,-5.2331,
    13,0.606098,0.615865,0.00976751,1.84931,1.66855,88.9083,1.29172,
    14,0.510411,0.705313,0.194902,2.34286,28.9369,70.1207,5.3793,
    15,0.176067,0.176252,0.000184729,0.410718,0.101353,48.4816,0.31836,
    16,0.198956,0.216693,0.0177369,0.521353,7.90286,37.8112,-2.8112,
    17,0.373512,0.377596,0.00408362,0.98391,1.08417,17.4588,1.04124,
    18,0.273956,0.618693,0.344737,2.02757,55.6611,21.7606,-7.46064,
    19,-0.381206,1.11941,1.50062,6.58329,149.22,-0.415577,12.2156,
    20,0.393964,1.3288,0.934832,8.52258,89.5617,50.3637,-9.46371,
    21,0.270733,0.275384,0.00465087,0.678454,1.65981,72.7117,1.28834,
    --- stderr
    regression (guessed) of `price`, method gaussian: 21 of 22 rows, each valued against the others
    p = 3, q = 13, m = 22, noise variance 44.279, R² 0.962 on rows left out
    values from -3.3045 to 0.90352, half of them between 0.19896 and 0.53720
    1 row lies far below the others, by more than two standard errors
    next: `dshap clean goods.csv --target price` tests whether fewer or corrected rows make a better model
    warning: 1 row has no value: it alone determines a coefficient, up to rounding (leverage 1)
    warning: 1 row has `only=1`: sets of 13 rows hold 0.6 of them on average, too few for a closed form; use `--method general`
    ");
    let bottom = Csv::parse(&folder.stdout("dshap value goods.csv --target price --bottom 22"));
    assert_eq!(bottom.column("row").last(), Some(&"4"), "rows without a value come last");
}

#[test]
fn the_summary_records_what_ran() {
    let folder = folder().and("new.csv", "age,price,size\n20,52.5,22\n");
    folder.stdout("dshap value new.csv --reference goods.csv --target price --summary s.json");
    assert_snapshot!(crate::common::rounded(&folder.read("s.json")).replace(env!("CARGO_PKG_VERSION"), "[version]"), @r#"
    {
      "version": "[version]",
      "task": "regression",
      "task_guessed": true,
      "method": "gaussian",
      "constant": "gain",
      "convention": "definition",
      "seed": null,
      "target": "price",
      "features": [
        "size",
        "age"
      ],
      "weight": null,
      "intercept": true,
      "refit_intercept": false,
      "ridge": null,
      "bound_constants": null,
      "p": 2,
      "q": 12,
      "q_default": true,
      "m": 22,
      "m_default": true,
      "n_reference": 22,
      "effective_rows": 22.0,
      "noise_var": 42.1024,
      "r_squared": 0.973295,
      "target_var": 1361.61,
      "condition": 1.45178,
      "value_digits": 11,
      "dropped_columns": [],
      "n_points": 1,
      "leave_one_out": false,
      "reference_passes": 1,
      "extra_passes": [],
      "rounds": null,
      "values": {
        "n_valued": 1,
        "n_without": 0,
        "n_negative": 0,
        "lowest": 0.161956,
        "highest": 0.161956,
        "quartiles": [
          0.161956,
          0.161956,
          0.161956
        ],
        "total": 0.161956
      },
      "points": [
        {
          "name": "new.csv",
          "bytes": 26,
          "sha256": "633997a08e6998a83f99d96ea040c531b38ad85e494908d333d42b15d64fceb1"
        }
      ],
      "reference": [
        {
          "name": "goods.csv",
          "bytes": 300,
          "sha256": "fa65f3f62dc433680ddc4f49ecd78809209d3031549924c3b3ed07e6b6fa3a09"
        }
      ],
      "valuer": null,
      "warnings": []
    }
    "#);
}

/// `printf 'age,price,size\n20,52.5,22\n' | sha256sum`
const NEW_SHA256: &str = "633997a08e6998a83f99d96ea040c531b38ad85e494908d333d42b15d64fceb1";

#[test]
fn digests_in_the_summary_are_those_of_the_files() {
    let folder = folder().and("new.csv", "age,price,size\n20,52.5,22\n");
    folder.stdout("dshap value new.csv --reference goods.csv --target price --summary s.json");
    let summary = summary(&folder, "s.json");
    assert_eq!(summary["points"][0]["sha256"], NEW_SHA256);
    assert_eq!(summary["points"][0]["bytes"], 26);
    assert_eq!(summary["reference"][0]["name"], "goods.csv");
}

#[test]
fn quiet_keeps_warnings_and_drops_the_rest() {
    let folder = folder();
    assert_snapshot!(folder.run("dshap value goods.csv --target price --quiet --top 1 --q 20"), @"
    $ dshap value goods.csv --target price --quiet --top 1 --q 20
    exit 0
    --- stdout
    row,value,potential,penalty,dist_sq,resid_sq,predicted,residual,note
    2,0.123254,0.167976,0.0447222,5.63654,27.6428,115.042,5.25765,
    --- stderr
    warning: values average over only 3 set sizes; give more rows, a larger `--m` or a smaller `--q`
    ");
}

#[test]
fn strict_makes_warnings_errors_and_writes_nothing() {
    let folder = folder();
    assert_snapshot!(folder.run("dshap value goods.csv --target price --q 20 --strict"), @"
        $ dshap value goods.csv --target price --q 20 --strict
        exit 1
        --- stderr
        error: cannot value `goods.csv`
          caused by: values average over only 3 set sizes; give more rows, a larger `--m` or a smaller `--q`

        hint: leave out `--strict` to accept warnings
        ");
    let with_files = "dshap value goods.csv --target price --q 20 --strict -o out.csv --summary s.json";
    assert_eq!(folder.output(with_files).status.code(), Some(1));
    assert_eq!(folder.files(), ["goods.csv"]);
}

#[test]
fn strict_changes_nothing_without_warnings() {
    let folder = folder();
    let plain = folder.stdout("dshap value goods.csv --target price");
    assert_eq!(folder.stdout("dshap value goods.csv --target price --strict"), plain);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let folder = Folder::with("many.csv", crate::common::many_rows(9000));
    let one = folder.stdout("dshap value many.csv --target y --threads 1");
    assert_eq!(one, folder.stdout("dshap value many.csv --target y --threads 3"));
}

#[test]
fn csv_json_and_parquet_hold_the_same_numbers_bit_for_bit() {
    let folder = folder();
    for format in ["csv", "json", "parquet"] {
        folder.stdout(&format!("dshap value goods.csv --target price --stderr -o out.{format}"));
    }
    let csv = Csv::parse(&folder.read("out.csv"));
    let json: serde_json::Value = serde_json::from_str(&folder.read("out.json")).expect("JSON");
    let json = json.as_array().expect("an array");
    assert_eq!((csv.len(), json.len()), (GOODS.len(), GOODS.len()));
    for name in ["row", "value", "stderr", "potential", "penalty", "dist_sq", "resid_sq"] {
        let expected = csv.numbers(name);
        let from_json: Vec<f64> = json.iter().map(|row| row[name].as_f64().expect("a number")).collect();
        assert_same_bits(&from_json, &expected, &format!("{name} in JSON"));
        assert_same_bits(
            &parquet_column(&folder, "out.parquet", name),
            &expected,
            &format!("{name} in Parquet"),
        );
    }
}

#[test]
fn a_value_is_its_potential_less_its_penalty() {
    let folder = folder();
    for flags in ["", " --no-intercept", " --constant theorem", " --constant full:2", " --convention printed"]
    {
        let csv = Csv::parse(&folder.stdout(&format!("dshap value goods.csv --target price{flags}")));
        let (potential, penalty) = (csv.numbers("potential"), csv.numbers("penalty"));
        for (row, value) in csv.numbers("value").into_iter().enumerate() {
            let size = potential[row].abs() + penalty[row].abs();
            let error = (value - (potential[row] - penalty[row])).abs() / size;
            assert!(error <= 1e-15, "{flags} row {row}: relative error {error:e}");
        }
    }
}

/// One feature, every row really left out, and the expectations of Theorem 2
/// integrated over the chi-squared density.
#[test]
fn values_agree_with_a_computation_by_hand_for_one_feature() {
    let (q, m) = (11, 19);
    let folder = folder();
    let line =
        format!("dshap value goods.csv --target price --exclude age --constant theorem --q {q} --m {m}");
    let csv = Csv::parse(&folder.stdout(&line));
    let (value, dist_sq, resid_sq) = (csv.numbers("value"), csv.numbers("dist_sq"), csv.numbers("resid_sq"));
    for row in 0..GOODS.len() {
        let others: Vec<(f64, f64)> = (0..GOODS.len())
            .filter(|&other| other != row)
            .map(|other| (GOODS[other].0, GOODS[other].2))
            .collect();
        let (a, e2, sigma2) = by_hand(&others, (GOODS[row].0, GOODS[row].2));
        assert_close(dist_sq[row], a, 1e-11);
        // Squared residuals near zero have lost digits of the target itself.
        assert!((resid_sq[row] - e2).abs() < 1e-11 * (e2 + sigma2), "row {row}");
        let sum: f64 = (q - 1..m).map(|s| expected(s, |t| (a * e2 + t * sigma2) / (a + t).powi(2))).sum();
        // The trapezoidal rule is good to ten digits here.
        assert_close(value[row], -sum / m as f64, 1e-8);
    }
}

/// Squared distance, squared residual and noise variance of a point under the
/// least-squares line through `others`.
fn by_hand(others: &[(f64, f64)], point: (f64, f64)) -> (f64, f64, f64) {
    let n = others.len() as f64;
    let mean_x = others.iter().map(|o| o.0).sum::<f64>() / n;
    let mean_y = others.iter().map(|o| o.1).sum::<f64>() / n;
    let sxx: f64 = others.iter().map(|o| (o.0 - mean_x).powi(2)).sum();
    let sxy: f64 = others.iter().map(|o| (o.0 - mean_x) * (o.1 - mean_y)).sum();
    let residual = |o: (f64, f64)| o.1 - mean_y - sxy / sxx * (o.0 - mean_x);
    let rss: f64 = others.iter().map(|&o| residual(o).powi(2)).sum();
    ((point.0 - mean_x).powi(2) / (sxx / n), residual(point).powi(2), rss / (n - 2.0))
}

/// `E f(T)` for a chi-squared `T` with these degrees of freedom.
fn expected(degrees: usize, f: impl Fn(f64) -> f64) -> f64 {
    let (mut weights, mut sum) = (0.0, 0.0);
    for step in 1..40_000 {
        let t = f64::from(step) * 0.005;
        let weight = ((degrees as f64 / 2.0 - 1.0) * t.ln() - t / 2.0).exp();
        weights += weight;
        sum += weight * f(t);
    }
    sum / weights
}

fn summary(folder: &Folder, name: &str) -> serde_json::Value {
    serde_json::from_str(&folder.read(name)).expect("a summary is JSON")
}

fn parquet_column(folder: &Folder, file: &str, name: &str) -> Vec<f64> {
    use arrow_array::{cast::AsArray, types::Float64Type};
    use dshap_table::{ReadAs, Wanted};
    let source = dshap_io::Source::open(&[folder.path(file).display().to_string()]).expect("opens");
    let wanted = [Wanted { name: name.into(), read_as: ReadAs::Number }];
    let batches = source.scan(&wanted, dshap_io::ScanOptions::default()).expect("has the column");
    batches
        .flat_map(|b| b.expect("reads").rows.column(0).as_primitive::<Float64Type>().values().to_vec())
        .collect()
}
