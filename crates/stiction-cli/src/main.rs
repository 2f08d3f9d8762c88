//! The command `stiction`.
fn main() {}
