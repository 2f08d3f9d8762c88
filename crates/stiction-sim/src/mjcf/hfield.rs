//! Height fields: from numbers in the file, MuJoCo's binary format, or the brightness of a PNG.

use std::path::{Path, PathBuf};

use stiction_body::Shape;

use super::assets::asset_file;
use super::attributes::Attributes;
use super::compiler::Compiler;
use super::tree::Element;
use crate::error::SceneError;
use crate::picture::Picture;

/// A height field asset.
#[derive(Debug)]
pub(super) struct HeightField<'a> {
    element: &'a Element,
    pub(super) file: Option<PathBuf>,
    /// Half the extent along x and y, height of the highest point over the lowest, depth of the base (m).
    size: [f64; 4],
}

/// Heights of any scale, row by row; row 0 is at the least y.
struct Grid {
    rows: usize,
    columns: usize,
    heights: Vec<f64>,
}

impl<'a> HeightField<'a> {
    pub(super) fn read(element: &'a Element, compiler: &Compiler, directory: &Path) -> Result<Self, SceneError> {
        let a = Attributes::of(element);
        let size = a.numbers::<4>("size")?.ok_or_else(|| element.error("needs the attribute \"size\""))?;
        if size.iter().any(|x| *x <= 0.0) {
            return Err(a.error("size", "all four numbers must be above 0"));
        }
        Ok(Self { element, file: asset_file(element, compiler, directory), size })
    }

    /// The shape: x along columns, y along rows, heights from 0 to `size[2]`.
    pub(super) fn shape(&self) -> Result<Shape, SceneError> {
        let grid = match &self.file {
            Some(path) => self.read_file(path)?,
            None => self.inline()?,
        };
        let low = grid.heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = grid.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scale = if high > low { self.size[2] / (high - low) } else { 0.0 };
        let height = |c: usize, r: usize| (grid.heights[r * grid.columns + c] - low) * scale;
        let heights = (0..grid.columns).flat_map(|c| (0..grid.rows).map(move |r| height(c, r)));
        Shape::height_field(heights.collect(), grid.columns, grid.rows, 2.0 * self.size[0], 2.0 * self.size[1])
            .map_err(|e| self.element.error(e.to_string()))
    }

    /// From `nrow`, `ncol` and `elevation`; its first row is at the largest y.
    fn inline(&self) -> Result<Grid, SceneError> {
        let a = Attributes::of(self.element);
        let count = |name: &str| match a.integer(name)? {
            Some(n) if n >= 1 => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
            _ => Err(self.element.error("needs a file, or \"nrow\" and \"ncol\" above 0")),
        };
        let (rows, columns) = (count("nrow")?, count("ncol")?);
        let total = rows.checked_mul(columns).filter(|n| *n <= Shape::MOST_HEIGHTS);
        let total = total.ok_or_else(|| self.element.error(format!("has more than {} points", Shape::MOST_HEIGHTS)))?;
        let Some(list) = a.list("elevation")? else {
            return Ok(Grid { rows, columns, heights: vec![0.0; total] });
        };
        if list.len() != total {
            let found = list.len();
            return Err(a.error("elevation", format!("expected {rows} × {columns} numbers, found {found}")));
        }
        let heights = list.chunks_exact(columns).rev().flatten().copied().collect();
        Ok(Grid { rows, columns, heights })
    }

    fn read_file(&self, path: &Path) -> Result<Grid, SceneError> {
        let fail = |message: String| self.element.attribute_error("file", format!("\"{}\": {message}", path.display()));
        let bytes = crate::files::read(path).map_err(|e| fail(format!("cannot read: {e}")))?;
        let png = match self.element.text("content_type") {
            Some(kind) => kind == "image/png",
            None => path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")),
        };
        if png { read_png(&bytes).map_err(fail) } else { read_binary(&bytes).map_err(fail) }
    }
}

/// Two counts and then the heights, all in 4 bytes.
fn read_binary(bytes: &[u8]) -> Result<Grid, String> {
    let words: Vec<[u8; 4]> = bytes.chunks_exact(4).filter_map(|c| c.try_into().ok()).collect();
    let count = |i: usize| words.get(i).and_then(|w| usize::try_from(i32::from_le_bytes(*w)).ok()).unwrap_or(0);
    let (rows, columns) = (count(0), count(1));
    let expected = rows.checked_mul(columns).and_then(|n| n.checked_add(2)).and_then(|n| n.checked_mul(4));
    if expected != Some(bytes.len()) || rows == 0 {
        return Err(format!("its size of {} bytes does not fit {rows} × {columns} heights", bytes.len()));
    }
    let heights: Vec<f64> = words[2..].iter().map(|w| f64::from(f32::from_le_bytes(*w))).collect();
    match heights.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(format!("a height is {x}")),
        None => Ok(Grid { rows, columns, heights }),
    }
}

/// Brightness (of colours: red) of the pixels; the first row of the picture is at the largest y.
fn read_png(bytes: &[u8]) -> Result<Grid, String> {
    let picture = Picture::from_png(bytes, 4 * Shape::MOST_HEIGHTS)?;
    let Picture { rows, columns, samples, pixels } = &picture;
    let line = |r: usize| pixels[r * columns * samples..(r + 1) * columns * samples].iter().step_by(*samples);
    let heights = (0..*rows).rev().flat_map(line).map(|b| f64::from(*b)).collect();
    Ok(Grid { rows: *rows, columns: *columns, heights })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_read_by_brightness_from_the_bottom() {
        let mut bytes = vec![];
        let mut encoder = png::Encoder::new(&mut bytes, 2, 3);
        encoder.set_color(png::ColorType::Rgb);
        let pixels: Vec<u8> = [1u8, 2, 3, 4, 5, 6].iter().flat_map(|x| [*x, 200, 100]).collect();
        encoder.write_header().and_then(|mut w| w.write_image_data(&pixels)).unwrap();
        let grid = read_png(&bytes).unwrap();
        assert_eq!((grid.rows, grid.columns, grid.heights), (3, 2, vec![5.0, 6.0, 3.0, 4.0, 1.0, 2.0]));
    }

    #[test]
    fn binary_fields_must_have_their_size() {
        let mut bytes: Vec<u8> = [2i32, 3].iter().flat_map(|x| x.to_le_bytes()).collect();
        bytes.extend((0..6).flat_map(|i| (i as f32).to_le_bytes()));
        let grid = read_binary(&bytes).unwrap();
        assert_eq!((grid.rows, grid.columns, grid.heights[5]), (2, 3, 5.0));
        assert!(read_binary(&bytes[..20]).is_err() && read_binary(&[]).is_err() && read_binary(&[0; 8]).is_err());
        assert!(read_png(&bytes).is_err());
    }
}
