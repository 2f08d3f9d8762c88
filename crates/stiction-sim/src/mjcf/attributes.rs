//! Attributes of an element with the defaults of its class behind them.

use stiction_body::math::Vec3;

use super::tree::Element;
use crate::error::{SceneError, did_you_mean};
use crate::xml::{numbers_in, shortened};

/// An element and the elements that hold its defaults, the most specific first.
#[derive(Debug, Clone)]
pub(super) struct Attributes<'a> {
    layers: Vec<&'a Element>,
}

impl<'a> Attributes<'a> {
    /// An element without defaults.
    pub(super) fn of(element: &'a Element) -> Self {
        Self { layers: vec![element] }
    }

    /// An element, then its defaults, the most specific first.
    pub(super) fn layered(element: &'a Element, defaults: impl IntoIterator<Item = &'a Element>) -> Self {
        Self { layers: std::iter::once(element).chain(defaults).collect() }
    }

    /// Sections that are one: the last setting counts. `None` if there are none.
    pub(super) fn sections(sections: impl DoubleEndedIterator<Item = &'a Element>) -> Self {
        Self { layers: sections.rev().collect() }
    }

    /// The layer that sets an attribute, and its text.
    fn find(&self, name: &str) -> Option<(&'a Element, &'a str)> {
        self.layers.iter().find_map(|e| Some((*e, e.text(name)?)))
    }

    /// True if the attribute is set.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The text of an attribute.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.find(name).map(|(_, t)| t)
    }

    /// An error about an attribute, at the layer that sets it. Needs at least one layer.
    pub(super) fn error(&self, name: &str, message: impl Into<String>) -> SceneError {
        match self.find(name).map(|(e, _)| e).or(self.layers.first().copied()) {
            Some(element) => element.attribute_error(name, message),
            None => SceneError::new(name, message),
        }
    }

    /// A finite number.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, SceneError> {
        Ok(self.numbers::<1>(name)?.map(|[x]| x))
    }

    /// A finite number of at least 0.
    pub(super) fn nonnegative(&self, name: &str) -> Result<Option<f64>, SceneError> {
        let x = self.number(name)?;
        match x {
            Some(x) if x < 0.0 => Err(self.error(name, format!("must be at least 0, found {x}"))),
            _ => Ok(x),
        }
    }

    /// Exactly N finite numbers.
    pub(super) fn numbers<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, SceneError> {
        let Some((element, text)) = self.find(name) else { return Ok(None) };
        let list = numbers_of(element, name, text)?;
        let count = list.len();
        list.try_into().map(Some).map_err(|_| {
            element.attribute_error(name, format!("expected {}, found {count}: \"{}\"", plural(N), shortened(text)))
        })
    }

    /// Up to N finite numbers: each layer sets as many as it gives, the rest comes from the layers behind it and from `default`. The second value
    /// says how many were given by any layer.
    pub(super) fn merged<const N: usize>(
        &self,
        name: &str,
        default: [f64; N],
    ) -> Result<([f64; N], usize), SceneError> {
        let (mut out, mut given) = (default, 0);
        for element in self.layers.iter().rev() {
            let Some(text) = element.text(name) else { continue };
            let list = numbers_of(element, name, text)?;
            if list.len() > N || list.is_empty() {
                let found = list.len();
                let message = format!("expected 1 to {}, found {found}: \"{}\"", plural(N), shortened(text));
                return Err(element.attribute_error(name, message));
            }
            out[..list.len()].copy_from_slice(&list);
            given = given.max(list.len());
        }
        Ok((out, given))
    }

    /// Two numbers, of which either may be infinite.
    pub(super) fn range(&self, name: &str) -> Result<Option<[f64; 2]>, SceneError> {
        let Some((_, text)) = self.find(name) else { return Ok(None) };
        let words: Vec<Option<f64>> = text.split_ascii_whitespace().map(infinite).collect();
        if words.len() != 2 || words.iter().all(Option::is_none) {
            return self.numbers::<2>(name);
        }
        let words = text.split_ascii_whitespace().map(|w| infinite(w).or_else(|| finite(w)));
        match words.collect::<Option<Vec<f64>>>().as_deref() {
            Some(&[low, high]) => Ok(Some([low, high])),
            _ => Err(self.error(name, format!("expected 2 numbers, found \"{}\"", shortened(text)))),
        }
    }

    /// A vector of three finite numbers.
    pub(super) fn vector(&self, name: &str) -> Result<Option<Vec3>, SceneError> {
        Ok(self.numbers::<3>(name)?.map(Vec3::from_array))
    }

    /// Any number of finite numbers.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<f64>>, SceneError> {
        self.find(name).map(|(e, t)| numbers_of(e, name, t)).transpose()
    }

    /// A whole number.
    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, SceneError> {
        let Some(x) = self.number(name)? else { return Ok(None) };
        // Beyond this, numbers are no longer exact.
        if x.fract() != 0.0 || x.abs() > 9e15 {
            return Err(self.error(name, format!("expected a whole number, found {x}")));
        }
        Ok(Some(x as i64))
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, SceneError> {
        Ok(self.keyword(name, &["false", "true"])?.map(|k| k == "true"))
    }

    /// `true`, `false`, or `auto`, which is none.
    pub(super) fn automatic(&self, name: &str) -> Result<Option<bool>, SceneError> {
        Ok(self.keyword(name, &["false", "true", "auto"])?.filter(|k| *k != "auto").map(|k| k == "true"))
    }

    /// One of the given words.
    pub(super) fn keyword(&self, name: &str, words: &[&'static str]) -> Result<Option<&'static str>, SceneError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        if let Some(word) = words.iter().find(|w| **w == text.trim()) {
            return Ok(Some(word));
        }
        let near = did_you_mean(text, words.iter().copied());
        let message = format!("expected one of {}, found \"{}\"{near}", words.join(", "), shortened(text));
        Err(self.error(name, message))
    }
}

/// An infinite number.
fn infinite(word: &str) -> Option<f64> {
    word.parse().ok().filter(|x: &f64| x.is_infinite())
}

/// A finite number.
fn finite(word: &str) -> Option<f64> {
    word.parse().ok().filter(|x: &f64| x.is_finite())
}

fn plural(n: usize) -> String {
    if n == 1 { "1 number".into() } else { format!("{n} numbers") }
}

fn numbers_of(element: &Element, name: &str, text: &str) -> Result<Vec<f64>, SceneError> {
    numbers_in(text).map_err(|message| element.attribute_error(name, message))
}
