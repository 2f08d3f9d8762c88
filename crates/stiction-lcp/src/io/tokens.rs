//! Words and numbers of a text file, read from front to back.
//!
//! Nothing is collected ahead of time, and no count in the file is believed before the bytes that are left could hold
//! as many numbers: a token and the blank after it take two bytes.

use super::fault::{Fault, quote};

/// A word of the file.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    /// Its letters.
    pub text: &'a [u8],
    /// Its first byte.
    pub at: usize,
}

impl Token<'_> {
    /// True if it is `word`.
    pub fn is(&self, word: &str) -> bool {
        self.text == word.as_bytes()
    }

    fn parse<F: std::str::FromStr>(&self) -> Option<F> {
        std::str::from_utf8(self.text).ok()?.parse().ok()
    }

    /// The whole number this token is, if it is one.
    pub fn integer(&self) -> Option<usize> {
        self.text.iter().all(u8::is_ascii_digit).then(|| self.parse()).flatten()
    }

    /// The number this token is, infinite and undefined ones included, if it is one.
    pub fn number(&self) -> Option<f64> {
        self.parse()
    }
}

/// A reader of tokens; a copy of it looks ahead.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a> {
    bytes: &'a [u8],
    /// The byte after the last token.
    at: usize,
    /// The first byte of the last token.
    last: usize,
}

impl<'a> Tokens<'a> {
    /// A reader at the front of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, last: 0 }
    }

    /// The first byte of the last token: the place of an error about it.
    pub fn here(&self) -> usize {
        self.last
    }

    /// The most tokens that can still follow.
    pub fn left_at_most(&self) -> usize {
        (self.bytes.len() - self.at).div_ceil(2)
    }

    /// The next token, or `None` at the end.
    pub fn step(&mut self) -> Option<Token<'a>> {
        let rest = &self.bytes[self.at..];
        let start = self.at + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let rest = &self.bytes[start..];
        let end = start + rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at = end;
        self.last = start;
        Some(Token { text: &self.bytes[start..end], at: start })
    }

    /// The next token, which must be there; `what` it should be, for the message.
    ///
    /// # Errors
    /// A fault at the end of the file.
    pub fn expect(&mut self, what: &str) -> Result<Token<'a>, Fault> {
        let end = self.bytes.len();
        self.step().ok_or_else(|| Fault::at(end, format!("the file ends where {what} was expected")))
    }

    /// A whole number.
    ///
    /// # Errors
    /// A fault at the token that is none.
    pub fn integer(&mut self, what: &str) -> Result<usize, Fault> {
        let token = self.expect(what)?;
        token.integer().ok_or_else(|| {
            let huge = !token.text.is_empty() && token.text.iter().all(u8::is_ascii_digit);
            let wanted = if huge { "is too large for" } else { "is not a whole number, expected" };
            Fault::at(token.at, format!("{} {wanted} {what}", quote(token.text)))
        })
    }

    /// `count` whole numbers.
    ///
    /// # Errors
    /// A fault at the token that is none; a count that the rest of the file cannot hold.
    pub fn integers(&mut self, count: usize, what: &str) -> Result<Vec<usize>, Fault> {
        self.check_count(count, what)?;
        (0..count).map(|_| self.integer(what)).collect()
    }

    /// A finite number.
    ///
    /// # Errors
    /// A fault at the token that is none.
    pub fn number(&mut self, what: &str) -> Result<f64, Fault> {
        let token = self.expect(what)?;
        match token.number() {
            Some(x) if x.is_finite() => Ok(x),
            Some(_) => Err(not_finite(token, what)),
            None => Err(Fault::at(token.at, format!("{} is not a number, expected {what}", quote(token.text)))),
        }
    }

    /// `count` finite numbers.
    ///
    /// # Errors
    /// A fault at the token that is none; a count that the rest of the file cannot hold.
    pub fn numbers(&mut self, count: usize, what: &str) -> Result<Vec<f64>, Fault> {
        self.check_count(count, what)?;
        (0..count).map(|_| self.number(what)).collect()
    }

    /// `count` bounds: numbers, or `inf` and `-inf` spelled out.
    ///
    /// # Errors
    /// A fault at the token that is none; a count that the rest of the file cannot hold.
    pub fn bounds(&mut self, count: usize, what: &str) -> Result<Vec<f64>, Fault> {
        self.check_count(count, what)?;
        let mut bound = || {
            let mut ahead = *self;
            match ahead.step() {
                Some(token) if spells_infinity(token.text) => {
                    *self = ahead;
                    Ok(token.number().unwrap_or(f64::NAN))
                }
                _ => self.number(what),
            }
        };
        (0..count).map(|_| bound()).collect()
    }

    /// How many of the next tokens, up to `most`, are numbers.
    pub fn numbers_ahead(&self, most: usize) -> usize {
        let mut ahead = *self;
        (0..most).take_while(|_| ahead.step().is_some_and(|t| t.number().is_some())).count()
    }

    /// Refuses a count that the rest of the file cannot hold, before anything is allocated for it.
    ///
    /// # Errors
    /// A fault at the next token.
    pub(crate) fn check_count(&self, count: usize, what: &str) -> Result<(), Fault> {
        let most = self.left_at_most();
        if count <= most {
            return Ok(());
        }
        let mut ahead = *self;
        let at = ahead.step().map_or(self.bytes.len(), |t| t.at);
        Err(Fault::at(at, format!("{count} numbers are needed for {what}, but at most {most} can follow in this file")))
    }
}

fn spells_infinity(text: &[u8]) -> bool {
    let word = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity")
}

fn not_finite(token: Token<'_>, what: &str) -> Fault {
    let digits = token.text.iter().any(u8::is_ascii_digit);
    let why = if digits { "is out of the range of a double" } else { "is not finite" };
    Fault::at(token.at, format!("{} {why}, expected {what}", quote(token.text)))
}
