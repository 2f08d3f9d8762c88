//! dev soak
use stiction_lcp::{generate::*, *};
fn main() {
    let count: u64 = std::env::args().nth(1).map_or(1000, |s| s.parse().unwrap());
    for class in Class::ALL {
        let mut bad = 0;
        let mut pivots = 0;
        let mut restarts = 0;
        let mut ex = vec![];
        let mut s = Lemke::new(Options::default());
        for seed in 0..count {
            let n = 1 + (seed % 60) as usize;
            let p = random(class, n, seed).unwrap();
            let o = s.solve(&p).unwrap();
            pivots += o.stats().pivots;
            if o.stats().restarts > 0 {
                restarts += 1;
            }
            if o.solved().is_none() {
                bad += 1;
                if ex.len() < 8 {
                    ex.push((
                        n,
                        seed,
                        o.name(),
                        if let Outcome::Stopped(s) = &o { s.certificate.to_string() } else { String::new() },
                    ));
                }
            }
        }
        println!("{:16} bad {bad}/{count} pivots {pivots} restarted {restarts} {ex:?}", class.name());
    }
}
