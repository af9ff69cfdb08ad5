//! Line charts in panels, as SVG and as PNG.
//!
//! A [`Figure`] is a grid of [`Panel`]s with one legend for all. A panel has two axes
//! and some [`Line`]s; a line may carry a band, such as one standard error on either
//! side. The figures of the paper need no more. Nothing here does arithmetic on
//! values.
//!
//! ```text
//! Figure ──to_svg──▶ text ──to_png──▶ pixels
//! ```
//!
//! Colours are those of Okabe and Ito, which colour-blind readers can tell apart;
//! lines also differ in their dashes. The same figure gives the same bytes on every
//! machine: the PNG is drawn from the SVG with a built-in font, DejaVu Sans, and no
//! system font is used.
//!
//! ```
//! use dshap_draw::{Axis, Colour, Figure, Line, Panel, Point};
//!
//! let line = Line::new("ours", Colour::Blue, vec![Point::new(0.0, 1.0), Point::new(1.0, 3.0).with_band(0.5)]);
//! let panel = Panel::new("gain", Axis::linear("points added"), Axis::linear("utility"), vec![line]);
//! let figure = Figure::new("An example", 1, vec![panel]);
//! let svg = figure.to_svg();
//! assert!(svg.starts_with("<svg ") && svg.contains("points added"));
//! assert_eq!(&figure.to_png(1.0)?[1..4], b"PNG");
//! # Ok::<(), dshap_draw::Error>(())
//! ```

mod axis;
mod layout;
#[cfg(feature = "png")]
mod png;
mod svg;

#[cfg(feature = "png")]
pub use png::Error;

/// Panels in a grid, with one legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The title above all panels.
    pub title: String,
    /// Panels beside each other.
    pub columns: usize,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// A figure with `columns` panels beside each other.
    pub fn new(title: impl Into<String>, columns: usize, panels: Vec<Panel>) -> Self {
        Self { title: title.into(), columns: columns.max(1), panels }
    }

    /// The figure as SVG: text stays text.
    pub fn to_svg(&self) -> String {
        svg::render(self)
    }

    /// The figure as PNG, `scale` pixels to a unit of the SVG.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if there are no panels, or too many pixels.
    #[cfg(feature = "png")]
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, Error> {
        png::render(&self.to_svg(), scale)
    }
}

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Later lines are drawn over earlier ones.
    pub lines: Vec<Line>,
}

impl Panel {
    /// A chart of `lines`.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, lines: Vec<Line>) -> Self {
        Self { title: title.into(), x, y, lines }
    }
}

/// An axis: what it measures, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Whether equal distances are equal ratios.
    pub logarithmic: bool,
    /// The least number that is shown, if there is a limit. Lines below it leave the
    /// chart, so that a few very low numbers do not flatten the others.
    pub least: Option<f64>,
    /// The names of 1, 2, … on a horizontal axis of names; otherwise none.
    pub names: Vec<String>,
}

impl Axis {
    /// An axis on which equal distances are equal differences.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: false, least: None, names: Vec::new() }
    }

    /// An axis of names without an order; the first is at 1.
    pub fn named(label: impl Into<String>, names: Vec<String>) -> Self {
        Self { names, ..Self::linear(label) }
    }

    /// The same axis, cut off below `least`.
    pub fn with_least(mut self, least: f64) -> Self {
        self.least = Some(least);
        self
    }

    /// An axis on which equal distances are equal ratios; numbers that are not
    /// positive are left out.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: true, least: None, names: Vec::new() }
    }
}

/// A line with a name in the legend. Lines of one name share one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// Its dashes.
    pub dash: Dash,
    /// Whether points are marked as well.
    pub marked: bool,
    /// Whether points are joined. Use marks alone for points with nothing between
    /// them.
    pub joined: bool,
    /// Whether the area between the line and 0 is filled, as in a histogram.
    pub filled: bool,
    /// Its points, from left to right. Those that are not finite are left out.
    pub points: Vec<Point>,
}

impl Line {
    /// A solid line.
    pub fn new(name: impl Into<String>, colour: Colour, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            colour,
            dash: Dash::Solid,
            marked: false,
            joined: true,
            filled: false,
            points,
        }
    }

    /// The same line, dashed.
    pub fn with_dash(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }

    /// Marks at the points, and no line.
    pub fn with_marks_only(mut self) -> Self {
        (self.marked, self.joined) = (true, false);
        self
    }

    /// The same line, with the area between it and 0 filled.
    pub fn with_area(mut self) -> Self {
        self.filled = true;
        self
    }

    /// The same line, with its points marked.
    pub fn with_marks(mut self) -> Self {
        self.marked = true;
        self
    }
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The horizontal position.
    pub x: f64,
    /// The vertical position.
    pub y: f64,
    /// Half the height of the band around it; 0 for none.
    pub band: f64,
}

impl Point {
    /// A point without a band.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, band: 0.0 }
    }

    /// The same point with a band of `y ± half`.
    pub fn with_band(mut self, half: f64) -> Self {
        self.band = half;
        self
    }
}

/// The colours of Okabe and Ito (2008) that show on white.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// `#0072B2`
    Blue,
    /// `#D55E00`
    Vermilion,
    /// `#009E73`
    Green,
    /// `#CC79A7`
    Purple,
    /// `#E69F00`
    Orange,
    /// `#56B4E9`
    Sky,
    /// `#595959`
    Grey,
}

impl Colour {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Colour::Blue => "#0072B2",
            Colour::Vermilion => "#D55E00",
            Colour::Green => "#009E73",
            Colour::Purple => "#CC79A7",
            Colour::Orange => "#E69F00",
            Colour::Sky => "#56B4E9",
            Colour::Grey => "#595959",
        }
    }
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    /// Not at all.
    Solid,
    /// Into dashes.
    Dashed,
    /// Into dots.
    Dotted,
}

impl Dash {
    pub(crate) fn pattern(self) -> Option<&'static str> {
        match self {
            Dash::Solid => None,
            Dash::Dashed => Some("6 3"),
            Dash::Dotted => Some("1.5 2.5"),
        }
    }
}
