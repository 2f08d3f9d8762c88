//! Arithmetic in scene files: `"= 100 * n"`, `"= 0.1 * sin(2 * pi * t)"`. Parsed once, evaluated without allocation.
//!
//! `random(a, b, c)` is a number from 0 to 1 that looks random and is always the same for the same arguments.
//!
//! Numbers, names, `+ - * / % ^`, parentheses, comparisons (`< <= > >= == !=`, 1 or 0), functions ([`FUNCTIONS`]) and `if(condition, a, b)`. All
//! transcendental functions are those of `libm`: the same bits everywhere.

/// Names of the functions.
pub(crate) const FUNCTIONS: [&str; 15] =
    ["abs", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "floor", "min", "max", "if", "random"];

/// Deepest nesting of parentheses, powers and signs: more is no formula but an attack on the stack.
const MAX_DEPTH: usize = 64;

/// Longest text of an expression, in bytes.
const MAX_LENGTH: usize = 10_000;

/// Most values an expression holds at a time.
const MAX_STACK: usize = 128;

/// A parsed expression of named numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    program: Vec<Step>,
    names: Vec<String>,
}

/// One step of the postfix program.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Number(f64),
    Name(usize),
    Negate,
    Binary(Binary),
    Call(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// What is wrong, with the position in `text`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!("an expression has at most {MAX_LENGTH} bytes, found {}", text.len()));
        }
        let mut parser = Parser { text, at: 0, depth: 0, out: Self { program: vec![], names: vec![] } };
        parser.comparison()?;
        parser.skip_space();
        if parser.at < text.len() {
            return Err(parser.unexpected());
        }
        if parser.out.stack_size() > MAX_STACK {
            return Err("the expression is too long".into());
        }
        Ok(parser.out)
    }

    /// A constant.
    pub fn constant(x: f64) -> Self {
        Self { program: vec![Step::Number(x)], names: vec![] }
    }

    /// The names it uses.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The same expression with every name that `value` knows replaced by its number.
    #[must_use]
    pub fn bind(&self, value: impl Fn(&str) -> Option<f64>) -> Self {
        let mut out = Self { program: Vec::with_capacity(self.program.len()), names: vec![] };
        for step in &self.program {
            let step = match *step {
                Step::Name(k) => match value(&self.names[k]) {
                    Some(x) => Step::Number(x),
                    None => Step::Name(out.name(&self.names[k])),
                },
                other => other,
            };
            out.program.push(step);
        }
        out
    }

    fn name(&mut self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        })
    }

    /// Its value; every name is `value(name)`. NaN where the arithmetic has no result.
    pub fn evaluate(&self, value: impl Fn(&str) -> f64) -> f64 {
        let (mut stack, mut top) = ([0.0; MAX_STACK + 1], 0);
        for step in &self.program {
            match *step {
                Step::Number(x) => {
                    stack[top] = x;
                    top += 1;
                }
                Step::Name(k) => {
                    stack[top] = value(&self.names[k]);
                    top += 1;
                }
                Step::Negate => stack[top - 1] = -stack[top - 1],
                Step::Binary(op) => {
                    top -= 1;
                    stack[top - 1] = op.apply(stack[top - 1], stack[top]);
                }
                Step::Call(f) => {
                    top -= arity(f) - 1;
                    stack[top - 1] = call(f, &stack[top - 1..top - 1 + arity(f)]);
                }
            }
        }
        stack[0]
    }

    fn stack_size(&self) -> usize {
        let (mut size, mut most) = (0usize, 0);
        for step in &self.program {
            size = match *step {
                Step::Number(_) | Step::Name(_) => size + 1,
                Step::Negate => size,
                Step::Binary(_) => size - 1,
                Step::Call(f) => size + 1 - arity(f),
            };
            most = most.max(size);
        }
        most
    }
}

impl Binary {
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Remainder => a - b * libm::floor(a / b),
            Self::Power => libm::pow(a, b),
            Self::Less => f64::from(a < b),
            Self::LessEqual => f64::from(a <= b),
            Self::Greater => f64::from(a > b),
            Self::GreaterEqual => f64::from(a >= b),
            Self::Equal => f64::from(a == b),
            Self::NotEqual => f64::from(a != b),
        }
    }
}

fn arity(function: usize) -> usize {
    match FUNCTIONS[function] {
        "atan2" | "min" | "max" => 2,
        "if" | "random" => 3,
        _ => 1,
    }
}

fn call(function: usize, x: &[f64]) -> f64 {
    match FUNCTIONS[function] {
        "abs" => x[0].abs(),
        "sqrt" => x[0].sqrt(),
        "sin" => libm::sin(x[0]),
        "cos" => libm::cos(x[0]),
        "tan" => libm::tan(x[0]),
        "asin" => libm::asin(x[0]),
        "acos" => libm::acos(x[0]),
        "atan" => libm::atan(x[0]),
        "atan2" => libm::atan2(x[0], x[1]),
        "exp" => libm::exp(x[0]),
        "floor" => libm::floor(x[0]),
        "min" => x[0].min(x[1]),
        "max" => x[0].max(x[1]),
        "random" => random(x),
        _ => {
            if x[0] != 0.0 {
                x[1]
            } else {
                x[2]
            }
        }
    }
}

/// A number from 0 to 1 from the bits of the arguments, by the finalizer of SplitMix64.
fn random(x: &[f64]) -> f64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    // −0 and 0 are the same number.
    let bits = |x: f64| (x + 0.0).to_bits();
    let hash = x
        .iter()
        .fold(0x9e37_79b9_7f4a_7c15u64, |h, x| mix(h.wrapping_add(bits(*x)).wrapping_add(0x9e37_79b9_7f4a_7c15)));
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// Recursive descent: comparison > sum > product > sign > power > atom.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    out: Expression,
}

impl Parser<'_> {
    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn unexpected(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some(c) => format!("unexpected '{c}' at position {} of \"{}\"", self.at + 1, self.text),
            None => format!("\"{}\" ends too early", self.text),
        }
    }

    /// Takes the first of `tokens` that comes next.
    fn take(&mut self, tokens: &[(&str, Binary)]) -> Option<Binary> {
        self.skip_space();
        let (token, op) = tokens.iter().find(|(token, _)| self.text[self.at..].starts_with(token))?;
        self.at += token.len();
        Some(*op)
    }

    fn expect(&mut self, token: char) -> Result<(), String> {
        self.skip_space();
        if !self.text[self.at..].starts_with(token) {
            return Err(self.unexpected());
        }
        self.at += token.len_utf8();
        Ok(())
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        parse(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn comparison(&mut self) -> Result<(), String> {
        use Binary::*;
        let tokens =
            [("<=", LessEqual), (">=", GreaterEqual), ("==", Equal), ("!=", NotEqual), ("<", Less), (">", Greater)];
        self.sum()?;
        if let Some(op) = self.take(&tokens) {
            self.sum()?;
            self.out.program.push(Step::Binary(op));
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<(), String> {
        self.product()?;
        while let Some(op) = self.take(&[("+", Binary::Add), ("-", Binary::Subtract)]) {
            self.product()?;
            self.out.program.push(Step::Binary(op));
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), String> {
        self.sign()?;
        let tokens = [("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)];
        while let Some(op) = self.take(&tokens) {
            self.sign()?;
            self.out.program.push(Step::Binary(op));
        }
        Ok(())
    }

    fn sign(&mut self) -> Result<(), String> {
        if self.take(&[("-", Binary::Subtract)]).is_some() {
            self.nested(Self::sign)?;
            self.out.program.push(Step::Negate);
            return Ok(());
        }
        self.power()
    }

    /// Powers group from the right.
    fn power(&mut self) -> Result<(), String> {
        self.atom()?;
        if self.take(&[("^", Binary::Power)]).is_some() {
            self.nested(Self::sign)?;
            self.out.program.push(Step::Binary(Binary::Power));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), String> {
        self.skip_space();
        let rest = &self.text[self.at..];
        match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                self.nested(Self::comparison)?;
                self.expect(')')
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.word(),
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> Result<(), String> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() {
            let exponent_sign = matches!(bytes[end], b'+' | b'-') && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
            if !(bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b'e' | b'E') || exponent_sign) {
                break;
            }
            end += 1;
        }
        let x: f64 = rest[..end].parse().map_err(|_| format!("\"{}\" is not a number", &rest[..end]))?;
        self.out.program.push(Step::Number(x));
        self.at += end;
        Ok(())
    }

    fn word(&mut self) -> Result<(), String> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = &rest[..end];
        self.at += end;
        self.skip_space();
        if self.text[self.at..].starts_with('(') {
            let Some(function) = FUNCTIONS.iter().position(|f| *f == word) else {
                return Err(format!("there is no function \"{word}\"; there are {}", FUNCTIONS.join(", ")));
            };
            self.at += 1;
            for k in 0..arity(function) {
                if k > 0 {
                    self.expect(',')?;
                }
                self.nested(Self::comparison)?;
            }
            self.expect(')')?;
            self.out.program.push(Step::Call(function));
        } else if word == "pi" {
            self.out.program.push(Step::Number(std::f64::consts::PI));
        } else {
            let k = self.out.name(word);
            self.out.program.push(Step::Name(k));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        Expression::parse(text).unwrap().evaluate(|name| match name {
            "n" => 5.0,
            "t" => 0.25,
            _ => f64::NAN,
        })
    }

    #[test]
    fn arithmetic_follows_the_usual_rules() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("7 % 4 - 1e-3", 2.999),
            ("-7 % 4", 1.0),
            ("10 - 3 - 2", 5.0),
            ("8 / 2 / 2", 2.0),
            ("100 * n", 500.0),
            ("sin(2 * pi * t)", 1.0),
            ("if(t < 1, n, 0)", 5.0),
            ("if(t >= 1, n, max(1, min(2, 3)))", 2.0),
            ("atan2(1, 1) * 4", std::f64::consts::PI),
            ("--3", 3.0),
            (".5e1", 5.0),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn random_numbers_are_spread_and_repeat() {
        let at = |i: i32| value(&format!("random({i}, 2, 3)"));
        let mean = (0..1000).map(at).sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        assert_eq!(at(-0), at(0));
        assert_ne!(at(1), at(2));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "ends too early"),
            ("1 +", "ends too early"),
            ("(1", "ends too early"),
            ("1 2", "unexpected '2' at position 3"),
            ("foo(1)", "no function \"foo\""),
            ("min(1)", "unexpected ')'"),
            ("1..2", "not a number"),
            ("é", "unexpected 'é'"),
        ] {
            let message = Expression::parse(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert!(Expression::parse(&"(".repeat(10_000)).unwrap_err().contains("deeply"));
        assert!(Expression::parse(&"-".repeat(10_000)).unwrap_err().contains("deeply"));
        assert!(Expression::parse(&"1+".repeat(100_000)).unwrap_err().contains("at most 10000 bytes"));
        let long = "1+(".repeat(60) + "1" + &")".repeat(60);
        assert_eq!(value(&long), 61.0);
    }

    #[test]
    fn names_can_be_bound() {
        let e = Expression::parse("n * t + n").unwrap();
        assert_eq!(e.names(), ["n", "t"]);
        let bound = e.bind(|name| (name == "n").then_some(2.0));
        assert_eq!(bound.names(), ["t"]);
        assert_eq!(bound.evaluate(|_| 3.0), 8.0);
    }
}
