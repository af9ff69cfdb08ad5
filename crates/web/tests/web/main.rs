//! The server from outside, over real connections.

mod client;
mod exploring;
mod fuzz;
mod safety;
mod valuers;

use std::fmt::Write;

/// A table of 200 rows: two owners, three features, a target, one row far off.
pub(crate) fn table() -> String {
    let mut text = String::from("name,owner,a,b,c,y\n");
    for i in 0..200_u32 {
        // Numbers without a pattern, but the same each time.
        let noise = |k: u32| f64::from((i * 7919 + k * 104_729) % 1009) / 1009.0 - 0.5;
        let (a, b, c) = (noise(1), noise(2), noise(3));
        let wrong = if i == 17 { 25.0 } else { 0.0 };
        let y = 2.0 * a - b + 0.3 * c + 0.2 * noise(4) + wrong;
        let owner = if i % 3 == 0 { "north" } else { "south" };
        let _ = writeln!(text, "row-{i},{owner},{a},{b},{c},{y}");
    }
    text
}
