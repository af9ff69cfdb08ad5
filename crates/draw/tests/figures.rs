//! Figures as they are drawn.

use dshap_draw::{Axis, Colour, Dash, Error, Figure, Line, Panel, Point};

fn figure() -> Figure {
    let rising = |name: &str, colour, slope: f64| {
        let points = (0..20).map(|i| Point::new(i as f64, slope * i as f64).with_band(1.0)).collect();
        Line::new(name, colour, points)
    };
    let lines = || {
        vec![
            rising("largest first", Colour::Blue, 1.0),
            rising("random & <none>", Colour::Grey, 0.2).with_dash(Dash::Dashed),
        ]
    };
    let axis = || (Axis::linear("points added"), Axis::linear("utility, %"));
    let panel = |title: &str| {
        let (x, y) = axis();
        Panel::new(title, x, y, lines())
    };
    Figure::new("Two panels", 2, vec![panel("first"), panel("second")])
}

#[test]
fn a_legend_entry_stands_for_all_panels() {
    let svg = figure().to_svg();
    assert_eq!(svg.matches(">largest first<").count(), 1);
    assert_eq!(svg.matches(">points added<").count(), 2);
}

#[test]
fn words_are_escaped() {
    let svg = figure().to_svg();
    assert!(svg.contains("random &amp; &lt;none&gt;"));
    assert!(!svg.contains("<none>"));
    let mut odd = figure();
    odd.title = "a\u{0}b\u{7}".into();
    assert!(odd.to_svg().contains(">a b <"), "XML knows no control characters");
}

#[test]
fn the_same_figure_has_the_same_bytes() {
    assert_eq!(figure().to_svg(), figure().to_svg());
    assert_eq!(figure().to_png(1.0).unwrap(), figure().to_png(1.0).unwrap());
}

/// Text in the picture must come from the built-in font: without the words the
/// picture differs.
#[test]
fn pictures_have_words_without_system_fonts() {
    let mut silent = figure();
    silent.title = String::new();
    assert_ne!(figure().to_png(1.0).unwrap(), silent.to_png(1.0).unwrap());
}

#[test]
fn numbers_that_cannot_be_shown_are_left_out() {
    let points = vec![Point::new(1.0, 0.0), Point::new(10.0, f64::NAN), Point::new(100.0, 2.0)];
    let line = Line::new("seconds", Colour::Green, points);
    let panel = Panel::new("", Axis::logarithmic("m"), Axis::logarithmic("seconds"), vec![line.with_marks()]);
    let svg = Figure::new("", 1, vec![panel]).to_svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert_eq!(svg.matches("<circle").count(), 2, "one point, and the legend");
}

#[test]
fn a_line_may_leave_the_chart_below() {
    let chart = |least: Option<f64>| {
        let points = vec![Point::new(0.0, 1.0), Point::new(1.0, 0.5), Point::new(2.0, -1000.0)];
        let mut axis = Axis::linear("utility");
        axis.least = least;
        let line = Line::new("one", Colour::Blue, points);
        Figure::new("", 1, vec![Panel::new("", Axis::linear("rows"), axis, vec![line])])
    };
    let (whole, cut) = (chart(None).to_svg(), chart(Some(-1.0)).to_svg());
    assert!(whole.contains(">−1000<") && !whole.contains("<svg x="));
    // The ticks are those of the numbers that are shown, and the line is cut at the edge.
    assert!(cut.contains(">0.5<") && !cut.contains(">−1000<") && cut.contains("<svg x="), "{cut}");
    assert_ne!(chart(Some(-1.0)).to_png(1.0).unwrap(), chart(None).to_png(1.0).unwrap());
}

/// One name for each mark, even if there are few marks, and no numbers.
#[test]
fn an_axis_may_have_names_instead_of_numbers() {
    let chart = |names: &[&str]| {
        let points = (1..=names.len()).map(|i| Point::new(i as f64, i as f64)).collect();
        let line = Line::new("seconds", Colour::Blue, points).with_marks_only();
        let x = Axis::named("dataset", names.iter().map(ToString::to_string).collect());
        Figure::new("", 1, vec![Panel::new("", x, Axis::linear("seconds"), vec![line])]).to_svg()
    };
    let svg = chart(&["abalone", "airfoil", "fashion-mnist"]);
    for name in ["abalone", "airfoil", "fashion-mnist"] {
        assert_eq!(svg.matches(&format!(">{name}<")).count(), 1);
    }
    assert_eq!(svg.matches(">1.5<").count(), 1, "on the vertical axis only");
    let height = |svg: &str| {
        let at = &svg[svg.find("height=\"").expect("a height") + 8..];
        at[..at.find('"').expect("an end")].parse::<f64>().expect("a number")
    };
    assert!(height(&svg) > height(&chart(&["a", "b", "c"])) + 40.0, "long names have room");
}

#[test]
fn a_long_title_is_within_the_picture() {
    let width = |title: &str| {
        let mut figure = figure();
        figure.panels.truncate(1);
        figure.title = title.into();
        let svg = figure.to_svg();
        let at = &svg[svg.find("width=\"").expect("a width") + 7..];
        at[..at.find('"').expect("an end")].parse::<f64>().expect("a number")
    };
    assert_eq!(width("short"), width(""));
    assert!(width(&"long ".repeat(20)) > 100.0 * 8.0);
}

#[test]
fn a_picture_that_is_too_large_is_refused() {
    assert!(matches!(figure().to_png(1e4), Err(Error::Size { .. })));
}
