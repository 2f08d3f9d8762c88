//! From changed parts to a file whose sizes and sums are right, so that the change is met by the reader behind them.

use std::io::{Cursor, Write};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use stiction_sim::recording::{SAVED_STATE_VERSION, VERSION};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The parts one after the other.
pub fn plain(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

/// Names and arrays in turn: a NumPy archive; deflated if there is an odd number of bytes.
pub fn npz(parts: &[Vec<u8>]) -> Vec<u8> {
    let deflated = parts.iter().map(Vec::len).sum::<usize>() % 2 == 1;
    let method = if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for pair in parts.chunks(2) {
        let name = String::from_utf8_lossy(&pair[0]).into_owned();
        // A name that no archive can have leaves the array out.
        if archive.start_file(name, options).is_ok() {
            let _ = archive.write_all(pair.get(1).map_or(&[], Vec::as_slice));
        }
    }
    archive.finish().map(Cursor::into_inner).unwrap_or_default()
}

/// The header, then rows of pixels each after its filter: a PNG.
pub fn png(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        out.extend((data.len() as u32).to_be_bytes());
        let body = [&kind[..], data].concat();
        let mut crc = Crc::new();
        crc.update(&body);
        out.extend(body);
        out.extend(crc.sum().to_be_bytes());
    };
    let empty = Vec::new();
    chunk(b"IHDR", parts.first().unwrap_or(&empty));
    if parts.len() > 2 {
        chunk(b"PLTE", &parts[2]);
    }
    chunk(b"IDAT", &zlib(parts.get(1).unwrap_or(&empty)));
    chunk(b"IEND", &[]);
    out
}

/// The chunks of a recording, each after the byte of its tag.
pub fn recording(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut out = [b"STICREC\n", &VERSION.to_le_bytes()[..]].concat();
    for part in parts {
        let (tag, raw) = part.split_first().unwrap_or((&b'S', &[]));
        let packed = zlib(raw);
        let sizes = [raw.len() as u64, packed.len() as u64].map(u64::to_le_bytes).concat();
        let sum = fnv(&packed) ^ fnv(&[&[*tag], &sizes[..]].concat());
        out.extend([&[*tag], &sizes[..], &sum.to_le_bytes(), &packed].concat());
    }
    out
}

/// The chunks of a recording, unpacked.
pub fn recording_parts(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut parts, mut at) = (Vec::new(), 12);
    while at + 25 <= file.len() {
        let word = |k: usize| u64::from_le_bytes(file[at + k..at + k + 8].try_into().unwrap_or_default()) as usize;
        let end = at + 25 + word(9);
        let mut part = vec![file[at]];
        let unpacked = std::io::copy(&mut flate2::read::ZlibDecoder::new(&file[at + 25..end]), &mut part);
        unpacked.expect("a recording that was just made can be unpacked");
        parts.push(part);
        at = end;
    }
    parts
}

/// The body of a saved state.
pub fn state(parts: &[Vec<u8>]) -> Vec<u8> {
    let body = parts.concat();
    [b"STICSNAP", &SAVED_STATE_VERSION.to_le_bytes()[..], &fnv(&body).to_le_bytes(), &body].concat()
}

fn zlib(raw: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(raw).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

/// FNV-1a, as `docs/recordings.md` says.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
