//! dev
use stiction_lcp::{generate::*, *};
fn main() {
    let p = random(Class::ALL[1], 13, 2292).unwrap();
    let b = Basis::from_active(13, [0, 8, 10]);
    let z = stiction_lcp::finish::Finish::default().solution((&p).into(), &b);
    println!("{z:?}");
    for i in [0, 8, 10] {
        for j in [0, 8, 10] {
            print!("{:e} ", p.m()[(i, j)]);
        }
        println!("| {:e}", p.q()[i]);
    }
    if let Some(z) = z {
        let mut w = vec![0.0; 13];
        println!("{:?}", certify((&p).into(), &z, &mut w));
    }
}
