//! dev
use stiction_lcp::{generate::*, *};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let class = Class::ALL[a[1].parse::<usize>().unwrap()];
    let p = random(class, a[2].parse().unwrap(), a[3].parse().unwrap()).unwrap();
    let n = p.n();
    if a.len() > 4 {
        for i in 0..n {
            for j in 0..n {
                print!("{:9.2e} ", p.m()[(i, j)]);
            }
            println!(" | {:9.2e}", p.q()[i]);
        }
    }
    let o = Lemke::new(Options { trace: true, ..Options::default() }).solve(&p).unwrap();
    let st = o.stats();
    println!("{} n {n} pivots {} {:?}", o.name(), st.pivots, st.attempts);
    for t in st.trace.iter().take(60) {
        println!("{} in {} out  {:e}", t.entering.unwrap(), t.leaving.unwrap(), t.measure);
    }

    if let Outcome::Stopped(st) = &o {
        let mut w = vec![0.0; n];
        let c = certify((&p).into(), &st.z, &mut w);
        println!("{c} row {:?}", c.worst_row);
        for i in 0..n {
            let om: f64 = p.q()[i].abs() + (0..n).map(|j| (p.m()[(i, j)] * st.z[j]).abs()).sum::<f64>();
            println!(
                "{i:3} z {:12.4e} w {:12.4e} q {:12.4e} omega {:9.2e} mx {:9.2e}",
                st.z[i],
                w[i],
                p.q()[i],
                om,
                (0..n).map(|j| p.m()[(i, j)].abs()).fold(0.0, f64::max)
            );
        }
    }
}
