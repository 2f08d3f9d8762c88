use stiction_lcp::dantzig::Dantzig;
use stiction_lcp::generate::{self, Class};
use stiction_lcp::*;
fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (seed, n) = (a[0], a[1] as usize);
    let lcp = generate::random(Class::Psd, n, seed).unwrap();
    let o = Dantzig::new(Options { trace: true, ..Options::default() }).solve(&lcp).unwrap();
    if let Outcome::Stopped(s) = o {
        println!("{:?} {:?}", s.certificate, s.z);
        let r = s.certificate.worst_row.unwrap();
        for j in 0..n {
            print!("{:e} ", lcp.m()[(r, j)]);
        }
        println!("q {:e}", lcp.q()[r]);
        println!("{:?}", lcp.q());
        for j in 0..n {
            println!("{:e} diag row2 {:e}", lcp.m()[(j, j)], lcp.m()[(j, r)]);
        }
        println!("{:?}", s.stats.trace);
    }
}
