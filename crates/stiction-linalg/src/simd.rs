//! Vectors as wide as the machine has, chosen at run time: the one place of the engine with `unsafe`.
//!
//! What is built runs on every processor of its kind. On x86-64 a [`Kernel`] is compiled three times, for
//! plain vectors of two numbers, for AVX2 and for AVX-512, and [`run`] takes the widest that the machine
//! has. The bits are the same: sums have a fixed order, and the compiler never makes a product and a sum
//! into one operation by itself.
//!
//! The environment variable `STICTION_VECTORS`, read once, asks for less: `plain`, `v3` or `v4`, as the
//! levels of x86-64 are called.

use std::sync::OnceLock;

/// Vectors that kernels may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vectors {
    /// What every processor of this kind has.
    Plain,
    /// x86-64-v3: AVX2 and fused multiply–add.
    V3,
    /// x86-64-v4: AVX-512.
    V4,
}

/// A loop that gains from wide vectors. `run` and all that it calls must be `#[inline(always)]`: what is
/// not inlined is compiled for plain vectors.
pub trait Kernel {
    /// What it returns.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the widest vectors there are.
#[inline]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match vectors() {
        // SAFETY: `vectors` has found every feature that the function is compiled for.
        Vectors::V4 => unsafe { run_v4(kernel) },
        // SAFETY: as above.
        Vectors::V3 => unsafe { run_v3(kernel) },
        Vectors::Plain => kernel.run(),
    }
    #[cfg(not(target_arch = "x86_64"))]
    kernel.run()
}

/// The vectors that [`run`] uses: the widest of this machine, or less if `STICTION_VECTORS` says so.
#[inline]
pub fn vectors() -> Vectors {
    static FOUND: OnceLock<Vectors> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let most = match std::env::var("STICTION_VECTORS").as_deref() {
            Ok("plain") => Vectors::Plain,
            Ok("v3") => Vectors::V3,
            _ => Vectors::V4,
        };
        widest().min(most)
    })
}

/// The widest vectors of this machine.
fn widest() -> Vectors {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt")) {
            Vectors::Plain
        } else if has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl") {
            Vectors::V4
        } else {
            Vectors::V3
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vectors::Plain
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
fn run_v3<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn run_v4<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Defines a function that runs an expression with the widest vectors there are. What it calls must be `#[inline(always)]`, as in [`Kernel`];
/// references have the lifetime `'a`.
///
/// ```
/// stiction_linalg::vectorized! {
///     /// The largest number.
///     fn largest(x: &'a [f64]) -> f64 = x.iter().fold(0.0, |most, x| most.max(*x))
/// }
/// assert_eq!(largest(&[1.0, 3.0, 2.0]), 3.0);
/// ```
#[macro_export]
macro_rules! vectorized {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:expr) => {
        $crate::vectorized! { $(#[$meta])* $vis fn $name($($arg: $type),*) -> () = $body }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $out:ty = $body:expr) => {
        $(#[$meta])*
        $vis fn $name<'a>($($arg: $type),*) -> $out {
            struct Call<'a> {
                $($arg: $type),*
            }
            impl<'a> $crate::simd::Kernel for Call<'a> {
                type Output = $out;
                #[inline(always)]
                fn run(self) -> $out {
                    let Self { $($arg),* } = self;
                    $body
                }
            }
            $crate::simd::run(Call { $($arg),* })
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubled::add_product;
    use crate::lanes::dot;
    use crate::rng::Rng;

    /// Products, sums and errors of both, which a fused operation in the wrong place would change.
    #[derive(Clone, Copy)]
    struct Sums<'a>(&'a [f64], &'a [f64]);

    impl Kernel for Sums<'_> {
        type Output = [f64; 3];
        #[inline(always)]
        fn run(self) -> [f64; 3] {
            let (mut high, mut low) = (0.0, 0.0);
            self.0.iter().zip(self.1).for_each(|(x, y)| add_product(*x, *y, &mut high, &mut low));
            [dot(self.0, self.1), high, low]
        }
    }

    #[test]
    fn all_vectors_give_the_same_bits() {
        let mut rng = Rng::new(8);
        for n in 0..70 {
            let x: Vec<f64> = (0..n).map(|_| rng.normal() * rng.scale(20.0)).collect();
            let y: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let kernel = Sums(&x, &y);
            let plain = kernel.run().map(f64::to_bits);
            assert_eq!(run(kernel).map(f64::to_bits), plain);
            #[cfg(target_arch = "x86_64")]
            {
                // SAFETY: only with the features that were found.
                let v3 = if widest() >= Vectors::V3 { unsafe { run_v3(kernel) } } else { kernel.run() };
                // SAFETY: as above.
                let v4 = if widest() >= Vectors::V4 { unsafe { run_v4(kernel) } } else { kernel.run() };
                assert_eq!([v3.map(f64::to_bits), v4.map(f64::to_bits)], [plain; 2]);
            }
        }
    }
}
