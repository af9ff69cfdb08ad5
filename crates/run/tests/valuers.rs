//! Valuers that are saved, updated and merged, against fits of the whole.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod common;

use arrow_array::RecordBatch;
use common::{Folder, Table, column, model, weighted};
use dshap::MomentsForm;
use dshap::linear::{Algorithm3, Constant, Convention, GeneralOptions};
use dshap_run::{
    Against, Error, ExtraPass, Fitted, Method, MethodChoice, MethodName, Model, Overrides, SavedValuer,
    SizeChoice, fit,
};
use dshap_table::{Missing, Unseen};
use dshap_testkit::{Draws, assert_same_bits};
use proptest::prelude::*;

const COLUMNS: [&str; 6] = ["value", "stderr", "potential", "penalty", "dist_sq", "resid_sq"];

/// Merging, updating and forgetting agree with a fit of the whole to this,
/// relative to the larger of a value's two sides.
const ROUNDING: f64 = 1e-11;

#[track_caller]
fn assert_same(found: &RecordBatch, expected: &RecordBatch) {
    for name in COLUMNS {
        assert_same_bits(&column(found, name), &column(expected, name), name);
    }
}

#[track_caller]
fn assert_close(found: &RecordBatch, expected: &RecordBatch, tolerance: f64) {
    let potential = column(expected, "potential");
    let penalty = column(expected, "penalty");
    for name in COLUMNS {
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

fn of_prices() -> Model {
    Model::new("price")
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
    let (expected, said) = folder.value_by("points.csv", "all.dshap", Overrides::default());
    assert_eq!(folder.load("all.dshap").moments().unwrap().form(), MomentsForm::Triangle);
    assert!(said.facts.condition.unwrap() > 1e5 && said.facts.value_digits.unwrap() >= 8, "{:?}", said.facts);
    let direct = Against::Reference { files: vec![folder.name("all.csv")], model: of_prices() };
    let (by_reference, said) = folder.value("points.csv", direct);
    assert_eq!(said.reference_passes, 1);
    assert_same_bits(&column(&by_reference, "value"), &column(&expected, "value"), "by reference");

    folder.fit(&["first.csv"], of_prices(), "first.dshap");
    folder.fit(&["second.csv"], of_prices(), "second.dshap");
    folder.update("first.dshap", &["second.csv"], &[]).unwrap();
    folder.merge(&["first.dshap", "second.dshap"]).unwrap();
    for valuer in ["updated.dshap", "merged.dshap"] {
        let (found, _) = folder.value_by("points.csv", valuer, Overrides::default());
        for (found, expected) in column(&found, "dist_sq").iter().zip(&column(&expected, "dist_sq")) {
            assert!((found / expected - 1.0).abs() < 1e-7, "{valuer}: {found} and {expected}");
        }
    }
    let gone = folder.update("updated.dshap", &[], &["second.csv"]).unwrap();
    assert_eq!(gone.summary.warnings, [] as [&str; 0]);
    let (expected, _) = folder.value_by("points.csv", "first.dshap", Overrides::default());
    let (found, _) = folder.value_by("points.csv", "updated.dshap", Overrides::default());
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
    let against = Against::Themselves(Model::new("y"));
    let (_, said) = folder.value("all.csv", against);
    assert_eq!((said.reference_passes, said.extra_passes.clone()), (2, vec![ExtraPass::HardColumns]));
    assert!(said.facts.value_digits.unwrap() >= 8, "{:?}", said.facts);
}

fn by_draws(ridge: f64) -> Method {
    Method::General(GeneralOptions { ridge, max_rounds: 64, seed: 5, ..GeneralOptions::default() })
}

#[test]
fn valuers_by_general_carry_their_rows() {
    let (folder, _) = tables(35, 400);
    let sizes = SizeChoice { min: None, max: Some(150) };
    let model = Model { method: by_draws(2.0), sizes, ..model() };
    folder.fit(&["all.csv"], model.clone(), "v.dshap");
    let direct = Against::Reference { files: vec![folder.name("all.csv")], model };
    let (expected, _) = folder.value("points.csv", direct);
    let (found, said) = folder.value_by("points.csv", "v.dshap", Overrides::default());
    assert_eq!(said.reference_passes, 0);
    for name in ["value", "stderr", "dist_sq", "resid_sq"] {
        assert_same_bits(&column(&found, name), &column(&expected, name), name);
    }

    // Its own name changes nothing, and one option changes only that.
    let named = MethodChoice { name: Some(MethodName::General), ..MethodChoice::default() };
    let (again, _) =
        folder.value_by("points.csv", "v.dshap", Overrides { method: named, ..Overrides::default() });
    assert_same_bits(&column(&again, "value"), &column(&found, "value"), "its own method");
    let fewer = MethodChoice { samples: Some(32), ..MethodChoice::default() };
    let (_, said) =
        folder.value_by("points.csv", "v.dshap", Overrides { method: fewer, ..Overrides::default() });
    assert_eq!((said.rounds, said.facts.ridge), (Some(32), Some(2.0)));
    let stray = MethodChoice { bound_c: Some(1.0), ..MethodChoice::default() };
    let against = Against::Valuer {
        file: folder.path("v.dshap"),
        overrides: Overrides { method: stray, ..Overrides::default() },
    };
    assert!(matches!(folder.try_value("points.csv", against), Err(Error::Misplaced { .. })));

    // Other options, and the closed form, from the same file.
    let other = Overrides { method: MethodChoice::of(by_draws(0.0)), ..Overrides::default() };
    let (unpenalised, _) = folder.value_by("points.csv", "v.dshap", other.clone());
    assert_ne!(column(&unpenalised, "value"), column(&found, "value"));
    let closed = Overrides { method: MethodChoice::of(Method::default()), ..Overrides::default() };
    folder.value_by("points.csv", "v.dshap", closed);

    assert!(matches!(folder.update("v.dshap", &["points.csv"], &[]), Err(Error::FixedReference { .. })));
    assert!(matches!(folder.merge(&["v.dshap", "v.dshap"]), Err(Error::FixedReference { .. })));
    folder.fit(&["all.csv"], common::model(), "plain.dshap");
    let against = Against::Valuer { file: folder.path("plain.dshap"), overrides: other };
    assert!(matches!(folder.try_value("points.csv", against), Err(Error::NoRowsToDraw)));
}

#[test]
fn a_saved_valuer_has_the_bits_of_the_fit() {
    let (folder, _) = tables(1, 5000);
    for (name, model) in [("plain", model()), ("weighted", weighted())] {
        folder.fit(&["all.csv"], model.clone(), "v.dshap");
        let direct = Against::Reference { files: vec![folder.name("all.csv")], model };
        let (expected, said) = folder.value("points.csv", direct);
        let (found, again) = folder.value_by("points.csv", "v.dshap", Overrides::default());
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
        let model = if with_weights { weighted() } else { model() };
        folder.fit(&["all.csv"], model.clone(), "all.dshap");
        let cuts = with_cuts(n, &shares);
        let mut names = Vec::new();
        for (i, cut) in cuts.windows(2).enumerate() {
            folder.write(&format!("{i}.csv"), &table.part(cut[0], cut[1]));
            folder.fit(&[&format!("{i}.csv")], model.clone(), &format!("{i}.dshap"));
            names.push(format!("{i}.dshap"));
        }
        let merged = folder.merge(&names.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(merged.valuer.fit().unwrap().n_rows(), n);
        let (expected, whole) = folder.value_by("points.csv", "all.dshap", Overrides::default());
        let (found, parts) = folder.value_by("points.csv", "merged.dshap", Overrides::default());
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
        let model = if with_weights { weighted() } else { model() };
        let cut = with_cuts(n, &[share])[1];
        folder.write("first.csv", &table.part(0, cut));
        folder.write("rest.csv", &table.part(cut, n));
        folder.fit(&["all.csv"], model.clone(), "all.dshap");
        folder.fit(&["first.csv"], model.clone(), "first.dshap");
        folder.update("first.dshap", &["rest.csv"], &[]).unwrap();
        let (expected, _) = folder.value_by("points.csv", "all.dshap", Overrides::default());
        let (found, _) = folder.value_by("points.csv", "updated.dshap", Overrides::default());
        assert_close(&found, &expected, ROUNDING);

        // And back: what was added is forgotten.
        let forgotten = folder.update("updated.dshap", &[], &["rest.csv"]).unwrap();
        prop_assert!(forgotten.summary.digits.unwrap() > 12.0);
        let (expected, _) = folder.value_by("points.csv", "first.dshap", Overrides::default());
        let (found, _) = folder.value_by("points.csv", "updated.dshap", Overrides::default());
        assert_close(&found, &expected, 1e4 * 10_f64.powf(-forgotten.summary.digits.unwrap()));
    }

    #[test]
    fn forgotten_rows_might_never_have_been(seed in 0..1000_u64, n in 300..3000_usize, share in 0.1..0.6_f64) {
        let (folder, table) = tables(seed, n);
        let go = (share * n as f64) as usize;
        folder.write("go.csv", &table.part(50, 50 + go));
        folder.write("stay.csv", &table.without(50, 50 + go));
        folder.fit(&["all.csv"], model(), "all.dshap");
        folder.fit(&["stay.csv"], model(), "stay.dshap");
        folder.update("all.dshap", &[], &["go.csv"]).unwrap();
        let (expected, _) = folder.value_by("points.csv", "stay.dshap", Overrides::default());
        let (found, said) = folder.value_by("points.csv", "updated.dshap", Overrides::default());
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
    folder.fit(&["north.csv"], model(), "north.dshap");
    folder.fit(&["south.csv"], model(), "south.dshap");
    folder.fit(&["all.csv"], model(), "all.dshap");
    let (expected, _) = folder.value_by("points.csv", "all.dshap", Overrides::default());
    for parts in [["north.dshap", "south.dshap"], ["south.dshap", "north.dshap"]] {
        let merged = folder.merge(&parts).unwrap();
        assert!(merged.summary.new_levels.iter().any(|level| level.starts_with("city=B")));
        let (found, _) = folder.value_by("points.csv", "merged.dshap", Overrides::default());
        assert_close(&found, &expected, ROUNDING);
    }
    let updated = folder.update("north.dshap", &["south.csv"], &[]).unwrap();
    assert_eq!(updated.summary.new_levels, ["city=Bari", "city=Rome"]);
    let (found, _) = folder.value_by("points.csv", "updated.dshap", Overrides::default());
    assert_close(&found, &expected, ROUNDING);

    // Forgetting all rows of a level forgets the level.
    let forgotten = folder.update("updated.dshap", &[], &["south.csv"]).unwrap();
    assert_eq!(forgotten.summary.lost_levels, ["city=Bari", "city=Rome"]);
    assert_eq!(forgotten.valuer.design(), folder.load("north.dshap").design());
}

#[test]
fn sizes_follow_the_reference_unless_given() {
    let (folder, table) = tables(6, 400);
    folder.write("half.csv", &table.part(0, 200));
    folder.write("rest.csv", &table.part(200, 400));
    let sizes = |fitted: &Fitted| (fitted.summary.facts.m, fitted.summary.facts.q);

    assert_eq!(sizes(&folder.fit(&["half.csv"], model(), "v.dshap")), (200, 13));
    let grown = folder.update("v.dshap", &["rest.csv"], &[]).unwrap();
    assert_eq!((sizes(&grown), grown.summary.sizes_before), ((400, 13), Some((200, 13))));

    let given = Model { sizes: SizeChoice { min: Some(20), max: Some(100) }, ..model() };
    folder.fit(&["half.csv"], given.clone(), "g.dshap");
    let grown = folder.update("g.dshap", &["rest.csv"], &[]).unwrap();
    assert_eq!(sizes(&grown), (100, 20), "what was given stays");

    folder.fit(&["rest.csv"], given, "h.dshap");
    let merged = folder.merge(&["g.dshap", "h.dshap"]).unwrap();
    assert_eq!((sizes(&merged), merged.summary.facts.m_default), ((100, 20), false));
    let Err(error) = folder.merge(&["g.dshap", "v.dshap"]) else { panic!("sizes differ") };
    assert!(
        error.to_string().contains("q is 20 in one and chosen by default in the other; say `--q`"),
        "{error}"
    );

    let sizes = SizeChoice { min: None, max: Some(5000) };
    let overrides = Overrides { sizes, ..Overrides::default() };
    let (_, said) = folder.value_by("points.csv", "g.dshap", overrides);
    assert_eq!((said.facts.m, said.facts.q), (5000, 20));
}

#[test]
fn the_method_can_be_another_when_valuing() {
    let (folder, _) = tables(7, 300);
    folder.fit(&["all.csv"], model(), "v.dshap");
    for method in [
        Method::Gaussian { constant: Constant::Theorem, convention: Convention::Definition },
        Method::Gaussian { constant: Constant::Full(2.5), convention: Convention::Definition },
        Method::Gaussian { constant: Constant::Gain, convention: Convention::Printed },
        Method::Algorithm3(Algorithm3 { seed: 5, ..Algorithm3::default() }),
    ] {
        // Given when valuing, or when fitting: the same.
        folder.fit(&["all.csv"], Model { method, ..model() }, "w.dshap");
        let overrides = Overrides { method: MethodChoice::of(method), ..Overrides::default() };
        let (expected, _) = folder.value_by("points.csv", "w.dshap", Overrides::default());
        let (found, _) = folder.value_by("points.csv", "v.dshap", overrides);
        assert_same_bits(&column(&found, "value"), &column(&expected, "value"), method.name());
    }
}

#[test]
fn policies_can_be_others_when_valuing() {
    let folder = Folder::new();
    folder.write("all.csv", &Table::new(8, 300, &["Rome", "Oslo"]).csv());
    folder.write("points.csv", "size,city,price\n,Rome,170\n50,Lima,171\n");
    folder.fit(&["all.csv"], model(), "v.dshap");
    let overrides =
        Overrides { missing: Some(Missing::Mean), unseen: Some(Unseen::Zero), ..Overrides::default() };
    let (found, _) = folder.value_by("points.csv", "v.dshap", overrides);
    let mean = folder.load("v.dshap").moments().unwrap().mean(0);
    folder.write("filled.csv", &format!("size,city,price\n{mean},Rome,170\n50,Oslo,171\n"));
    let (expected, _) = folder.value_by("filled.csv", "v.dshap", Overrides::default());
    assert_same(&found, &expected);

    let dropped =
        Overrides { missing: Some(Missing::Drop), unseen: Some(Unseen::Zero), ..Overrides::default() };
    let (found, said) = folder.value_by("points.csv", "v.dshap", dropped);
    assert!(column(&found, "value")[0].is_nan() && !column(&found, "value")[1].is_nan());
    assert_eq!(said.warnings, ["1 point row has a missing cell and has no value"]);
}

#[test]
fn filled_cells_are_told_of() {
    let folder = Folder::new();
    let table = Table::new(9, 400, &["Rome", "Oslo"]).with_gaps(10);
    folder.write("a.csv", &table.part(0, 200));
    folder.write("b.csv", &table.part(200, 400));
    let filling = Model { missing: Missing::Mean, ..model() };
    folder.fit(&["a.csv"], filling.clone(), "a.dshap");
    folder.fit(&["b.csv"], filling, "b.dshap");
    let merged = folder.merge(&["a.dshap", "b.dshap"]).unwrap();
    assert!(
        merged.summary.warnings[0].starts_with("40 missing cells were filled"),
        "{:?}",
        merged.summary.warnings
    );
    let updated = folder.update("a.dshap", &["b.csv"], &[]).unwrap();
    assert!(updated.summary.warnings[0].starts_with("20 missing cells were filled"), "{:?}", updated.summary);
}

#[test]
fn rows_that_count_twice_are_told_of() {
    let (folder, table) = tables(10, 300);
    folder.write("half.csv", &table.part(0, 150));
    folder.fit(&["all.csv"], model(), "all.dshap");
    folder.fit(&["half.csv"], model(), "half.dshap");
    let merged = folder.merge(&["all.dshap", "all.dshap"]).unwrap();
    assert!(merged.summary.warnings[0].contains("is in the reference more than once"));
    let updated = folder.update("all.dshap", &["all.csv"], &[]).unwrap();
    assert!(updated.summary.warnings[0].contains("is in the reference more than once"));
    assert!(
        folder.merge(&["all.dshap", "half.dshap"]).unwrap().summary.warnings.is_empty(),
        "not to be known"
    );

    let (_, said) = folder.value_by("all.csv", "all.dshap", Overrides::default());
    assert!(said.warnings[0].contains("are part of the reference"), "{:?}", said.warnings);
}

#[test]
fn rows_that_are_forgotten_twice_are_told_of() {
    let (folder, table) = tables(14, 300);
    folder.write("go.csv", &table.part(0, 50));
    folder.fit(&["all.csv"], model(), "all.dshap");
    assert!(folder.update("all.dshap", &[], &["go.csv"]).unwrap().summary.warnings.is_empty());
    let again = folder.update("updated.dshap", &[], &["go.csv"]).unwrap();
    assert!(again.summary.warnings[0].contains("were forgotten before"), "{:?}", again.summary.warnings);
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
    let filling = Model { missing: Missing::Mean, ..weighted() };
    let without = folder.fit(&["without.csv"], filling.clone(), "without.dshap").valuer;
    let with = folder.fit(&["with.csv"], filling, "with.dshap").valuer;
    assert_eq!(with.design(), without.design());
    assert_eq!(with.fit().unwrap().n_rows(), 200);
    let updated = folder.update("without.dshap", &["zero.csv"], &[]).unwrap().valuer;
    assert_eq!(updated.moments(), without.moments());
    let forgotten = folder.update("without.dshap", &[], &["zero.csv"]).unwrap().valuer;
    assert_eq!(forgotten.moments(), without.moments());
}

/// What is filled in is the mean of the weighted reference.
#[test]
fn means_are_weighted() {
    let folder = Folder::new();
    folder.write("t.csv", "x,c,w,y\n1,a,1,1\n4,b,2,3\n,a,2,2\n6,,1,8\n3,b,3,1\n2,a,1,5\n9,b,1,4\n");
    let mut model = Model { missing: Missing::Mean, ..Model::new("y") };
    model.selection.weight = Some("w".into());
    let valuer = folder.fit(&["t.csv"], model, "t.dshap").valuer;
    let dshap_table::Encoding::Number { fill } = valuer.design().parts().encodings[0] else {
        panic!("a number")
    };
    assert_eq!(fill, Some((1.0 + 8.0 + 6.0 + 9.0 + 2.0 + 9.0) / 9.0));
    let dshap_table::Encoding::OneHot { fill, .. } = &valuer.design().parts().encodings[1] else {
        panic!("text")
    };
    assert_eq!(fill.as_deref(), Some(&[6.0 / 10.0][..]), "b has weight 6 of the 10 that have a level");
}

#[test]
fn what_cannot_be_forgotten_is_refused() {
    let (folder, table) = tables(11, 300);
    folder.fit(&["all.csv"], model(), "v.dshap");
    let before = std::fs::read(folder.path("v.dshap")).unwrap();
    let error = |forget: &str| match folder.update("v.dshap", &[], &[forget]) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{forget} was forgotten"),
    };
    assert!(
        error("all.csv").ends_with("they are 300 rows, and the reference has 300"),
        "{}",
        error("all.csv")
    );
    folder.write("far.csv", "size,city,w,price\n9000,Rome,1,10\n-9000,Rome,1,10\n");
    assert!(error("far.csv").contains("column `size` varies more in them"), "{}", error("far.csv"));
    folder.write("lima.csv", "size,city,w,price\n50,Lima,1,10\n");
    assert!(error("lima.csv").contains("`Lima`, which no reference row has"), "{}", error("lima.csv"));
    folder.write("most.csv", &table.part(0, 298));
    assert!(error("most.csv").contains("2 reference rows are too few"), "{}", error("most.csv"));
    assert_eq!(std::fs::read(folder.path("v.dshap")).unwrap(), before);
}

/// Only what was fitted alike can be merged.
#[test]
fn what_cannot_be_merged_is_refused() {
    let (folder, _) = tables(12, 300);
    folder.fit(&["all.csv"], model(), "v.dshap");
    let refused = |change: fn(&mut Model)| {
        let mut other = model();
        change(&mut other);
        folder.fit(&["all.csv"], other, "other.dshap");
        match folder.merge(&["v.dshap", "other.dshap"]) {
            Err(Error::CannotMerge { what, .. }) => what,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("merged"),
        }
    };
    assert_eq!(refused(|m| m.fit.intercept = false), "only one of them has an intercept");
    assert_eq!(refused(|m| m.selection.exclude.clear()), "feature `w` is only in one of them");
    assert_eq!(refused(|m| m.selection.target = Some("size".into())), "their targets are `price` and `size`");
    assert_eq!(refused(|m| m.selection.weight = Some("w".into())), "only one of them has weights");
    assert_eq!(refused(|m| m.missing = Missing::Mean), "only one of them fills missing cells with means");
    let theorem = |m: &mut Model| {
        m.method = Method::Gaussian { constant: Constant::Theorem, convention: Convention::Definition };
    };
    assert_eq!(refused(theorem), "they value rows by different methods");
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
    let mut by_weight = Model::new("y");
    by_weight.selection.weight = Some("w".into());
    let one = folder.fit(&["once.csv"], by_weight.clone(), "once.dshap").valuer;
    let many = folder.fit(&["copied.csv"], Model::new("y"), "copied.dshap").valuer;
    assert!((one.fit().unwrap().coef()[0] - many.fit().unwrap().coef()[0]).abs() < 1e-12);
    assert_eq!((one.fit().unwrap().n_rows(), many.fit().unwrap().n_rows()), (150, 300));

    folder.write("bad.csv", "x,w,y\n1,1,1\n2,-3,2\n3,1,4\n4,1,7\n5,1,1\n");
    let Err(error) =
        fit(&common::fit_request(vec![folder.name("bad.csv")], by_weight), &dshap_run::Unwatched)
    else {
        panic!("a negative weight was taken")
    };
    let words = error.to_string();
    assert!(words.contains("line 3") && words.contains("the weight in column `w` is -3"), "{words}");
}

/// A valuer written by the first format, kept for all time: its values stay.
#[test]
fn the_first_format_is_read_for_ever() {
    let folder = Folder::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers/version-1.dshap");
    std::fs::copy(stored, folder.path("v.dshap")).unwrap();
    let valuer = SavedValuer::load(&folder.path("v.dshap")).unwrap();
    assert_eq!((valuer.fit().unwrap().n_rows(), valuer.design().target()), (300, Some("price")));
    folder.write("points.csv", "size,city,price\n50.5,Rome,171\n20,Oslo,140\n");
    let (found, said) = folder.value_by("points.csv", "v.dshap", Overrides::default());
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
    let mut model = model();
    model.selection.categorical = vec!["city".into()];
    folder.fit(&["all.csv"], model.clone(), "v.dshap");
    let valuer = folder.load("v.dshap");
    assert_eq!((valuer.categorical(), valuer.has_names()), (&["city".to_string()][..], true));
    model.selection.categorical.clear();
    folder.fit(&["numbered.csv"], model, "v.dshap");
    let named = folder.load("v.dshap");
    assert!(named.has_names(), "a header gave them these names");
    let bytes = named.with_names(false).to_container().to_bytes().unwrap();
    assert!(!SavedValuer::from_bytes(&bytes, "v.dshap").unwrap().has_names());
}

/// The second format: powers of years, held as a triangle, with the rows that
/// `general` draws from.
#[test]
fn the_second_format_is_read_for_ever() {
    let folder = Folder::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers/version-2.dshap");
    std::fs::copy(stored, folder.path("v.dshap")).unwrap();
    let valuer = SavedValuer::load(&folder.path("v.dshap")).unwrap();
    assert_eq!(
        (valuer.fit().unwrap().n_rows(), valuer.moments().unwrap().form()),
        (240, MomentsForm::Triangle)
    );
    let points =
        "year,square,cube,city,price\n1975,3900625,7703734375,Rome,12\n2012,4048144,8144865728,Oslo,6\n";
    folder.write("points.csv", points);
    let (found, said) = folder.value_by("points.csv", "v.dshap", Overrides::default());
    assert_eq!((said.facts.method, said.facts.m, said.rounds), ("general", 120, Some(64)));
    for (found, expected) in column(&found, "value").iter().zip(SECOND_FORMAT_VALUES) {
        assert!((found / expected - 1.0).abs() < 1e-7, "{found}");
    }
}

/// What the dshaps that wrote the stored valuers said.
const SECOND_FORMAT_VALUES: [f64; 2] = [-0.024_807_362_203_011_985, -0.016_188_958_748_639_25];
const FIRST_FORMAT_VALUES: [f64; 2] = [0.061_470_711_007_400_76, -6.284_568_445_485_791];
