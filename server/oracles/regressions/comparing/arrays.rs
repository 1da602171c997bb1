//! Arrays of an `.npz` file, as far as they are numbers or can be compared byte for byte. Takes two archives, gives
//! yes, no, or that it cannot be told. Bounded in size; never trusts a length that an archive states.

use std::collections::BTreeMap;
use std::io::Read;

use super::{LARGEST, Tolerances};

/// One array: its type as numpy writes it (`<f8`), shape and elements.
#[derive(Debug, PartialEq)]
struct Array {
    kind: String,
    shape: String,
    data: Vec<u8>,
}

/// `NDArraysRegressionFixture._check_fn`: the same names, shapes and like types; floats close, others equal.
pub(super) fn equal(tolerances: &Tolerances, obtained: &[u8], recorded: &[u8]) -> Option<bool> {
    let (obtained, recorded) = (archive(obtained)?, archive(recorded)?);
    if !obtained.keys().eq(recorded.keys()) {
        return Some(false);
    }
    let mut unclear = false;
    for (name, a) in &obtained {
        let b = recorded.get(name)?;
        if a == b {
            continue;
        }
        if a.shape != b.shape {
            return Some(false);
        }
        match (numbers(a), numbers(b)) {
            (Some(one), Some(other)) if one.len() == other.len() => {
                let close = tolerances.of(name);
                let inexact = a.kind.contains('f');
                let same = |(a, b): (&f64, &f64)| if inexact { close.close(*a, *b) } else { a == b };
                if !one.iter().zip(&other).all(same) {
                    return Some(false);
                }
            }
            (None, None) if a.kind == b.kind && a.kind.starts_with(['<', '|']) && a.kind.contains(['U', 'S']) => {
                return Some(false);
            }
            _ => unclear = true,
        }
    }
    (!unclear).then_some(true)
}

/// Elements as numbers. Whole ones beyond what a float holds exactly are none.
fn numbers(array: &Array) -> Option<Vec<f64>> {
    fn each<const N: usize>(data: &[u8], read: impl Fn([u8; N]) -> f64) -> Option<Vec<f64>> {
        let mut chunks = data.chunks_exact(N);
        let all = chunks.by_ref().map(|chunk| chunk.try_into().ok().map(&read)).collect::<Option<Vec<f64>>>()?;
        chunks.remainder().is_empty().then_some(all)
    }
    let data = &array.data;
    let found = match array.kind.as_str() {
        "<f8" => each(data, f64::from_le_bytes)?,
        "<f4" => each(data, |bytes| f64::from(f32::from_le_bytes(bytes)))?,
        "|b1" | "|u1" => data.iter().map(|byte| f64::from(*byte)).collect(),
        "|i1" => each(data, |bytes| f64::from(i8::from_le_bytes(bytes)))?,
        "<i2" => each(data, |bytes| f64::from(i16::from_le_bytes(bytes)))?,
        "<u2" => each(data, |bytes| f64::from(u16::from_le_bytes(bytes)))?,
        "<i4" => each(data, |bytes| f64::from(i32::from_le_bytes(bytes)))?,
        "<u4" => each(data, |bytes| f64::from(u32::from_le_bytes(bytes)))?,
        "<i8" => each(data, |bytes| i64::from_le_bytes(bytes) as f64)?,
        "<u8" => each(data, |bytes| u64::from_le_bytes(bytes) as f64)?,
        _ => return None,
    };
    let whole = !array.kind.contains('f');
    (!whole || found.iter().all(|number| number.abs() <= 9e15)).then_some(found)
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(size)?)?;
    Some(field.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

/// The arrays of a zip archive by name. Only what numpy writes: stored or deflated, one disk, no encryption.
fn archive(bytes: &[u8]) -> Option<BTreeMap<String, Array>> {
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06")?;
    let (count, mut at) = (number(bytes, end + 10, 2)?, number(bytes, end + 16, 4)?);
    let mut arrays = BTreeMap::new();
    let mut left = LARGEST;
    for _ in 0..count {
        if bytes.get(at..at + 4)? != b"PK\x01\x02" {
            return None;
        }
        let method = number(bytes, at + 10, 2)?;
        let packed = number(bytes, at + 20, 4)?;
        let (name, extra, comment) =
            (number(bytes, at + 28, 2)?, number(bytes, at + 30, 2)?, number(bytes, at + 32, 2)?);
        let local = number(bytes, at + 42, 4)?;
        let title = std::str::from_utf8(bytes.get(at + 46..at + 46 + name)?).ok()?.strip_suffix(".npy")?.to_string();
        at += 46 + name + extra + comment;
        if bytes.get(local..local + 4)? != b"PK\x03\x04" {
            return None;
        }
        let start = local + 30 + number(bytes, local + 26, 2)? + number(bytes, local + 28, 2)?;
        let data = bytes.get(start..start.checked_add(packed)?)?;
        let data = match method {
            0 => data.to_vec(),
            8 => {
                let mut out = Vec::new();
                flate2::read::DeflateDecoder::new(data).take(left as u64 + 1).read_to_end(&mut out).ok()?;
                out
            }
            _ => return None,
        };
        left = left.checked_sub(data.len())?;
        arrays.insert(title, array(&data)?);
    }
    Some(arrays)
}

fn array(bytes: &[u8]) -> Option<Array> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (length, start): (usize, usize) = match rest.first()? {
        1 => (number(rest, 2, 2)?, 4),
        _ => (number(rest, 2, 4)?, 6),
    };
    let header = std::str::from_utf8(rest.get(start..start.checked_add(length)?)?).ok()?;
    let field = |name: &str| header.split_once(name).map(|(_, rest)| rest.trim_start());
    let kind = field("'descr':")?.strip_prefix('\'')?.split_once('\'')?.0.to_string();
    // Elements stand in the order of the rows; the other order is not read.
    field("'fortran_order':")?.strip_prefix("False")?;
    let shape = field("'shape':")?.strip_prefix('(')?.split_once(')')?.0.to_string();
    Some(Array { kind, shape, data: rest.get(start + length..)?.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    /// An archive of stored members; the fields that are not read stay zero.
    fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (name, data) in members {
            let name = format!("{name}.npy");
            let mut central = b"PK\x01\x02".to_vec();
            central.resize(46, 0);
            central[20..24].copy_from_slice(&(data.len() as u32).to_le_bytes());
            central[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
            central[42..46].copy_from_slice(&(out.len() as u32).to_le_bytes());
            directory.extend(central);
            directory.extend(name.as_bytes());
            let mut local = b"PK\x03\x04".to_vec();
            local.resize(30, 0);
            local[26..28].copy_from_slice(&(name.len() as u16).to_le_bytes());
            out.extend(local);
            out.extend(name.as_bytes());
            out.extend(data);
        }
        let start = out.len() as u32;
        out.extend(directory);
        let mut end = b"PK\x05\x06".to_vec();
        end.resize(22, 0);
        end[10..12].copy_from_slice(&(members.len() as u16).to_le_bytes());
        end[16..20].copy_from_slice(&start.to_le_bytes());
        out.extend(end);
        out
    }

    #[test]
    fn arrays_are_equal_within_their_tolerance() {
        let floats = |numbers: &[f64]| {
            npy(
                "<f8",
                &format!("{},", numbers.len()),
                &numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>(),
            )
        };
        let usual = Tolerances::read("atol=0.00000001 rtol=0.00001").unwrap();
        let told = |a: &[(&str, Vec<u8>)], b: &[(&str, Vec<u8>)]| equal(&usual, &npz(a), &npz(b));
        let one = floats(&[1.0, f64::NAN]);
        assert_eq!(told(&[("a", one.clone())], &[("a", floats(&[1.000001, f64::NAN]))]), Some(true));
        assert_eq!(told(&[("a", one.clone())], &[("a", floats(&[1.1, f64::NAN]))]), Some(false));
        assert_eq!(told(&[("a", one.clone())], &[("a", floats(&[1.0]))]), Some(false));
        assert_eq!(told(&[("a", one.clone())], &[("b", one.clone())]), Some(false));
        let whole = |bytes: &[u8]| npy("|i1", &format!("{},", bytes.len()), bytes);
        assert_eq!(told(&[("a", whole(&[1]))], &[("a", whole(&[2]))]), Some(false));
        assert_eq!(told(&[("a", whole(&[1]))], &[("a", floats(&[1.0]))]), Some(true));
        let complex = |byte: u8| npy("<c8", "1,", &[byte; 8]);
        assert_eq!(told(&[("a", complex(1))], &[("a", complex(2))]), None);
        assert_eq!(equal(&usual, b"PK\x05\x06", &npz(&[])), None);
    }
}
