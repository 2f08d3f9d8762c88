use stiction_lcp::dantzig::Dantzig;
use stiction_lcp::generate::{self, Class};
use stiction_lcp::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let class = Class::ALL.into_iter().find(|c| c.name() == a[1]).unwrap();
    let (from, to): (u64, u64) = (a[2].parse().unwrap(), a[3].parse().unwrap());
    let mut solver = Dantzig::new(Options::default());
    let mut count = std::collections::BTreeMap::new();
    let (mut worst, mut pivots, mut rows) = (0.0f64, 0, 0);
    let t = std::time::Instant::now();
    for seed in from..to {
        let n = 1 + (seed % 60) as usize;
        let lcp = generate::random(class, n, seed).unwrap();
        let o = solver.solve(&lcp).unwrap();
        let sym = lcp.m().is_symmetric();
        *count.entry((o.name(), sym)).or_insert(0) += 1;
        pivots += o.stats().pivots;
        rows += lcp.n();
        match &o {
            Outcome::Solved(s) => {
                worst = worst.max(s.certificate.worst());
                let again = solver.solve_from((&lcp).into(), Some(&s.basis)).unwrap();
                if again.solved().is_none() || again.stats().pivots > 0 {
                    *count.entry(("rewarm", sym)).or_insert(0) += 1;
                    let mut f = finish::Finish::default();
                    let z = f.solution((&lcp).into(), &s.basis);
                    let mut w = vec![0.0; lcp.n()];
                    let c = z.as_ref().map(|z| certify((&lcp).into(), z, &mut w));
                    eprintln!(
                        "REWARM seed {seed} cold {} restarts {} again {} p {} finish {:?}",
                        s.certificate,
                        s.stats.restarts,
                        again.name(),
                        again.stats().pivots,
                        c
                    );
                }
            }
            Outcome::Stopped(s) => {
                eprintln!("seed {seed} n {n} sym {sym}: {} {} p {}", s.why, s.certificate, s.stats.pivots)
            }
            Outcome::Ray(r) => eprintln!("seed {seed} n {n} sym {sym}: ray {} p {}", r.claim, r.stats.pivots),
            _ => {}
        }
    }
    println!(
        "{} {count:?} worst {worst:.1e} pivots/row {:.2} {:?}",
        class.name(),
        pivots as f64 / rows as f64,
        t.elapsed()
    );
}
