//! Pictures in PNG files.

/// The pixels of a picture, 8 bits each.
pub(crate) struct Picture {
    pub rows: usize,
    pub columns: usize,
    /// Numbers of a pixel: grey, grey and opacity, red green blue, or these and opacity.
    pub samples: usize,
    /// Row by row, from the top, without gaps.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Reads a PNG file of at most so many bytes of pixels.
    ///
    /// # Errors
    /// If the bytes are none, or the picture is shorter than it says or larger than that.
    pub fn from_png(bytes: &[u8], most_bytes: usize) -> Result<Self, String> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
        // The decoder takes three bytes of each colour for granted.
        if reader.info().palette.as_ref().is_some_and(|p| p.len() % 3 != 0 || p.len() > 3 * 256) {
            return Err("its palette is not one of at most 256 colours".into());
        }
        let size = reader.output_buffer_size().filter(|n| *n <= most_bytes).ok_or("the picture is too large")?;
        let mut pixels = vec![0; size];
        let info = reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
        let (rows, columns, samples) = (info.height as usize, info.width as usize, info.color_type.samples());
        if info.line_size != columns * samples || pixels.len() < rows * info.line_size {
            return Err("the picture is shorter than it says".into());
        }
        pixels.truncate(rows * info.line_size);
        Ok(Self { rows, columns, samples, pixels })
    }

    /// The mean of its pixels: red, green and blue from 0 to 1, each weighted by its opacity.
    /// `None` if nothing of it is opaque.
    pub fn mean_color(&self) -> Option<[f64; 3]> {
        let (mut sum, mut weight) = ([0.0; 3], 0.0);
        for pixel in self.pixels.chunks_exact(self.samples) {
            let (color, opacity) = match *pixel {
                [grey] => ([grey; 3], 255),
                [grey, opacity] => ([grey; 3], opacity),
                [r, g, b] => ([r, g, b], 255),
                [r, g, b, opacity] => ([r, g, b], opacity),
                _ => return None,
            };
            weight += f64::from(opacity);
            sum.iter_mut().zip(color).for_each(|(s, c)| *s += f64::from(opacity) * f64::from(c));
        }
        (weight > 0.0).then(|| sum.map(|s| s / (255.0 * weight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(color: png::ColorType, size: [u32; 2], palette: Option<Vec<u8>>, pixels: &[u8]) -> Vec<u8> {
        let mut bytes = vec![];
        let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
        encoder.set_color(color);
        palette.into_iter().for_each(|p| encoder.set_palette(p));
        encoder.write_header().and_then(|mut w| w.write_image_data(pixels)).unwrap();
        bytes
    }

    #[test]
    fn a_cut_picture_is_an_error() {
        let bytes = png(png::ColorType::Rgb, [2, 3], None, &[7; 18]);
        assert_eq!(Picture::from_png(&bytes, 18).unwrap().pixels, [7; 18]);
        for n in 0..bytes.len() - 12 {
            assert!(Picture::from_png(&bytes[..n], 18).is_err(), "cut to {n} bytes");
        }
        assert!(Picture::from_png(&bytes, 17).err().is_some_and(|e| e.contains("too large")));
    }

    #[test]
    fn a_palette_of_broken_colours_is_an_error() {
        let bytes = png(png::ColorType::Indexed, [2, 2], Some(vec![7; 8]), &[0; 4]);
        assert!(Picture::from_png(&bytes, 99).err().is_some_and(|e| e.contains("palette")));
    }

    #[test]
    fn the_mean_colour_counts_what_is_opaque() {
        let mean = |color, pixels: &[u8], columns| {
            Picture::from_png(&png(color, [columns, 1], None, pixels), 99).unwrap().mean_color()
        };
        assert_eq!(mean(png::ColorType::Rgb, &[255, 0, 0, 0, 0, 255], 2), Some([0.5, 0.0, 0.5]));
        assert_eq!(mean(png::ColorType::Rgba, &[255, 0, 0, 255, 0, 255, 0, 0], 2), Some([1.0, 0.0, 0.0]));
        assert_eq!(mean(png::ColorType::GrayscaleAlpha, &[9, 0], 1), None);
        assert_eq!(mean(png::ColorType::Grayscale, &[0, 255], 2), Some([0.5; 3]));
    }
}
