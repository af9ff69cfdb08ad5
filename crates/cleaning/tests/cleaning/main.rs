//! Suspicious rows, found and tested.

mod common;
mod recommendations;
mod suspects;
