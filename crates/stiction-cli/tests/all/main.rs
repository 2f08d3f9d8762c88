//! The command `stiction` from outside. One program for all: every program is linked with the whole engine.

mod paper;
mod record;
mod solve;
