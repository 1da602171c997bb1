//! Whether two files are equal within what pytest-regressions tolerates: tables as pandas reads them, arrays as
//! numpy does, images by their mean difference. Takes bytes and the tolerance of the pin, gives yes, no, or that
//! it cannot be told. Rules of pytest-regressions 2.11, pandas 3.1, numpy 2.4 and Pillow 13.

use std::collections::BTreeMap;

use super::{CSV, IMAGE, NPZ};
use crate::code::{Expr, ExprKind};
use crate::evaluate::World;
use crate::pins::{Project, Site};

mod arrays;

/// Most bytes of an unpacked image or array.
pub(super) const LARGEST: usize = 64 << 20;

/// `numpy.isclose`: absolute, then relative to the recorded number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Close {
    atol: f64,
    rtol: f64,
}

impl Close {
    const DEFAULT: Close = Close { atol: 1e-8, rtol: 1e-5 };

    pub(super) fn close(self, obtained: f64, recorded: f64) -> bool {
        if obtained.is_nan() || recorded.is_nan() {
            return obtained.is_nan() && recorded.is_nan();
        }
        if obtained.is_infinite() || recorded.is_infinite() {
            return obtained == recorded;
        }
        (obtained - recorded).abs() <= self.atol + self.rtol * recorded.abs()
    }
}

/// The tolerance of a check, as its arguments `tolerances` and `default_tolerance` say it, in one line:
/// `atol=1e-8 rtol=1e-5; U: atol=0.1 rtol=1e-5`. What is not written out makes it `?`.
pub(super) fn tolerance(
    project: &Project,
    site: &Site,
    world: &World,
    frame: usize,
    [each, rest]: [Option<&Expr>; 2],
) -> String {
    let number = |expr: &Expr| match world.value(project, site, frame, expr) {
        crate::evaluate::Value::Float(text) => text.parse::<f64>().ok(),
        crate::evaluate::Value::Int(number) => Some(number as f64),
        _ => None,
    };
    let named = |expr: &Expr| -> Option<String> {
        let pairs: Vec<(String, &Expr)> = match &expr.kind {
            ExprKind::Call { callee, args } if matches!(&callee.kind, ExprKind::Name(name) if name == "dict") => {
                args.iter().map(|arg| Some((arg.name.clone()?, &arg.value))).collect::<Option<_>>()?
            }
            ExprKind::Dict(items) => items
                .iter()
                .map(|(key, value)| match &key.kind {
                    ExprKind::Str(key) => Some((key.clone(), value)),
                    _ => None,
                })
                .collect::<Option<_>>()?,
            _ => return None,
        };
        let mut close = Close::DEFAULT;
        for (name, value) in pairs {
            match name.as_str() {
                "atol" => close.atol = number(value)?,
                "rtol" => close.rtol = number(value)?,
                _ => return None,
            }
        }
        Some(format!("atol={} rtol={}", close.atol, close.rtol))
    };
    let text = || -> Option<String> {
        let mut text = match rest {
            None => format!("atol={} rtol={}", Close::DEFAULT.atol, Close::DEFAULT.rtol),
            Some(rest) => named(rest)?,
        };
        if let Some(each) = each {
            let ExprKind::Dict(items) = &each.kind else { return None };
            for (key, value) in items {
                let ExprKind::Str(key) = &key.kind else { return None };
                if key.contains([';', ':']) {
                    return None;
                }
                text.push_str(&format!("; {key}: {}", named(value)?));
            }
        }
        Some(text)
    };
    text().unwrap_or_else(|| "?".to_string())
}

/// The tolerances that [`tolerance`] wrote: the one of the rest and those of single columns.
pub(super) struct Tolerances {
    rest: Close,
    each: BTreeMap<String, Close>,
}

impl Tolerances {
    fn read(text: &str) -> Option<Tolerances> {
        let close = |text: &str| {
            let (atol, rtol) = text.trim().strip_prefix("atol=")?.split_once(" rtol=")?;
            Some(Close { atol: atol.parse().ok()?, rtol: rtol.parse().ok()? })
        };
        let mut parts = text.split("; ");
        let rest = close(parts.next()?)?;
        let each = parts
            .map(|part| part.split_once(": ").and_then(|(key, text)| Some((key.to_string(), close(text)?))))
            .collect::<Option<_>>()?;
        Some(Tolerances { rest, each })
    }

    pub(super) fn of(&self, key: &str) -> Close {
        self.each.get(key).copied().unwrap_or(self.rest)
    }
}

/// Whether the check takes the two files as equal; `None` when that cannot be told.
pub(super) fn equal(format: Option<&str>, tolerance: Option<&str>, obtained: &[u8], recorded: &[u8]) -> Option<bool> {
    if obtained == recorded {
        return Some(true);
    }
    match format {
        Some(CSV) => {
            let tolerances = Tolerances::read(tolerance?)?;
            tables(&tolerances, obtained, recorded)
        }
        Some(NPZ) => arrays::equal(&Tolerances::read(tolerance?)?, obtained, recorded),
        Some(IMAGE) => {
            let threshold: f64 = tolerance?.strip_prefix("diff_threshold=")?.parse().ok()?;
            Some(distance(&pixels(obtained)?, &pixels(recorded)?) <= threshold)
        }
        _ => Some(false),
    }
}

/// What `pandas.read_csv` takes as no value.
const NOTHING: &[&str] = &[
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// One column by the type that pandas gives it; `None` is no value.
#[derive(Debug, PartialEq)]
enum Column {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Texts(Vec<Option<String>>),
}

fn column(cells: Vec<String>) -> Column {
    let nothing = |cell: &String| NOTHING.contains(&cell.as_str());
    let float = |cell: &String| match cell.trim().to_ascii_lowercase().as_str() {
        "inf" | "+inf" | "infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        text if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => text.parse().ok(),
        _ => None,
    };
    if let Some(ints) = cells.iter().map(|cell| cell.trim().parse().ok()).collect::<Option<Vec<i64>>>() {
        return Column::Ints(ints);
    }
    let floats = cells.iter().map(|cell| if nothing(cell) { Some(f64::NAN) } else { float(cell) });
    if let Some(floats) = floats.collect::<Option<Vec<f64>>>() {
        return Column::Floats(floats);
    }
    let truth = |cell: &String| match cell.as_str() {
        "True" | "TRUE" | "true" => Some(true),
        "False" | "FALSE" | "false" => Some(false),
        _ => None,
    };
    if let Some(bools) = cells.iter().map(truth).collect::<Option<Vec<bool>>>() {
        return Column::Bools(bools);
    }
    Column::Texts(cells.into_iter().map(|cell| if nothing(&cell) { None } else { Some(cell) }).collect())
}

fn table(bytes: &[u8]) -> Option<Vec<(String, Column)>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(true).from_reader(bytes);
    let names: Vec<String> = reader.headers().ok()?.iter().map(str::to_string).collect();
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    for record in reader.records() {
        for (cells, cell) in cells.iter_mut().zip(record.ok()?.iter()) {
            cells.push(cell.to_string());
        }
    }
    let mut sorted = names.clone();
    sorted.sort();
    sorted.dedup();
    (sorted.len() == names.len()).then(|| names.into_iter().zip(cells.into_iter().map(column)).collect())
}

/// `DataFrameRegressionFixture._check_fn`: every obtained column is there, of a like type, as long, and close.
fn tables(tolerances: &Tolerances, obtained: &[u8], recorded: &[u8]) -> Option<bool> {
    let (obtained, recorded) = (table(obtained)?, table(recorded)?);
    for (name, column) in &obtained {
        let Some((_, other)) = recorded.iter().find(|(other, _)| other == name) else { return Some(false) };
        let close = tolerances.of(name);
        let equal = match (column, other) {
            (Column::Floats(a), Column::Floats(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close.close(*a, *b))
            }
            (Column::Floats(a), Column::Ints(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close.close(*a, *b as f64))
            }
            (Column::Ints(a), Column::Floats(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| *a as f64 == *b),
            (a, b) => a == b,
        };
        if !equal {
            return Some(false);
        }
    }
    Some(true)
}

struct Pixels {
    width: usize,
    height: usize,
    /// Red, green and blue of each.
    rgb: Vec<u8>,
}

/// An image as Pillow converts it to RGB; `None` for kinds that are not read.
fn pixels(bytes: &[u8]) -> Option<Pixels> {
    let mut decoder = png::Decoder::new_with_limits(std::io::Cursor::new(bytes), png::Limits { bytes: LARGEST });
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().ok()?;
    let size = reader.output_buffer_size().filter(|size| *size <= LARGEST)?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).ok()?;
    if info.bit_depth != png::BitDepth::Eight {
        return None;
    }
    buffer.truncate(info.buffer_size());
    let rgb: Vec<u8> = match info.color_type {
        png::ColorType::Rgb => buffer,
        png::ColorType::Rgba => buffer.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
        png::ColorType::Grayscale => buffer.iter().flat_map(|grey| [*grey; 3]).collect(),
        png::ColorType::GrayscaleAlpha => buffer.chunks_exact(2).flat_map(|pixel| [pixel[0]; 3]).collect(),
        png::ColorType::Indexed => return None,
    };
    let (width, height) = (info.width as usize, info.height as usize);
    (rgb.len() == width * height * 3).then_some(Pixels { width, height, rgb })
}

/// Mean difference of the channels over the region that both have, in percent.
fn distance(a: &Pixels, b: &Pixels) -> f64 {
    let (width, height) = (a.width.min(b.width), a.height.min(b.height));
    if width == 0 || height == 0 {
        return 0.0;
    }
    let row = |image: &Pixels, row: usize| {
        let start = row * image.width * 3;
        image.rgb.get(start..start + width * 3).map(<[u8]>::to_vec).unwrap_or_default()
    };
    let sum: u64 = (0..height)
        .map(|at| row(a, at).iter().zip(row(b, at)).map(|(a, b)| u64::from(a.abs_diff(b))).sum::<u64>())
        .sum();
    100.0 * (sum as f64 / (3 * width * height) as f64) / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables_equal(tolerance: &str, obtained: &str, recorded: &str) -> Option<bool> {
        equal(Some(CSV), Some(tolerance), obtained.as_bytes(), recorded.as_bytes())
    }

    #[test]
    fn tables_are_equal_within_their_tolerance() {
        let usual = "atol=0.00000001 rtol=0.00001";
        for (obtained, recorded, want) in [
            (",a\n0,0.0885\n", ",a\n0,0.088499999999999995\n", Some(true)),
            (",a\n0,0.0885\n", ",a\n0,0.089\n", Some(false)),
            (",a\n0,1\n", ",a\n0,2\n", Some(false)),
            (",a\n0,1\n", ",a\n0,1.000001\n", Some(false)),
            (",a\n0,1.000001\n", ",a\n0,1\n", Some(true)),
            (",a\n0,\n", ",a\n0,NaN\n", Some(true)),
            (",a,b\n0,1,x\n", ",b,a\n0,x,1\n", Some(true)),
            (",a\n0,1\n", ",a,b\n0,1,2\n", Some(true)),
            (",a,b\n0,1,2\n", ",a\n0,1\n", Some(false)),
            (",a\n0,1\n1,2\n", ",a\n0,1\n", Some(false)),
            (",a\n0,True\n", ",a\n0,False\n", Some(false)),
            (",a\n0,x\n", ",a\n0,1\n", Some(false)),
            (",a\n0,inf\n", ",a\n0,inf\n1,2\n", Some(false)),
            (",a,a\n0,1,2\n", ",a,a\n0,1,3\n", None),
        ] {
            assert_eq!(tables_equal(usual, obtained, recorded), want, "{obtained:?} {recorded:?}");
        }
        assert_eq!(
            tables_equal("atol=0 rtol=0; a: atol=1 rtol=0", ",a,b\n0,1.5,2.5\n", ",a,b\n0,2.0,2.5\n"),
            Some(true)
        );
        assert_eq!(
            tables_equal("atol=0 rtol=0; a: atol=1 rtol=0", ",a,b\n0,1.5,2.5\n", ",a,b\n0,2.0,2.6\n"),
            Some(false)
        );
        assert_eq!(tables_equal("?", ",a\n0,1.5\n", ",a\n0,2.5\n"), None);
    }

    fn image(color: png::ColorType, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        bytes
    }

    #[test]
    fn images_are_equal_up_to_their_threshold() {
        let red = image(png::ColorType::Rgb, &[255, 0, 0, 255, 0, 0]);
        let near = image(png::ColorType::Rgb, &[254, 0, 0, 255, 0, 0]);
        let clear = image(png::ColorType::Rgba, &[255, 0, 0, 9, 255, 0, 0, 255]);
        let told = |threshold: &str, a: &[u8], b: &[u8]| equal(Some(IMAGE), Some(threshold), a, b);
        assert_eq!(told("diff_threshold=0.1", &near, &red), Some(true));
        assert_eq!(told("diff_threshold=0.01", &near, &red), Some(false));
        assert_eq!(told("diff_threshold=0", &clear, &red), Some(true));
        assert_eq!(told("diff_threshold", &near, &red), None);
        assert_eq!(told("diff_threshold=0.1", b"GIF89a", &red), None);
    }
}
