//! Numbers for people: a few significant digits.

use crate::Cell;

/// A number with at most `digits` significant digits, without trailing zeros; with an exponent where it would be long.
pub(crate) fn short(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return if x.is_nan() { "–".into() } else { if x > 0.0 { "∞" } else { "−∞" }.into() };
    }
    // Rounded first: 9.9996 has one digit more before the point than it seems.
    let text = format!("{:.*e}", digits.max(1) - 1, x);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&power) {
        let decimals = (digits as i32 - 1 - power).max(0) as usize;
        return trim(&format!("{x:.decimals$}")).replace('-', "−");
    }
    format!("{}e{power}", trim(mantissa)).replace('-', "−")
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Significant digits of a table's numbers.
const DIGITS: usize = 4;

/// A cell as people read it.
pub(super) fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(x) => short(*x, DIGITS),
        Cell::Count(n) => n.to_string(),
        Cell::Empty => String::new(),
    }
}

/// A power of ten: 0.01, 1, 1000, and 10⁷ where it would be long.
pub(super) fn power_of_ten(power: i32) -> String {
    if (-3..=4).contains(&power) {
        return short(10f64.powi(power), 1);
    }
    let digits: String = power.to_string().chars().map(superscript).collect();
    format!("10{digits}")
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁴' as u32 + (digit as u32).saturating_sub('4' as u32)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        let cases = [
            (0.0, "0"),
            (2.0, "2"),
            (0.3, "0.3"),
            (9.9996, "10"),
            (12.345, "12.35"),
            (123456.7, "123457"),
            (999999.9, "1e6"),
            (-0.00012345, "−0.0001234"),
            (1.0e-13, "1e−13"),
            (6.54321e9, "6.543e9"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "–"),
        ];
        for (x, text) in cases {
            assert_eq!(short(x, 4), text);
        }
    }

    #[test]
    fn powers_of_ten() {
        let all: Vec<String> = [-16, -3, 0, 4, 5, 12].map(power_of_ten).into();
        assert_eq!(all, ["10⁻¹⁶", "0.001", "1", "10000", "10⁵", "10¹²"]);
    }
}
