//! A figure as PNG, drawn from its SVG.

use resvg::{tiny_skia, usvg};

/// The largest picture that is drawn, in pixels.
const MOST_PIXELS: f32 = 2e8;

/// Why a figure could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The picture would have no pixels, or far too many.
    #[error("a picture of {width} by {height} pixels cannot be drawn")]
    Size {
        /// Its width.
        width: f32,
        /// Its height.
        height: f32,
    },

    /// The SVG was not understood.
    #[error("the figure is not valid SVG: {reason}")]
    Svg {
        /// Why not.
        reason: String,
    },

    /// The pixels could not be packed.
    #[error("the picture cannot be written as PNG: {reason}")]
    Encoding {
        /// Why not.
        reason: String,
    },
}

pub(crate) fn render(svg: &str, scale: f32) -> Result<Vec<u8>, Error> {
    let mut options = usvg::Options { font_family: "DejaVu Sans".into(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(dejavu::sans::regular().to_vec());
    let tree =
        usvg::Tree::from_str(svg, &options).map_err(|error| Error::Svg { reason: error.to_string() })?;
    let (width, height) = ((tree.size().width() * scale).ceil(), (tree.size().height() * scale).ceil());
    let too_many = !(width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS);
    let pixels = if too_many { None } else { tiny_skia::Pixmap::new(width as u32, height as u32) };
    let mut pixels = pixels.ok_or(Error::Size { width, height })?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| Error::Encoding { reason: error.to_string() })
}
