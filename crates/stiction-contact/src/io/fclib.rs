//! Friction problems in HDF5 as FCLIB stores them.
//!
//! `/fclib_local` has `W` and `vectors/{q, mu}`, `/fclib_global` has `M`, `H` and `vectors/{f, w, mu}`, where w is our b. A matrix has
//! `m`, `n`, `nz`, `p`, `i`, `x`: nz entries in rows i and columns p, or, with nz = −1, columns that p points to, or, with nz = −2, rows.

use stiction_lcp::io::fault::Fault;

use super::FrictionFile;
use super::build::{self, Entries, not_supported};
use super::hdf5::{File, Object};

/// The problem in the file `bytes`, whose lists have at most `max_numbers` numbers.
pub(super) fn read(bytes: &[u8], max_numbers: usize) -> Result<FrictionFile, Fault> {
    let root = File::open(bytes, max_numbers)?.root();
    if let Some(group) = root.member("fclib_local")? {
        return local(&group);
    }
    if let Some(group) = root.member("fclib_global")? {
        return global(&group);
    }
    for (name, what) in [("fclib_local_rolling", ""), ("fclib_rolling", ""), ("fclib_global_rolling", "global ")] {
        if root.member(name)?.is_some() {
            return Err(not_supported(&format!("a {what}rolling friction-contact problem of FCLIB (/{name})")));
        }
    }
    Err(Fault::whole("this HDF5 file has neither /fclib_local nor /fclib_global, the problems of FCLIB"))
}

fn local(group: &Object<'_>) -> Result<FrictionFile, Fault> {
    refuse_equations(group, &["V", "R"])?;
    let vectors = group.get("vectors")?;
    let (q, mu) = (vectors.get("q")?.floats()?, vectors.get("mu")?.floats()?);
    let w = matrix(&group.get("W")?, q.len(), q.len())?;
    build::local(Some(dimension(group)?), w, q, mu)
}

fn global(group: &Object<'_>) -> Result<FrictionFile, Fault> {
    refuse_equations(group, &["G"])?;
    let vectors = group.get("vectors")?;
    let (f, b) = (vectors.get("f")?.floats()?, vectors.get("w")?.floats()?);
    let mu = vectors.get("mu")?.floats()?;
    let mass = matrix(&group.get("M")?, f.len(), f.len())?;
    let h = matrix(&group.get("H")?, f.len(), b.len())?;
    build::global(Some(dimension(group)?), mass, h, f, b, mu)
}

fn refuse_equations(group: &Object<'_>, names: &[&str]) -> Result<(), Fault> {
    for name in names {
        if group.member(name)?.is_some() {
            return Err(not_supported(&format!(
                "a friction-contact problem with equations (/{}/{name})",
                group.path()
            )));
        }
    }
    Ok(())
}

/// Rows per contact.
fn dimension(group: &Object<'_>) -> Result<usize, Fault> {
    let found = number(group, "spacedim")?;
    match found {
        5 => Err(not_supported("a rolling friction-contact problem of FCLIB (spacedim is 5)")),
        _ => size(group, "spacedim", found),
    }
}

/// The one whole number of a list.
fn number(group: &Object<'_>, name: &str) -> Result<i64, Fault> {
    match group.get(name)?.integers()?[..] {
        [number] => Ok(number),
        ref list => {
            Err(Fault::whole(format!("/{}/{name}: expected one whole number, found {}", group.path(), list.len())))
        }
    }
}

fn size(group: &Object<'_>, name: &str, number: i64) -> Result<usize, Fault> {
    let negative = || Fault::whole(format!("/{}/{name}: {number} is no size", group.path()));
    usize::try_from(number).map_err(|_| negative())
}

/// A matrix, which must be `rows × cols`: these are known to fit into the file, its own sizes are not.
fn matrix(group: &Object<'_>, rows: usize, cols: usize) -> Result<Entries, Fault> {
    let found = (number(group, "m")?, number(group, "n")?);
    if (size(group, "m", found.0)?, size(group, "n", found.1)?) != (rows, cols) {
        let path = group.path();
        return Err(Fault::whole(format!("/{path}: expected {rows} × {cols}, found {} × {}", found.0, found.1)));
    }
    let (p, i) = (group.get("p")?.integers()?, group.get("i")?.integers()?);
    let x = group.get("x")?.floats()?;
    let entries = match number(group, "nz")? {
        -1 => compressed(group, cols, &p, &i, x)?.map(|(j, i, x)| (i, j, x)).collect(),
        -2 => compressed(group, rows, &p, &i, x)?.collect(),
        nz => triplets(group, size(group, "nz", nz)?, &p, &i, x)?.collect::<Vec<_>>(),
    };
    // An index below zero is an index too large.
    let index = |k: i64| usize::try_from(k).unwrap_or(usize::MAX);
    let entries = entries.into_iter().filter(|e| e.2 != 0.0).map(|(i, j, x)| (index(i), index(j), x));
    Ok(Entries { rows, cols, entries: entries.collect() })
}

/// The first `count` of the entries (i, p, x).
fn triplets<'a>(
    group: &Object<'_>,
    count: usize,
    p: &'a [i64],
    i: &'a [i64],
    x: Vec<f64>,
) -> Result<impl Iterator<Item = (i64, i64, f64)> + use<'a>, Fault> {
    for (name, length) in [("p", p.len()), ("i", i.len()), ("x", x.len())] {
        if length < count {
            let path = group.path();
            return Err(Fault::whole(format!("/{path}/{name} has {length} numbers, {count} entries are announced")));
        }
    }
    Ok(i.iter().copied().zip(p.iter().copied()).zip(x).map(|((i, j), x)| (i, j, x)).take(count))
}

/// The entries (k, i, x) of `majors` rows or columns k, where p points to the first of each.
fn compressed<'a>(
    group: &Object<'_>,
    majors: usize,
    p: &'a [i64],
    i: &'a [i64],
    x: Vec<f64>,
) -> Result<impl Iterator<Item = (i64, i64, f64)> + use<'a>, Fault> {
    let stored = i.len().min(x.len()) as i64;
    let rising = p.windows(2).all(|w| w[0] <= w[1]);
    if p.len() != majors + 1 || p.first() != Some(&0) || !rising || p.last().is_none_or(|last| *last > stored) {
        let expected = format!("expected {} numbers that rise from 0 to at most {stored}", majors + 1);
        return Err(Fault::whole(format!("/{}/p: {expected}", group.path())));
    }
    let major = p.windows(2).enumerate().flat_map(|(k, w)| (w[0]..w[1]).map(move |_| k as i64));
    Ok(major.zip(i.iter().copied()).zip(x).map(|((k, i), x)| (k, i, x)))
}
