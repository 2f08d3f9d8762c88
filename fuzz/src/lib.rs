//! Garbled input for every reader.
//!
//! A target reads any bytes as one kind of file and goes on to build what the file describes. It may refuse them; it may not panic, take
//! more than 10 s or more than 1 GB. The runner (`cargo run --release -p stiction-fuzz -- TARGET`) makes inputs from good files by
//! seeded changes; `libfuzzer/` gives the same functions to cargo-fuzz.

mod mutate;
mod pack;
mod random;
mod seeds;
mod targets;

pub use mutate::{Inputs, shape_of};
pub use random::Random;
pub use targets::{TARGETS, Target};

/// A good file before it is packed: the pieces that can be changed one by one while sums and sizes around them stay right.
pub type Parts = Vec<Vec<u8>>;
