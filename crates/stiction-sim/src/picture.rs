//! Pictures in PNG and JPEG files.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The first bytes of a JPEG file.
const JPEG: &[u8] = &[0xff, 0xd8, 0xff];
/// Sides that JPEG decoders are asked to go up to; what they may take together is said by bytes.
const MOST_SIDE: usize = 1 << 15;
/// Rows of places on a triangle at which a picture is looked at, at most.
const MOST_ROWS: usize = 8;
/// Pixels between two of these rows, about.
const PIXELS_APART: f64 = 0.5;

/// The pixels of a picture, 8 bits each.
#[derive(Debug)]
pub(crate) struct Picture {
    pub rows: usize,
    pub columns: usize,
    /// Numbers of a pixel: grey, grey and opacity, red green blue, or these and opacity.
    pub samples: usize,
    /// Row by row, from the top, without gaps.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Reads a PNG or JPEG file of at most so many bytes of pixels.
    ///
    /// # Errors
    /// As [`Picture::from_png`].
    pub(crate) fn read(bytes: &[u8], most_bytes: usize) -> Result<Self, String> {
        if bytes.starts_with(JPEG) { Self::from_jpeg(bytes, most_bytes) } else { Self::from_png(bytes, most_bytes) }
    }

    /// Reads a JPEG file; of a cut one what is there.
    fn from_jpeg(bytes: &[u8], most_bytes: usize) -> Result<Self, String> {
        const SAMPLES: usize = 3;
        let options = DecoderOptions::default().set_max_width(MOST_SIDE).set_max_height(MOST_SIDE);
        let options = options.jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(|e| e.to_string())?;
        let info = decoder.info().ok_or("the picture has no size")?;
        let (rows, columns) = (usize::from(info.height), usize::from(info.width));
        if rows * columns * SAMPLES > most_bytes {
            return Err("the picture is too large".into());
        }
        let pixels = decoder.decode().map_err(|e| e.to_string())?;
        if pixels.len() != rows * columns * SAMPLES {
            return Err("the picture is shorter than it says".into());
        }
        Ok(Self { rows, columns, samples: SAMPLES, pixels })
    }

    /// Reads a PNG file of at most so many bytes of pixels.
    ///
    /// # Errors
    /// If the bytes are none, or the picture is shorter than it says or larger than that.
    pub(crate) fn from_png(bytes: &[u8], most_bytes: usize) -> Result<Self, String> {
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
    pub(crate) fn mean_color(&self) -> Option<[f64; 3]> {
        let mut mean = Mean::default();
        self.pixels.chunks_exact(self.samples).for_each(|pixel| mean.add(pixel));
        mean.color()
    }

    /// The mean over the triangle with these corners: columns and rows from 0 to 1, from the upper
    /// left; beyond, the picture repeats itself. `None` if nothing there is opaque, a corner is
    /// nowhere, or all of the picture fits in several times, so that its mean is as good.
    pub(crate) fn mean_over(&self, corners: [[f64; 2]; 3]) -> Option<[f64; 3]> {
        let [a, b, c] = corners;
        let range = |k: usize| a[k].max(b[k]).max(c[k]) - a[k].min(b[k]).min(c[k]);
        if !corners.iter().flatten().all(|x| x.is_finite()) || self.pixels.is_empty() || range(0).max(range(1)) > 1.5 {
            return None;
        }
        let longest = (self.columns as f64 * range(0)).max(self.rows as f64 * range(1));
        let rows = ((longest / PIXELS_APART).ceil() as usize).clamp(1, MOST_ROWS);
        let mut mean = Mean::default();
        for i in 0..rows {
            for j in 0..rows - i {
                // The middle of a part of the triangle that is like it.
                let part = |n: usize| (n as f64 + 1.0 / 3.0) / rows as f64;
                let (along_b, along_c) = (part(i), part(j));
                let at = |k: usize| a[k] + along_b * (b[k] - a[k]) + along_c * (c[k] - a[k]);
                mean.add(self.pixel([at(0), at(1)]));
            }
        }
        mean.color()
    }

    /// The pixel at a place, as of [`Picture::mean_over`].
    fn pixel(&self, place: [f64; 2]) -> &[u8] {
        let along = |x: f64, count: usize| (((x - x.floor()) * count as f64) as usize).min(count - 1);
        let number = along(place[1], self.rows) * self.columns + along(place[0], self.columns);
        &self.pixels[number * self.samples..(number + 1) * self.samples]
    }
}

/// A mean of colours, weighted by their opacities.
#[derive(Default)]
struct Mean {
    sum: [f64; 3],
    weight: f64,
}

impl Mean {
    /// Adds a pixel: grey, grey and opacity, red green blue, or these and opacity.
    fn add(&mut self, pixel: &[u8]) {
        let (color, opacity) = match *pixel {
            [grey] => ([grey; 3], 255),
            [grey, opacity] => ([grey; 3], opacity),
            [r, g, b] => ([r, g, b], 255),
            [r, g, b, opacity] => ([r, g, b], opacity),
            _ => return,
        };
        self.weight += f64::from(opacity);
        self.sum.iter_mut().zip(color).for_each(|(s, c)| *s += f64::from(opacity) * f64::from(c));
    }

    /// From 0 to 1; `None` if nothing was opaque.
    fn color(&self) -> Option<[f64; 3]> {
        (self.weight > 0.0).then(|| self.sum.map(|s| s / (255.0 * self.weight)))
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

    /// A grey JPEG file of 8 × 8 pixels: tables with one code each, and one block.
    fn jpeg() -> Vec<u8> {
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xdb, 0, 67, 0];
        bytes.extend([1; 64]);
        bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
        // One code of one bit: differences of 6 bits for the first number, the end for the others.
        for (table, symbol) in [(0x00, 6), (0x10, 0)] {
            bytes.extend([0xff, 0xc4, 0, 20, table, 1]);
            bytes.extend([0; 15]);
            bytes.push(symbol);
        }
        bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]);
        // 0, then 40 in six bits, then 0: grey 128 + 40 / 8.
        bytes.extend([0b0101_0000, 0xff, 0xd9]);
        bytes
    }

    #[test]
    fn a_jpeg_is_read() {
        let picture = Picture::read(&jpeg(), 192).unwrap();
        assert_eq!((picture.rows, picture.columns, picture.samples), (8, 8, 3));
        assert_eq!(picture.pixels, [133; 192]);
        assert!(Picture::read(&jpeg(), 191).err().is_some_and(|e| e.contains("too large")));
        // Cut or changed, it is an error or another picture, never a panic.
        for n in 0..jpeg().len() {
            let _ = Picture::read(&jpeg()[..n], 192);
            for changed in [0, 1, 0x7f, 0xff] {
                let mut bytes = jpeg();
                bytes[n] = changed;
                let _ = Picture::read(&bytes, 1 << 16);
            }
        }
    }

    #[test]
    fn a_triangle_has_the_colours_below_it() {
        // Red, green; blue, white.
        let pixels = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];
        let picture = Picture::from_png(&png(png::ColorType::Rgb, [2, 2], None, &pixels), 99).unwrap();
        let small = |x: f64, y: f64| picture.mean_over([[x, y], [x + 0.1, y], [x, y + 0.1]]);
        assert_eq!(small(0.1, 0.1), Some([1.0, 0.0, 0.0]));
        assert_eq!(small(0.7, 0.2), Some([0.0, 1.0, 0.0]));
        assert_eq!(small(-3.9, 5.7), Some([0.0, 0.0, 1.0]), "beyond, it repeats itself");
        // All of one pixel, and half of two others.
        let half = picture.mean_over([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap();
        assert!([0.5, 0.25, 0.25].iter().zip(half).all(|(a, b)| (a - b).abs() < 0.11), "{half:?}");
        assert_eq!(picture.mean_over([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]), None);
        assert_eq!(picture.mean_over([[f64::NAN, 0.0], [1.0, 0.0], [0.0, 1.0]]), None);
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
