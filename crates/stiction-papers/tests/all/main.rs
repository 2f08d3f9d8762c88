//! The experiments of the papers and their report. One program for all: every program is linked with the whole engine.

mod baraff;
mod drumwright;
mod lloyd;
mod report;
mod trinkle;
