//! Valuers that are saved, updated and merged, against fits of the whole.

use crate::common::{self, Asked, Folder, Table, asked, column, weighted};
use arrow_array::RecordBatch;
use dshap::MomentsForm;
use dshap_catalogue::options::{
    BOUND_C, CATEGORICAL, CONSTANT, CONVENTION, EXCLUDE, M, MISSING, NO_INTERCEPT, Q, RIDGE, SAMPLES, SEED,
    UNSEEN, WEIGHT,
};
use dshap_catalogue::{Given, Misuse};
use dshap_models::linear::LinearModel;
use dshap_models::{Fixed, Lack, MergeConflict, RowRole};
use dshap_run::{Error, ExtraPass, Fitted, FittedValuer, ValueRequest, Warning};
use dshap_table::Difference;
use dshap_testkit::{Draws, assert_same_bits};
use proptest::prelude::*;

const COLUMNS: [&str; 6] = ["value", "stderr", "potential", "penalty", "dist_sq", "resid_sq"];

/// Merging, updating and forgetting agree with a fit of the whole to this,
/// relative to the larger of a value's two sides.
const ROUNDING: f64 = 1e-11;

/// Logarithms of standard errors differ by this much, as a root mean square over rows: they come from
/// another sample of at most 1024 rows, or from sums that another fit saw. In 1200 tables they
/// differed by 0.13 at most; twice as many rows would make them differ by 0.35.
const OTHER_SAMPLE: f64 = 0.25;

/// The same for references of fewer than [`FEW_ROWS`] rows, whose noise nobody knows well.
const OTHER_SMALL_SAMPLE: f64 = 0.7;
const FEW_ROWS: usize = 200;

#[track_caller]
fn assert_same(found: &RecordBatch, expected: &RecordBatch) {
    for name in COLUMNS {
        assert_same_bits(&column(found, name), &column(expected, name), name);
    }
}

#[track_caller]
fn assert_close(found: &RecordBatch, expected: &RecordBatch, tolerance: f64) {
    assert_values_close(found, expected, tolerance);
    assert_errors_close(found, expected, OTHER_SAMPLE);
}

#[track_caller]
fn assert_errors_close(found: &RecordBatch, expected: &RecordBatch, tolerance: f64) {
    let (found, expected) = (column(found, "stderr"), column(expected, "stderr"));
    let squares = found.iter().zip(&expected).map(|(found, exact)| (found / exact).ln().powi(2));
    let rms = (squares.sum::<f64>() / found.len() as f64).sqrt();
    assert!(rms < tolerance, "standard errors differ by {rms:.2} in logarithms");
}

#[track_caller]
fn assert_values_close(found: &RecordBatch, expected: &RecordBatch, tolerance: f64) {
    let potential = column(expected, "potential");
    let penalty = column(expected, "penalty");
    for name in COLUMNS.into_iter().filter(|name| *name != "stderr") {
        for (row, (found, exact)) in column(found, name).iter().zip(&column(expected, name)).enumerate() {
            let scale = match name {
                "value" | "penalty" => potential[row] + penalty[row],
                // A residual is a difference; squared, a small one has few digits of its own.
                "resid_sq" => exact.max(1e-3),
                _ => *exact,
            };
            let error = (found - exact).abs() / scale;
            assert!(error < tolerance, "{name} of row {row}: {found:e} and {exact:e}, {error:.1e}");
        }
    }
}

fn linear(valuer: &FittedValuer) -> &LinearModel {
    valuer.model.of().expect("a regression")
}

fn tables(seed: u64, n: usize) -> (Folder, Table) {
    let folder = Folder::new();
    let table = Table::new(seed, n, &["Rome", "Oslo", "Bonn"]);
    folder.write("all.csv", &table.csv());
    folder.write("points.csv", &Table::new(seed + 1, 40, &["Rome", "Oslo"]).csv());
    (folder, table)
}

/// Years and their powers, and a price.
fn powers(seed: u64, n: usize) -> String {
    let mut draws = Draws::new(seed);
    let mut text = "year,square,cube,price\n".to_string();
    for _ in 0..n {
        let year = (1990.0 + 12.0 * draws.normal()).round();
        let price = 0.02 * (year - 1990.0).powi(2) + draws.normal();
        text += &format!("{year},{},{},{price}\n", year.powi(2), year.powi(3));
    }
    text
}

fn of_prices() -> Asked {
    Asked::new("price")
}

/// Where sums of products fail: saved, added to and merged, nearly all digits
/// are those of a fit of the whole.
#[test]
fn hard_designs_keep_their_digits_in_valuers() {
    let folder = Folder::new();
    let (first, second) = (powers(31, 6000), powers(32, 500));
    folder.write("first.csv", &first);
    folder.write("second.csv", &second);
    folder.write("all.csv", &(first + second.split_once('\n').unwrap().1));
    folder.write("points.csv", &powers(33, 50));
    folder.fit(&["all.csv"], of_prices(), "all.dshap");
    let (expected, said) = folder.value_by("points.csv", "all.dshap", Asked::nothing());
    assert_eq!(linear(&folder.load("all.dshap")).moments.form(), MomentsForm::Triangle);
    assert!(said.facts.condition.unwrap() > 1e5 && said.facts.value_digits.unwrap() >= 8, "{:?}", said.facts);
    let direct = of_prices().against(&[folder.name("all.csv")]);
    let (by_reference, said) = folder.value("points.csv", direct);
    assert_eq!(said.reference_passes, 1);
    assert_same_bits(&column(&by_reference, "value"), &column(&expected, "value"), "by reference");

    folder.fit(&["first.csv"], of_prices(), "first.dshap");
    folder.fit(&["second.csv"], of_prices(), "second.dshap");
    folder.update("first.dshap", &["second.csv"], &[]).unwrap();
    folder.merge(&["first.dshap", "second.dshap"]).unwrap();
    for valuer in ["updated.dshap", "merged.dshap"] {
        let (found, _) = folder.value_by("points.csv", valuer, Asked::nothing());
        for (found, expected) in column(&found, "dist_sq").iter().zip(&column(&expected, "dist_sq")) {
            assert!((found / expected - 1.0).abs() < 1e-7, "{valuer}: {found} and {expected}");
        }
    }
    let gone = folder.update("updated.dshap", &[], &["second.csv"]).unwrap();
    assert!(gone.summary.warnings.is_empty(), "{:?}", gone.summary.warnings);
    let (expected, _) = folder.value_by("points.csv", "first.dshap", Asked::nothing());
    let (found, _) = folder.value_by("points.csv", "updated.dshap", Asked::nothing());
    for (found, expected) in column(&found, "dist_sq").iter().zip(&column(&expected, "dist_sq")) {
        assert!((found / expected - 1.0).abs() < 1e-7, "{found} and {expected}");
    }
}

/// The first rows look harmless; the table is read once more.
#[test]
fn hard_columns_that_show_late_take_a_pass_of_their_own() {
    let folder = Folder::new();
    let mut draws = Draws::new(34);
    let mut text = "a,b,y\n".to_string();
    for row in 0..9000 {
        let common = if row < 4096 { 0.0 } else { 1e6 * draws.normal() };
        let (a, b) = (common + draws.normal(), common + draws.normal());
        text += &format!("{a},{b},{}\n", a - b + draws.normal());
    }
    folder.write("all.csv", &text);
    let (_, said) = folder.value("all.csv", Asked::new("y"));
    assert_eq!((said.reference_passes, said.extra_passes.clone()), (2, vec![ExtraPass::HardColumns]));
    assert!(said.facts.value_digits.unwrap() >= 8, "{:?}", said.facts);
}

fn by_draws(asked: Asked, ridge: f64) -> Asked {
    asked.by("general").set(&RIDGE, ridge).set(&SAMPLES, 64).set(&SEED, 5)
}

#[test]
fn valuers_by_general_carry_their_rows() {
    let (folder, _) = tables(35, 400);
    let drawn = by_draws(asked(), 2.0).set(&M, 150);
    folder.fit(&["all.csv"], drawn.clone(), "v.dshap");
    let (expected, _) = folder.value("points.csv", drawn.against(&[folder.name("all.csv")]));
    let (found, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
    assert_eq!(said.reference_passes, 0);
    for name in ["value", "stderr", "dist_sq", "resid_sq"] {
        assert_same_bits(&column(&found, name), &column(&expected, name), name);
    }

    // Its own name changes nothing, and one option changes only that.
    let (again, _) = folder.value_by("points.csv", "v.dshap", Asked::nothing().by("general"));
    assert_same_bits(&column(&again, "value"), &column(&found, "value"), "its own method");
    let (_, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing().set(&SAMPLES, 32));
    assert_eq!((said.rounds, said.facts.ridge), (Some(32), Some(2.0)));
    let stray = folder.try_value_by("points.csv", "v.dshap", Asked::nothing().set(&BOUND_C, 1));
    assert!(matches!(
        stray,
        Err(Error::Misuse(Misuse::NotTaken { option: "bound_c", method: "general", .. }))
    ));

    // Other options, and the closed form, from the same file.
    let other = by_draws(Asked::nothing(), 0.0);
    let (unpenalised, _) = folder.value_by("points.csv", "v.dshap", other.clone());
    assert_ne!(column(&unpenalised, "value"), column(&found, "value"));
    folder.value_by("points.csv", "v.dshap", Asked::nothing().by("gaussian"));

    for changed in [folder.update("v.dshap", &["points.csv"], &[]), folder.merge(&["v.dshap", "v.dshap"])] {
        assert!(matches!(changed, Err(Error::FixedReference { why: Fixed::Method("general") })));
    }
    folder.fit(&["all.csv"], asked(), "plain.dshap");
    let without_rows = folder.try_value_by("points.csv", "plain.dshap", other);
    assert!(matches!(
        without_rows,
        Err(Error::Incomplete { method: "general", needs: Some(ExtraPass::Rows) })
    ));
}

#[test]
fn a_saved_valuer_has_the_bits_of_the_fit() {
    let (folder, _) = tables(1, 5000);
    for (name, asked) in [("plain", asked()), ("weighted", weighted())] {
        folder.fit(&["all.csv"], asked.clone(), "v.dshap");
        let (expected, said) = folder.value("points.csv", asked.against(&[folder.name("all.csv")]));
        let (found, again) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
        assert_same(&found, &expected);
        assert_eq!(again.facts, said.facts, "{name}");
        assert_eq!((again.reference_passes, said.reference_passes), (0, 2));
    }
}

#[test]
fn saving_again_changes_no_byte() {
    let (folder, _) = tables(2, 300);
    folder.fit(&["all.csv"], weighted(), "v.dshap");
    let bytes = std::fs::read(folder.path("v.dshap")).unwrap();
    assert_eq!(folder.load("v.dshap").to_container().to_bytes().unwrap(), bytes);
    folder.fit(&["all.csv"], weighted(), "again.dshap");
    assert_eq!(std::fs::read(folder.path("again.dshap")).unwrap(), bytes, "nothing but the input counts");
}

fn with_cuts(n: usize, shares: &[f64]) -> Vec<usize> {
    let mut cuts: Vec<usize> = shares.iter().map(|share| 30 + (share * (n - 60) as f64) as usize).collect();
    cuts.sort_unstable();
    cuts.dedup_by(|a, b| *a - *b < 30);
    [0].into_iter().chain(cuts).chain([n]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn merged_parts_are_the_whole(
        seed in 0..1000_u64,
        n in 200..6000_usize,
        shares in prop::collection::vec(0.0..1.0_f64, 1..4),
        with_weights in any::<bool>(),
    ) {
        let (folder, table) = tables(seed, n);
        let asked = if with_weights { weighted() } else { asked() };
        folder.fit(&["all.csv"], asked.clone(), "all.dshap");
        let cuts = with_cuts(n, &shares);
        let mut names = Vec::new();
        for (i, cut) in cuts.windows(2).enumerate() {
            folder.write(&format!("{i}.csv"), &table.part(cut[0], cut[1]));
            folder.fit(&[&format!("{i}.csv")], asked.clone(), &format!("{i}.dshap"));
            names.push(format!("{i}.dshap"));
        }
        let merged = folder.merge(&names.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(linear(&merged.valuer).fit.n_rows(), n);
        let (expected, whole) = folder.value_by("points.csv", "all.dshap", Asked::nothing());
        let (found, parts) = folder.value_by("points.csv", "merged.dshap", Asked::nothing());
        assert_close(&found, &expected, ROUNDING);
        prop_assert_eq!((parts.facts.m, parts.facts.q), (whole.facts.m, whole.facts.q));
    }

    #[test]
    fn updates_are_fits_of_all_rows(
        seed in 0..1000_u64,
        n in 200..6000_usize,
        share in 0.0..1.0_f64,
        with_weights in any::<bool>(),
    ) {
        let (folder, table) = tables(seed, n);
        let asked = if with_weights { weighted() } else { asked() };
        let cut = with_cuts(n, &[share])[1];
        folder.write("first.csv", &table.part(0, cut));
        folder.write("rest.csv", &table.part(cut, n));
        folder.fit(&["all.csv"], asked.clone(), "all.dshap");
        folder.fit(&["first.csv"], asked.clone(), "first.dshap");
        folder.update("first.dshap", &["rest.csv"], &[]).unwrap();
        let (expected, _) = folder.value_by("points.csv", "all.dshap", Asked::nothing());
        let (found, _) = folder.value_by("points.csv", "updated.dshap", Asked::nothing());
        assert_close(&found, &expected, ROUNDING);

        // And back: what was added is forgotten.
        let forgotten = folder.update("updated.dshap", &[], &["rest.csv"]).unwrap();
        prop_assert!(forgotten.summary.digits.unwrap() > 12.0);
        let (expected, _) = folder.value_by("points.csv", "first.dshap", Asked::nothing());
        let (found, _) = folder.value_by("points.csv", "updated.dshap", Asked::nothing());
        assert_values_close(&found, &expected, 1e4 * 10_f64.powf(-forgotten.summary.digits.unwrap()));
        assert_errors_close(&found, &expected, if cut < FEW_ROWS { OTHER_SMALL_SAMPLE } else { OTHER_SAMPLE });
    }

    #[test]
    fn forgotten_rows_might_never_have_been(seed in 0..1000_u64, n in 300..3000_usize, share in 0.1..0.6_f64) {
        let (folder, table) = tables(seed, n);
        let go = (share * n as f64) as usize;
        folder.write("go.csv", &table.part(50, 50 + go));
        folder.write("stay.csv", &table.without(50, 50 + go));
        folder.fit(&["all.csv"], asked(), "all.dshap");
        folder.fit(&["stay.csv"], asked(), "stay.dshap");
        folder.update("all.dshap", &[], &["go.csv"]).unwrap();
        let (expected, _) = folder.value_by("points.csv", "stay.dshap", Asked::nothing());
        let (found, said) = folder.value_by("points.csv", "updated.dshap", Asked::nothing());
        assert_close(&found, &expected, 1e-10);
        prop_assert_eq!(said.facts.m, n - go, "the default follows");
    }
}

/// Parts with different levels know the levels of each other, whichever comes first.
#[test]
fn levels_of_all_parts_are_known() {
    let folder = Folder::new();
    let (north, south) =
        (Table::new(3, 200, &["Oslo", "Bergen"]), Table::new(4, 300, &["Rome", "Oslo", "Bari"]));
    folder.write("north.csv", &north.csv());
    folder.write("south.csv", &south.csv());
    folder.write("all.csv", &(north.csv() + south.csv().strip_prefix(common::HEADER).unwrap()));
    folder.write("points.csv", &Table::new(5, 30, &["Bari", "Bergen", "Rome"]).csv());
    folder.fit(&["north.csv"], asked(), "north.dshap");
    folder.fit(&["south.csv"], asked(), "south.dshap");
    folder.fit(&["all.csv"], asked(), "all.dshap");
    let (expected, _) = folder.value_by("points.csv", "all.dshap", Asked::nothing());
    for parts in [["north.dshap", "south.dshap"], ["south.dshap", "north.dshap"]] {
        let merged = folder.merge(&parts).unwrap();
        assert!(merged.summary.new_levels.iter().any(|level| level.starts_with("city=B")));
        let (found, _) = folder.value_by("points.csv", "merged.dshap", Asked::nothing());
        assert_close(&found, &expected, ROUNDING);
    }
    let updated = folder.update("north.dshap", &["south.csv"], &[]).unwrap();
    assert_eq!(updated.summary.new_levels, ["city=Bari", "city=Rome"]);
    let (found, _) = folder.value_by("points.csv", "updated.dshap", Asked::nothing());
    assert_close(&found, &expected, ROUNDING);

    // Forgetting all rows of a level forgets the level.
    let forgotten = folder.update("updated.dshap", &[], &["south.csv"]).unwrap();
    assert_eq!(forgotten.summary.lost_levels, ["city=Bari", "city=Rome"]);
    assert_eq!(forgotten.valuer.design, folder.load("north.dshap").design);
}

#[test]
fn sizes_follow_the_reference_unless_given() {
    let (folder, table) = tables(6, 400);
    folder.write("half.csv", &table.part(0, 200));
    folder.write("rest.csv", &table.part(200, 400));
    let sizes = |fitted: &Fitted| (fitted.summary.facts.m, fitted.summary.facts.q);

    // Five of the rarest of three cities.
    assert_eq!(sizes(&folder.fit(&["half.csv"], asked(), "v.dshap")), (200, 17));
    let grown = folder.update("v.dshap", &["rest.csv"], &[]).unwrap();
    assert_eq!((sizes(&grown), grown.summary.sizes_before), ((400, 17), Some((200, 17))));

    let given = asked().set(&Q, 20).set(&M, 100);
    folder.fit(&["half.csv"], given.clone(), "g.dshap");
    let grown = folder.update("g.dshap", &["rest.csv"], &[]).unwrap();
    assert_eq!(sizes(&grown), (100, 20), "what was given stays");

    folder.fit(&["rest.csv"], given, "h.dshap");
    let merged = folder.merge(&["g.dshap", "h.dshap"]).unwrap();
    assert_eq!((sizes(&merged), merged.summary.facts.m_default), ((100, 20), false));
    let Err(Error::CannotMerge { why, .. }) = folder.merge(&["g.dshap", "v.dshap"]) else {
        panic!("sizes differ")
    };
    assert_eq!(why, MergeConflict::Size { option: "q", first: Some(20), second: None });

    let (_, said) = folder.value_by("points.csv", "g.dshap", Asked::nothing().set(&M, 5000));
    assert_eq!((said.facts.m, said.facts.q), (5000, 20));
}

#[test]
fn the_method_can_be_another_when_valuing() {
    let (folder, _) = tables(7, 300);
    folder.fit(&["all.csv"], asked(), "v.dshap");
    let (plain, _) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
    let by: [fn(Asked) -> Asked; 4] = [
        |asked| asked.by("gaussian").set(&CONSTANT, "theorem"),
        |asked| asked.by("gaussian").set(&CONSTANT, "full:2.5"),
        |asked| asked.by("gaussian").set(&CONVENTION, "printed"),
        |asked| asked.by("algorithm-3").set(&SEED, 5),
    ];
    for by in by {
        // Given when valuing, or when fitting: the same.
        folder.fit(&["all.csv"], by(asked()), "w.dshap");
        // Nothing is asked of the valuer, not even standard errors: not every method has them.
        let points = ValueRequest::new(vec![folder.name("points.csv")], Given::new());
        let fitted = ValueRequest { valuer: Some(folder.path("w.dshap")), ..points };
        let (expected, _) = Folder::valued(&fitted).unwrap();
        let (found, _) = folder.value_by("points.csv", "v.dshap", by(Asked::nothing()));
        let name = format!("{:?}", by(Asked::nothing()).given);
        assert_same_bits(&column(&found, "value"), &column(&expected, "value"), &name);
        assert_ne!(column(&found, "value"), column(&plain, "value"), "{name}");
    }
}

#[test]
fn policies_can_be_others_when_valuing() {
    let folder = Folder::new();
    folder.write("all.csv", &Table::new(8, 300, &["Rome", "Oslo"]).csv());
    folder.write("points.csv", "size,city,price\n,Rome,170\n50,Lima,171\n");
    folder.fit(&["all.csv"], asked(), "v.dshap");
    let zero = Asked::nothing().set(&UNSEEN, "zero");
    let (found, _) = folder.value_by("points.csv", "v.dshap", zero.clone().set(&MISSING, "mean"));
    let mean = linear(&folder.load("v.dshap")).moments.mean(0);
    folder.write("filled.csv", &format!("size,city,price\n{mean},Rome,170\n50,Oslo,171\n"));
    let (expected, _) = folder.value_by("filled.csv", "v.dshap", Asked::nothing());
    assert_same(&found, &expected);

    let (found, said) = folder.value_by("points.csv", "v.dshap", zero.set(&MISSING, "drop"));
    assert!(column(&found, "value")[0].is_nan() && !column(&found, "value")[1].is_nan());
    assert_eq!(
        said.warnings,
        [Warning::RowsLeftOut { role: RowRole::Point, n_rows: 1, lack: Lack::CellOrTarget }]
    );
}

#[test]
fn filled_cells_are_told_of() {
    let folder = Folder::new();
    let table = Table::new(9, 400, &["Rome", "Oslo"]).with_gaps(10);
    folder.write("a.csv", &table.part(0, 200));
    folder.write("b.csv", &table.part(200, 400));
    let filling = asked().set(&MISSING, "mean");
    folder.fit(&["a.csv"], filling.clone(), "a.dshap");
    folder.fit(&["b.csv"], filling, "b.dshap");
    let merged = folder.merge(&["a.dshap", "b.dshap"]).unwrap();
    assert_eq!(merged.summary.warnings[0], Warning::FilledCells { n_cells: 40 });
    let updated = folder.update("a.dshap", &["b.csv"], &[]).unwrap();
    assert_eq!(updated.summary.warnings[0], Warning::FilledCells { n_cells: 20 });
}

#[test]
fn rows_that_count_twice_are_told_of() {
    let (folder, table) = tables(10, 300);
    folder.write("half.csv", &table.part(0, 150));
    folder.fit(&["all.csv"], asked(), "all.dshap");
    folder.fit(&["half.csv"], asked(), "half.dshap");
    let merged = folder.merge(&["all.dshap", "all.dshap"]).unwrap();
    let twice = Warning::RepeatedFile { file: folder.name("all.csv") };
    assert_eq!(merged.summary.warnings[0], twice);
    let updated = folder.update("all.dshap", &["all.csv"], &[]).unwrap();
    assert_eq!(updated.summary.warnings[0], twice);
    assert!(
        folder.merge(&["all.dshap", "half.dshap"]).unwrap().summary.warnings.is_empty(),
        "not to be known"
    );

    let (_, said) = folder.value_by("all.csv", "all.dshap", Asked::nothing());
    let (file, valuer) = (folder.name("all.csv"), folder.name("all.dshap"));
    assert_eq!(said.warnings[0], Warning::PointsInValuer { file, valuer });
}

#[test]
fn rows_that_are_forgotten_twice_are_told_of() {
    let (folder, table) = tables(14, 300);
    folder.write("go.csv", &table.part(0, 50));
    folder.fit(&["all.csv"], asked(), "all.dshap");
    assert!(folder.update("all.dshap", &[], &["go.csv"]).unwrap().summary.warnings.is_empty());
    let again = folder.update("updated.dshap", &[], &["go.csv"]).unwrap();
    assert_eq!(again.summary.warnings[0], Warning::ForgottenAgain { file: folder.name("go.csv") });
}

/// Rows of weight 0 are not there: neither their levels nor their cells count,
/// and adding them changes nothing.
#[test]
fn rows_of_weight_zero_teach_nothing() {
    let folder = Folder::new();
    let mut csv = Table::new(15, 200, &["Rome", "Oslo"]).with_gaps(9).csv();
    folder.write("without.csv", &csv);
    csv += "900,Lima,0,5\n,Lima,0,7\n";
    folder.write("with.csv", &csv);
    folder.write("zero.csv", "size,city,w,price\n900,Rome,0,5\n40,Oslo,0,7\n");
    let filling = weighted().set(&MISSING, "mean");
    let without = folder.fit(&["without.csv"], filling.clone(), "without.dshap").valuer;
    let with = folder.fit(&["with.csv"], filling, "with.dshap").valuer;
    assert_eq!(with.design, without.design);
    assert_eq!(linear(&with).fit.n_rows(), 200);
    let updated = folder.update("without.dshap", &["zero.csv"], &[]).unwrap().valuer;
    assert_eq!(linear(&updated).moments, linear(&without).moments);
    let forgotten = folder.update("without.dshap", &[], &["zero.csv"]).unwrap().valuer;
    assert_eq!(linear(&forgotten).moments, linear(&without).moments);
}

/// What is filled in is the mean of the weighted reference.
#[test]
fn means_are_weighted() {
    let folder = Folder::new();
    folder.write("t.csv", "x,c,w,y\n1,a,1,1\n4,b,2,3\n,a,2,2\n6,,1,8\n3,b,3,1\n2,a,1,5\n9,b,1,4\n");
    let filling = Asked::new("y").set(&MISSING, "mean").set(&WEIGHT, "w");
    let valuer = folder.fit(&["t.csv"], filling, "t.dshap").valuer;
    let dshap_table::Encoding::Number { fill } = valuer.design.parts().encodings[0] else {
        panic!("a number")
    };
    assert_eq!(fill, Some((1.0 + 8.0 + 6.0 + 9.0 + 2.0 + 9.0) / 9.0));
    let dshap_table::Encoding::OneHot { fill, .. } = &valuer.design.parts().encodings[1] else {
        panic!("text")
    };
    assert_eq!(fill.as_deref(), Some(&[6.0 / 10.0][..]), "b has weight 6 of the 10 that have a level");
}

#[test]
fn what_cannot_be_forgotten_is_refused() {
    let (folder, table) = tables(11, 300);
    folder.fit(&["all.csv"], asked(), "v.dshap");
    let before = std::fs::read(folder.path("v.dshap")).unwrap();
    let error = |forget: &str| match folder.update("v.dshap", &[], &[forget]) {
        Err(error) => error,
        Ok(_) => panic!("{forget} was forgotten"),
    };
    let cannot = |forget: &str| match error(forget) {
        Error::CannotForget { files, column, n_rows, n_reference } => {
            assert_eq!(files, [folder.name(forget)]);
            (column, n_rows, n_reference)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(cannot("all.csv"), (None, 300, 300));
    folder.write("far.csv", "size,city,w,price\n9000,Rome,1,10\n-9000,Rome,1,10\n");
    assert_eq!(cannot("far.csv"), (Some("size".into()), 2, 300));
    folder.write("lima.csv", "size,city,w,price\n50,Lima,1,10\n");
    let Error::Table { error: dshap_table::Error::UnseenLevel { name, level, .. }, .. } = error("lima.csv")
    else {
        panic!("{:?}", error("lima.csv"))
    };
    assert_eq!((name.as_str(), level.as_str()), ("city", "Lima"));
    folder.write("most.csv", &table.part(0, 298));
    let Error::Core { error, .. } = error("most.csv") else { panic!("{:?}", error("most.csv")) };
    assert!(matches!(error, dshap::Error::TooFewRows { n_rows: 2, .. }), "{error:?}");
    assert_eq!(std::fs::read(folder.path("v.dshap")).unwrap(), before);
}

/// Only what was fitted alike can be merged.
#[test]
fn what_cannot_be_merged_is_refused() {
    let (folder, _) = tables(12, 300);
    folder.fit(&["all.csv"], asked(), "v.dshap");
    let refused = |other: Asked| {
        folder.fit(&["all.csv"], other, "other.dshap");
        match folder.merge(&["v.dshap", "other.dshap"]) {
            Err(Error::CannotMerge { first, second, why }) => {
                assert_eq!([first, second], ["v.dshap", "other.dshap"].map(|name| folder.name(name)));
                why
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("merged"),
        }
    };
    let differs = |difference| MergeConflict::Columns(dshap_table::Error::Differs(difference));
    assert_eq!(refused(asked().on(&NO_INTERCEPT)), MergeConflict::Intercept);
    assert_eq!(refused(Asked::new("price")), differs(Difference::Feature { name: "w".into() }));
    let targets = Difference::Targets { first: "price".into(), second: "size".into() };
    assert_eq!(refused(Asked::new("size").set(&EXCLUDE, "w")), differs(targets));
    assert_eq!(refused(asked().set(&WEIGHT, "w")), differs(Difference::Weights));
    assert_eq!(refused(asked().set(&MISSING, "mean")), differs(Difference::Means));
    assert_eq!(refused(asked().set(&CONSTANT, "theorem")), MergeConflict::Methods);
}

/// Weights in the command are those of core.
#[test]
fn weights_reach_the_fit() {
    let folder = Folder::new();
    // Whole weights against rows written so many times.
    let (mut once, mut copied) = (String::from("x,w,y\n"), String::from("x,y\n"));
    let mut draws = dshap_testkit::Draws::new(4);
    for i in 0..200 {
        let (x, noise) = (draws.normal(), draws.normal());
        let line = format!("{x},{}", 2.0 * x + noise);
        once += &format!("{x},{},{}\n", i % 4, 2.0 * x + noise);
        copied += &format!("{line}\n").repeat(i % 4);
    }
    folder.write("once.csv", &once);
    folder.write("copied.csv", &copied);
    let by_weight = Asked::new("y").set(&WEIGHT, "w");
    let one = folder.fit(&["once.csv"], by_weight.clone(), "once.dshap").valuer;
    let many = folder.fit(&["copied.csv"], Asked::new("y"), "copied.dshap").valuer;
    assert!((linear(&one).fit.coef()[0] - linear(&many).fit.coef()[0]).abs() < 1e-12);
    assert_eq!((linear(&one).fit.n_rows(), linear(&many).fit.n_rows()), (150, 300));

    folder.write("bad.csv", "x,w,y\n1,1,1\n2,-3,2\n3,1,4\n4,1,7\n5,1,1\n");
    let Err(error) = folder.try_fit(&["bad.csv"], by_weight) else { panic!("a negative weight was taken") };
    let Error::Table { location, error: dshap_table::Error::BadWeight { name, weight, .. } } = error else {
        panic!("{error:?}")
    };
    assert_eq!(location.unwrap().place, dshap_io::Place::Line(3));
    assert_eq!((name.as_str(), weight), ("w", -3.0));
}

/// A valuer written by the first format, kept for all time: its values stay.
#[test]
fn the_first_format_is_read_for_ever() {
    let folder = Folder::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers/version-1.dshap");
    std::fs::copy(stored, folder.path("v.dshap")).unwrap();
    let valuer = FittedValuer::load(&folder.path("v.dshap")).unwrap();
    assert_eq!((linear(&valuer).fit.n_rows(), valuer.design.target()), (300, Some("price")));
    folder.write("points.csv", "size,city,price\n50.5,Rome,171\n20,Oslo,140\n");
    let (found, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
    assert_eq!((said.facts.p, said.facts.q, said.facts.m), (2, 12, 300));
    for (found, expected) in column(&found, "value").iter().zip(FIRST_FORMAT_VALUES) {
        // Another processor may choose other kernels.
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}");
    }
}

/// Said when the reference is fitted, asked for when a front end fits again.
#[test]
fn what_was_said_about_columns_is_remembered() {
    let (folder, table) = tables(3, 60);
    let numbered: String = table.csv().replace("size", "column_0").replace("city", "column_1");
    folder.write("numbered.csv", &numbered);
    folder.fit(&["all.csv"], asked().set(&CATEGORICAL, "city"), "v.dshap");
    let valuer = folder.load("v.dshap");
    assert_eq!((valuer.categorical.as_slice(), valuer.has_names()), (&["city".to_string()][..], true));
    folder.fit(&["numbered.csv"], asked(), "v.dshap");
    let named = folder.load("v.dshap");
    assert!(named.has_names(), "a header gave them these names");
    let numbered = FittedValuer { has_names: Some(false), ..named };
    let bytes = numbered.to_container().to_bytes().unwrap();
    assert!(!FittedValuer::from_bytes(&bytes, "v.dshap").unwrap().has_names());
}

/// The second format: powers of years, held as a triangle, with the rows that
/// `general` draws from.
#[test]
fn the_second_format_is_read_for_ever() {
    let folder = Folder::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers/version-2.dshap");
    std::fs::copy(stored, folder.path("v.dshap")).unwrap();
    let valuer = FittedValuer::load(&folder.path("v.dshap")).unwrap();
    assert_eq!((linear(&valuer).fit.n_rows(), linear(&valuer).moments.form()), (240, MomentsForm::Triangle));
    let points =
        "year,square,cube,city,price\n1975,3900625,7703734375,Rome,12\n2012,4048144,8144865728,Oslo,6\n";
    folder.write("points.csv", points);
    let (found, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
    assert_eq!((said.facts.method, said.facts.m, said.rounds), ("general", 120, Some(64)));
    for (found, expected) in column(&found, "value").iter().zip(SECOND_FORMAT_VALUES) {
        assert!((found / expected - 1.0).abs() < 1e-7, "{found}");
    }
}

/// Valuers that were saved when `printed` bounds were those of the authors' program: they
/// load as that, and value rows as they did. Bounds to the letter are saved under another word.
#[test]
fn bounds_saved_as_printed_are_those_of_the_authors() {
    for (name, table, options, expected) in [
        ("lower", "numbers.csv", &[("ridge", "0.5"), ("stop", "0.005")][..], OLD_PRINTED_VALUES),
        ("labels", "labels.csv", &[][..], OLD_PRINTED_VALUES_OF_LABELS),
    ] {
        let folder = Folder::new();
        let testdata = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");
        let stored = format!("{testdata}/valuers/version-2-printed-{name}.dshap");
        std::fs::copy(stored, folder.path("v.dshap")).unwrap();
        std::fs::copy(format!("{testdata}/values/{table}"), folder.path("points.csv")).unwrap();
        let how = FittedValuer::load(&folder.path("v.dshap")).unwrap().how;
        assert!(how.given.is(&CONVENTION, "authors"), "{:?}", how.given);
        for (option, value) in options {
            let option = dshap_catalogue::options::find(option).unwrap();
            assert_eq!(how.given.number(option).unwrap().to_string(), *value);
        }
        let (found, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing().set(&MISSING, "drop"));
        assert_eq!(said.facts.convention, "authors");
        for (found, expected) in column(&found, "value").iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }
    let (folder, _) = tables(3, 60);
    for convention in ["printed", "authors", "definition"] {
        folder.fit(&["all.csv"], asked().by("lower").set(&CONVENTION, convention), "v.dshap");
        assert_eq!(folder.load("v.dshap").how.given.word(&CONVENTION).unwrap_or("definition"), convention);
    }
}

/// What the dshaps that wrote the stored valuers said.
const OLD_PRINTED_VALUES: [f64; 3] =
    [-0.000_016_107_599_220_917_643, 0.000_083_767_038_052_779_07, -0.000_083_002_914_417_012_65];
const OLD_PRINTED_VALUES_OF_LABELS: [f64; 3] =
    [0.000_036_466_633_393_757_97, 0.000_047_321_349_871_196_5, 0.000_031_117_115_895_673_76];
const SECOND_FORMAT_VALUES: [f64; 2] = [-0.024_807_362_203_011_985, -0.016_188_958_748_639_25];
const FIRST_FORMAT_VALUES: [f64; 2] = [0.061_470_711_007_400_76, -6.284_568_445_485_791];
