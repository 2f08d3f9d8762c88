//! The command `stiction` from outside. One program for all: every program is linked with the whole engine.

mod bench;
mod paper;
mod record;
mod solve;
