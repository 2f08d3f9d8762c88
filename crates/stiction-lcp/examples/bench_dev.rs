//! dev
use stiction_lcp::*;
fn cpu() -> f64 {
    cpu_time::ThreadTime::now().as_duration().as_secs_f64()
}
fn main() {
    let mut files: Vec<_> = std::fs::read_dir("/tmp/gen")
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "bin"))
        .collect();
    files.sort();
    let filter = std::env::args().nth(1).unwrap_or_default();
    for f in files {
        let name = f.file_stem().unwrap().to_str().unwrap().to_string();
        if !name.contains(&filter) {
            continue;
        }
        let b = std::fs::read(&f).unwrap();
        let n = u64::from_le_bytes(b[..8].try_into().unwrap()) as usize;
        let v: Vec<f64> = b[8..].chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
        let p = Lcp::new(Matrix::from_columns(n, n, v[..n * n].to_vec()).unwrap(), v[n * n..].to_vec()).unwrap();
        let mut s = Lemke::new(Options::default());
        let mut t = vec![];
        let mut o = s.solve(&p).unwrap();
        let reps2 = (20000 / (n * n)).max(4);
        let reps = if n > 300 {
            5
        } else if n < 60 {
            300
        } else {
            30
        };
        for _ in 0..reps {
            let i = cpu();
            for _ in 0..reps2 {
                o = s.solve(&p).unwrap();
            }
            t.push((cpu() - i) / reps2 as f64);
        }
        t.sort_by(f64::total_cmp);
        let c = o.solved().map(|s| s.certificate.to_string()).unwrap_or_default();
        println!(
            "{name} {n} {} pivots {} refac {} restarts {} k {} {:.1} us {c}",
            o.name(),
            o.stats().pivots,
            o.stats().refactorizations,
            o.stats().restarts,
            o.solved().map_or(0, |s| s.basis.active().count()),
            t[0] * 1e6
        );
    }
}
