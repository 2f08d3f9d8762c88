//! Reads any bytes as a file of every format; what can be read must survive being written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stiction_lcp::io::{ReadOptions, read_bytes};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { max_numbers: 1 << 16, ..ReadOptions::default() };
    for name in ["a.dat", "relay.dat", "mlcp.dat", "a.json", "a.npz"] {
        if let Ok(file) = read_bytes(name, bytes, &options) {
            let again = read_bytes("a.json", file.to_json().as_bytes(), &options);
            assert_eq!(again.as_ref(), Ok(&file));
        }
    }
});
