//! The game between owners against a table in exact rational arithmetic.

use crate::common::Data;
use crate::common::owners::Market;
use dshap::owners::{QuadraticForms, exact};
use dshap_testkit::{Case, cases};
use faer::Mat;

/// Utilities are of the order of 1 to 50, and values are differences of them.
const TOLERANCE: f64 = 1e-10;

/// Rows as `[[x…], y]`.
macro_rules! data {
    ($rows:expr, $p:expr) => {{
        let rows = $rows.as_array().unwrap();
        let number = |row: usize, column: usize| rows[row][0][column].as_f64().unwrap();
        Data {
            x: Mat::from_fn(rows.len(), $p, number),
            y: rows.iter().map(|row| row[1].as_f64().unwrap()).collect(),
        }
    }};
}

fn market(case: &Case) -> Market {
    let p = case.count("p");
    Market {
        owners: case.raw("owners").as_array().unwrap().iter().map(|rows| data!(rows, p)).collect(),
        own: case.raw("own").as_array().map(|_| data!(case.raw("own"), p)),
        test: data!(case.raw("test"), p),
    }
}

/// A number, or a fraction such as `1/2`.
fn gamma(case: &Case) -> f64 {
    let text = case.text("gamma");
    let (above, below) = text.split_once('/').unwrap_or((&text, "1"));
    above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < TOLERANCE, "{what}: found {found}, expected {expected}");
}

#[test]
fn coalitions_values_interactions_and_rows_match_the_table() {
    let mut n_checked = 0;
    for case in cases("reference/owners.json") {
        let (market, p) = (market(&case), case.count("p"));
        let game = market.game(gamma(&case));
        let found = exact(&game, &|_, _| true).unwrap();
        for (mask, expected) in case.list("utilities_by_bitmask").into_iter().enumerate() {
            assert_near(found.utilities[mask], expected, &format!("p = {p}, coalition {mask:b}"));
        }
        for (g, expected) in case.list("shapley").into_iter().enumerate() {
            assert_near(found.shapley[g], expected, &format!("p = {p}, owner {g}"));
        }
        let mut pairs = found.interactions.iter();
        for g in 0..market.owners.len() {
            for h in g + 1..market.owners.len() {
                let expected = case.number(&format!("interactions/{g},{h}"));
                assert_near(*pairs.next().unwrap(), expected, &format!("p = {p}, owners {g} and {h}"));
                n_checked += 1;
            }
        }
        assert_eq!(pairs.next(), None);
        let forms = QuadraticForms::new(&game, found.traces);
        let rows = forms.contributions(market.test.rows(), 0).unwrap();
        for (g, expected) in case.matrix("per_test_row").into_iter().enumerate() {
            for (t, expected) in expected.into_iter().enumerate() {
                assert_near(rows[(t, g)], expected, &format!("p = {p}, owner {g}, test row {t}"));
                n_checked += 1;
            }
        }
        for g in 1..market.owners.len() {
            let given = game.utility_of(&[0, g]).unwrap() - game.utility_of(&[0]).unwrap();
            let expected = case.number(&format!("given_first_owner/{g}"));
            assert_near(given, expected, &format!("p = {p}, owner {g} given the first"));
        }
    }
    assert!(n_checked >= 60, "the table has {n_checked} pairs and rows");
}
