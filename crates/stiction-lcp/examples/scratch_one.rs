use stiction_lcp::*;
use stiction_lcp::generate::{self, Class};
use stiction_lcp::dantzig::Dantzig;
fn main() {
    let seed = 39434;
    let lcp = generate::random(Class::Psd, 15, seed).unwrap();
    let o = Dantzig::new(Options{trace:true,..Options::default()}).solve(&lcp).unwrap();
    if let Outcome::Stopped(s) = o { println!("{:?} {:?}", s.certificate, s.z);
        let r = s.certificate.worst_row.unwrap();
        for j in 0..15 { print!("{:e} ", lcp.m()[(r,j)]); } println!("q {:e}", lcp.q()[r]);
        println!("{:?}", lcp.q());
        for j in 0..15 { println!("{:e} diag row2 {:e}", lcp.m()[(j,j)], lcp.m()[(j,r)]); }
        println!("{:?}", s.stats.trace);
    }
}
