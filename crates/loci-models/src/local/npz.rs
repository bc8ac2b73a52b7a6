//! Reading of arrays from an `.npz` file.
//!
//! An `.npz` file is a zip archive with one `.npy` file per array. Both formats are simple enough to be read here: the
//! directory at the end of the archive, the bytes of an entry (stored or deflated), and the short header of an array.
//!
//! The file is not trusted. Every offset and length is checked before use, and no array is unpacked beyond the size
//! that the caller expects, so a damaged or hostile file gives an error and does not exhaust memory.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use flate2::read::DeflateDecoder;

use crate::error::Error;

/// The end of a zip archive's directory: its signature, and its length without the comment.
const END: ([u8; 4], usize) = (*b"PK\x05\x06", 22);

/// An entry of the directory: its signature, and its length without name, extra field and comment.
const ENTRY: ([u8; 4], usize) = (*b"PK\x01\x02", 46);

/// The local header before the bytes of an entry: its signature, and its length without name and extra field.
const LOCAL: ([u8; 4], usize) = (*b"PK\x03\x04", 30);

/// Maximum length of the comment after the directory.
const LONGEST_COMMENT: usize = u16::MAX as usize;

/// An upper bound for the length of the header of an array.
const LONGEST_HEADER: usize = 1 << 12;

/// An `.npz` file whose directory has been read.
pub(super) struct Npz<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    entries: HashMap<&'a str, Entry>,
}

/// The directory entry of an array.
#[derive(Debug, Clone, Copy)]
struct Entry {
    method: u16,
    packed: usize,
    unpacked: usize,
    crc: u32,
    at: usize,
}

/// The number format of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberFormat {
    Byte,
    Float,
    Double,
}

impl<'a> Npz<'a> {
    /// Reads the directory of the file at `path`, whose content is `bytes`.
    pub(super) fn open(path: &'a Path, bytes: &'a [u8]) -> Result<Self, Error> {
        let entries = directory(bytes).ok_or_else(|| {
            Error::invalid(path, "npz", "the archive has no valid directory; the file is cut off or damaged")
        })?;
        Ok(Self { path, bytes, entries })
    }

    /// Returns the floats of the array `name`, which must have exactly this shape. Doubles are rounded.
    pub(super) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let (numbers, data) = self.array(name, shape)?;
        let floats: Vec<f32> = match numbers {
            NumberFormat::Float => data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            NumberFormat::Double => data.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect(),
            NumberFormat::Byte => return Err(self.invalid(name, "holds bytes, but floats are needed")),
        };
        if floats.iter().any(|x| !x.is_finite()) {
            return Err(self.invalid(name, "holds numbers that are NaN or infinite; fetch the model again"));
        }
        Ok(floats)
    }

    /// Returns the bytes of the array `name`, which must have exactly this shape.
    pub(super) fn bytes(&self, name: &str, shape: &[usize]) -> Result<Vec<u8>, Error> {
        match self.array(name, shape)? {
            (NumberFormat::Byte, data) => Ok(data),
            (other, _) => Err(self.invalid(name, format!("holds {other:?} numbers, but bytes are needed"))),
        }
    }

    /// Makes the error for the array `name`.
    pub(super) fn invalid(&self, name: &str, problem: impl Into<String>) -> Error {
        Error::invalid(self.path, name, problem)
    }

    /// Returns the number format of an array and its bytes.
    fn array(&self, name: &str, shape: &[usize]) -> Result<(NumberFormat, Vec<u8>), Error> {
        let count: usize = shape.iter().product();
        let mut file = self.unpack(name, LONGEST_HEADER + count * size_of::<f64>())?;
        let Some((header, start)) = split_header(&file) else {
            return Err(self.invalid(name, "is not an array: its header is damaged"));
        };
        let (numbers, found) = parse_header(header).map_err(|problem| self.invalid(name, problem))?;
        if found != shape {
            return Err(self.invalid(name, format!("has the shape {found:?}, but {shape:?} is needed")));
        }
        let (needed, there) = (count * numbers.width(), file.len() - start);
        if needed != there {
            return Err(self.invalid(name, format!("has {there} bytes of numbers, but its shape needs {needed}")));
        }
        file.drain(..start);
        Ok((numbers, file))
    }

    /// Returns the unpacked bytes of an entry, or an error if they are more than `limit`.
    fn unpack(&self, name: &str, limit: usize) -> Result<Vec<u8>, Error> {
        let entry = *self
            .entries
            .get(format!("{name}.npy").as_str())
            .ok_or_else(|| self.invalid(name, "the array is missing"))?;
        if entry.unpacked > limit {
            return Err(self.invalid(name, format!("takes {} bytes, but at most {limit} are needed", entry.unpacked)));
        }
        let packed = local_bytes(self.bytes, entry)
            .ok_or_else(|| self.invalid(name, "the local header of the array is damaged"))?;
        let unpacked = match entry.method {
            0 => packed.to_vec(),
            8 => {
                let mut unpacked = Vec::with_capacity(entry.unpacked);
                // Reading one byte more than expected detects a longer entry without unpacking all of it.
                let mut reader = DeflateDecoder::new(packed).take(entry.unpacked as u64 + 1);
                reader
                    .read_to_end(&mut unpacked)
                    .map_err(|error| self.invalid(name, format!("cannot be unpacked: {error}")))?;
                unpacked
            }
            other => return Err(self.invalid(name, format!("has the unknown compression method {other}"))),
        };
        let mut crc = flate2::Crc::new();
        crc.update(&unpacked);
        if unpacked.len() != entry.unpacked || crc.sum() != entry.crc {
            return Err(self.invalid(name, "does not match the length and checksum in the archive"));
        }
        Ok(unpacked)
    }
}

impl NumberFormat {
    fn width(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Float => 4,
            Self::Double => 8,
        }
    }
}

/// Returns the entries of the archive by name.
fn directory(bytes: &[u8]) -> Option<HashMap<&str, Entry>> {
    let (signature, length) = END;
    // A comment may follow, so the end record is searched backwards.
    let last = bytes.len().checked_sub(length)?;
    let end = (last.saturating_sub(LONGEST_COMMENT)..=last).rev().find(|&at| bytes[at..].starts_with(&signature))?;
    let count = u16_at(bytes, end + 10)?;
    let mut at = u32_at(bytes, end + 16)? as usize;
    let mut entries = HashMap::new();
    for _ in 0..count {
        let entry = bytes.get(at..)?;
        entry.starts_with(&ENTRY.0).then_some(())?;
        let lengths = [28, 30, 32].map(|field| u16_at(entry, field).map(usize::from));
        let [Some(name), Some(extra), Some(comment)] = lengths else { return None };
        let found = Entry {
            method: u16_at(entry, 10)?,
            crc: u32_at(entry, 16)?,
            packed: u32_at(entry, 20)? as usize,
            unpacked: u32_at(entry, 24)? as usize,
            at: u32_at(entry, 42)? as usize,
        };
        let name_bytes = entry.get(ENTRY.1..ENTRY.1 + name)?;
        entries.insert(std::str::from_utf8(name_bytes).ok()?, found);
        at = at.checked_add(ENTRY.1 + name + extra + comment)?;
    }
    Some(entries)
}

/// Returns the packed bytes of an entry. The sizes come from the directory, because streaming writers omit them in the
/// local header.
fn local_bytes(bytes: &[u8], entry: Entry) -> Option<&[u8]> {
    let local = bytes.get(entry.at..)?;
    local.starts_with(&LOCAL.0).then_some(())?;
    let start = LOCAL.1 + usize::from(u16_at(local, 26)?) + usize::from(u16_at(local, 28)?);
    local.get(start..start.checked_add(entry.packed)?)
}

/// Returns the header of an array and the offset of its numbers.
fn split_header(file: &[u8]) -> Option<(&str, usize)> {
    let rest = file.strip_prefix(b"\x93NUMPY")?;
    // Version 1 stores the length of the header in two bytes, later versions in four.
    let (start, length): (usize, usize) = match rest.first()? {
        1 => (10, usize::from(u16_at(file, 8)?)),
        2 | 3 => (12, u32_at(file, 8)? as usize),
        _ => return None,
    };
    let end = start.checked_add(length)?;
    Some((std::str::from_utf8(file.get(start..end)?).ok()?, end))
}

/// Parses a header such as `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
fn parse_header(header: &str) -> Result<(NumberFormat, Vec<usize>), String> {
    let after = |key: &str| {
        let (_, rest) = header.split_once(&format!("'{key}':")).ok_or_else(|| format!("its header has no `{key}`"))?;
        Ok::<_, String>(rest.trim_start())
    };
    let descr = after("descr")?;
    let numbers = match descr.trim_start_matches('\'').split('\'').next().unwrap_or_default() {
        "|u1" | "|i1" => NumberFormat::Byte,
        "<f4" => NumberFormat::Float,
        "<f8" => NumberFormat::Double,
        other => return Err(format!("it has the unknown number format `{other}`")),
    };
    if !after("fortran_order")?.starts_with("False") {
        return Err("it is in column-major order, but row-major order is needed".to_owned());
    }
    let shape = after("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(shape, _)| shape);
    let sizes = shape.unwrap_or("?").split(',').map(str::trim).filter(|size| !size.is_empty());
    let sizes = sizes.map(str::parse).collect::<Result<_, _>>().map_err(|_| "its shape is damaged".to_owned())?;
    Ok((numbers, sizes))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    /// Makes an `.npz` file with these arrays: name, number format, shape, numbers.
    pub(in crate::local) fn archive(arrays: &[(&str, &str, &[usize], &[u8])], deflate: bool) -> Vec<u8> {
        let (mut file, mut directory) = (Vec::new(), Vec::new());
        for (name, descr, shape, data) in arrays {
            let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}\n");
            let mut plain = b"\x93NUMPY\x01\x00".to_vec();
            plain.extend((header.len() as u16).to_le_bytes());
            plain.extend(header.as_bytes());
            plain.extend_from_slice(data);
            let mut crc = flate2::Crc::new();
            crc.update(&plain);
            let packed = if deflate {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(&plain).unwrap();
                encoder.finish().unwrap()
            } else {
                plain.clone()
            };
            let name = format!("{name}.npy");
            let at = file.len() as u32;
            file.extend(LOCAL.0);
            file.extend([0; 22]);
            file.extend((name.len() as u16).to_le_bytes());
            file.extend(4_u16.to_le_bytes());
            file.extend(name.as_bytes());
            file.extend([0; 4]);
            file.extend(&packed);
            directory.extend(ENTRY.0);
            directory.extend([0; 6]);
            directory.extend(if deflate { 8_u16 } else { 0 }.to_le_bytes());
            directory.extend([0; 4]);
            directory.extend(crc.sum().to_le_bytes());
            directory.extend((packed.len() as u32).to_le_bytes());
            directory.extend((plain.len() as u32).to_le_bytes());
            directory.extend((name.len() as u16).to_le_bytes());
            directory.extend([0; 12]);
            directory.extend(at.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let start = file.len() as u32;
        file.extend(&directory);
        file.extend(END.0);
        file.extend([0; 6]);
        file.extend((arrays.len() as u16).to_le_bytes());
        file.extend((directory.len() as u32).to_le_bytes());
        file.extend(start.to_le_bytes());
        file.extend([0; 2]);
        file
    }

    fn small(deflate: bool) -> Vec<u8> {
        let floats: Vec<u8> = [1.0_f32, -2.5, 0.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        archive(
            &[
                ("bytes", "|u1", &[4], &[1, 2, 3, 63]),
                ("floats", "<f4", &[2, 3], &floats),
                ("one", "<f8", &[], &2.5_f64.to_le_bytes()),
            ],
            deflate,
        )
    }

    /// Returns all numbers of the small archive.
    fn read(bytes: &[u8]) -> Result<Vec<f32>, Error> {
        let npz = Npz::open(Path::new("weights.npz"), bytes)?;
        let bytes = npz.bytes("bytes", &[4])?.into_iter().map(f32::from).collect();
        Ok([bytes, npz.floats("floats", &[2, 3])?, npz.floats("one", &[])?].concat())
    }

    #[test]
    fn arrays_are_read_stored_or_deflated() {
        for deflate in [false, true] {
            let expected = [1.0, 2.0, 3.0, 63.0, 1.0, -2.5, 0.0, 4.0, 5.0, 6.0, 2.5];
            assert_eq!(read(&small(deflate)).unwrap(), expected);
        }
    }

    #[test]
    fn another_array_than_needed_is_refused_by_name() {
        let file = small(true);
        let npz = Npz::open(Path::new("weights.npz"), &file).unwrap();
        for (error, words) in [
            (npz.floats("floats", &[3, 2]).unwrap_err(), "floats: has the shape [2, 3], but [3, 2] is needed"),
            (npz.floats("bytes", &[4]).unwrap_err(), "bytes: holds bytes, but floats are needed"),
            (npz.bytes("one", &[]).unwrap_err(), "one: holds Double numbers, but bytes are needed"),
            (npz.floats("absent", &[1]).unwrap_err(), "absent: the array is missing"),
        ] {
            assert_eq!(error.to_string(), format!("weights.npz: {words}"));
        }
        let not_numbers = archive(&[("x", "<f4", &[1], &f32::NAN.to_le_bytes())], false);
        let npz = Npz::open(Path::new("weights.npz"), &not_numbers).unwrap();
        assert!(npz.floats("x", &[1]).unwrap_err().to_string().contains("NaN"));
    }

    #[test]
    fn an_array_that_unpacks_beyond_what_is_needed_is_refused() {
        let file = archive(&[("x", "|u1", &[1 << 20], &vec![0; 1 << 20])], true);
        let npz = Npz::open(Path::new("weights.npz"), &file).unwrap();
        assert!(npz.bytes("x", &[4]).unwrap_err().to_string().contains("at most"));
    }

    #[test]
    fn damaged_files_are_errors_that_name_the_file() {
        for deflate in [false, true] {
            let sound = small(deflate);
            for length in 0..sound.len() {
                let error = read(&sound[..length]).unwrap_err().to_string();
                assert!(error.starts_with("weights.npz: "), "{length}: {error}");
            }
            for at in 0..sound.len() {
                for value in [0, 1, 0x7f, 0xff] {
                    let mut damaged = sound.clone();
                    damaged[at] = value;
                    if let Err(error) = read(&damaged) {
                        assert!(error.to_string().starts_with("weights.npz: "), "{at} {value}: {error}");
                    }
                }
            }
        }
    }
}
