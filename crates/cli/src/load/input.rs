//! The bytes of a file or of standard input: counted, in UTF-8, without a byte order mark.

use crate::byte_order_mark;
use crate::failure::{Failure, Result};
use crate::load::args::is_standard_input;
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes as they are in the file.
pub(super) type Bytes = BufReader<Counted<Box<dyn Read + Send>>>;
/// Text in UTF-8, which is not checked yet unless it was decoded.
pub(super) type Text = Box<dyn BufRead + Send>;

/// Opens a file, or standard input.
pub(super) fn bytes(path: &Path, read: &Arc<AtomicU64>) -> Result<Bytes> {
    let inner: Box<dyn Read + Send> = match is_standard_input(path) {
        true => Box::new(io::stdin()),
        false => Box::new(file(path)?),
    };
    Ok(BufReader::with_capacity(BUFFER, Counted { inner, read: Arc::clone(read) }))
}

/// Opens a file to be read in any order.
pub(super) fn seekable(path: &Path, read: &Arc<AtomicU64>) -> Result<BufReader<Counted<File>>> {
    let counted = Counted { inner: file(path)?, read: Arc::clone(read) };
    Ok(BufReader::with_capacity(BUFFER, counted))
}

/// Opens a file.
pub(super) fn file(path: &Path) -> Result<File> {
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        false => Ok(file),
    });
    opened.map_err(|error| Failure::file(path, &error))
}

/// Whether it can be read in any order and more than once, unlike standard input and pipes.
pub(super) fn is_regular(path: &Path) -> bool {
    !is_standard_input(path) && path.is_file()
}

/// Opens a file as text: in the encoding, or in the one that its byte order mark names.
pub(super) fn text(path: &Path, encoding: Option<&'static Encoding>, read: &Arc<AtomicU64>) -> Result<Text> {
    decoded(bytes(path, read)?, encoding).map_err(|error| Failure::file(path, &error))
}

/// Text in UTF-8 without a byte order mark. PowerShell and editors on Windows begin with one, in UTF-8 and in UTF-16.
fn decoded(
    mut bytes: impl BufRead + Send + 'static,
    encoding: Option<&'static Encoding>,
) -> io::Result<Text> {
    let mut begin = Vec::new();
    // A pipe may bring them one by one.
    bytes.by_ref().take(LONGEST_MARK as u64).read_to_end(&mut begin)?;
    refuse_packed(&begin)?;
    let marked = byte_order_mark::encoding(&begin)?;
    // What the user says counts.
    let named = encoding.is_some();
    if !named && marked.is_none() {
        byte_order_mark::refuse_utf16(&begin, "name it with --encoding, or save it as UTF-8")?;
    }
    let encoding = encoding.or(marked.map(|(encoding, _)| encoding)).unwrap_or(UTF_8);
    if encoding == UTF_8 {
        let mark = marked.filter(|(encoding, _)| *encoding == UTF_8).map_or(0, |(_, length)| length);
        return Ok(Box::new(io::Cursor::new(begin.split_off(mark)).chain(bytes)));
    }
    Ok(Box::new(Decoded::new(io::Cursor::new(begin).chain(bytes), encoding, named)))
}

/// The bytes by which a format is known, for byte order marks, compressed files, Parquet and Arrow.
const LONGEST_MARK: usize = 8;

/// The error for a file that is no text, if it is there and is one of those that are known.
pub(super) fn refused(path: &Path) -> Option<Failure> {
    if !is_regular(path) {
        return None;
    }
    let mut begin = Vec::new();
    file(path).ok()?.take(LONGEST_MARK as u64).read_to_end(&mut begin).ok()?;
    refuse_packed(&begin).err().map(|error| Failure::file(path, &error))
}

/// Refuses what no text begins with, and says what would help.
fn refuse_packed(begin: &[u8]) -> io::Result<()> {
    let unpack = |program: &str| {
        format!(
            "it is compressed with {program}: {program} -dc FILE | firearrow load DATABASE - --format csv --into TABLE \
             (or --format json)"
        )
    };
    let text = match begin {
        [0x1f, 0x8b, 8, ..] => unpack("gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => unpack("zstd"),
        [0xfd, b'7', b'z', b'X', ..] => unpack("xz"),
        [b'P', b'A', b'R', b'1', 0..=8 | 14..=31, ..] => "it is a Parquet file: --format parquet".to_owned(),
        [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0] => "it is an Arrow file: --format arrow".to_owned(),
        [b'P', b'K', 3, 4, ..] => {
            "it is a ZIP archive or a workbook: unpack it, or save the sheet as CSV".to_owned()
        }
        _ => return Ok(()),
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}

/// Counts the bytes that were read.
pub(super) struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Text of another encoding as UTF-8.
struct Decoded<R> {
    bytes: R,
    decoder: Decoder,
    /// What to say if it cannot be decoded.
    wrong: String,
    /// What was decoded, and how much of it was taken.
    text: Vec<u8>,
    taken: usize,
    is_over: bool,
}

impl<R: BufRead> Decoded<R> {
    /// `named` tells whether the user has named the encoding.
    fn new(bytes: R, encoding: &'static Encoding, named: bool) -> Self {
        let decoder = encoding.new_decoder_with_bom_removal();
        let name = encoding.name();
        let wrong = match named {
            true => format!("the text is not {name}: choose another --encoding"),
            false => format!("the text begins as {name} and goes on otherwise"),
        };
        Self { bytes, decoder, wrong, text: Vec::new(), taken: 0, is_over: false }
    }

    /// Decodes the next bytes.
    fn decode(&mut self) -> io::Result<()> {
        let bytes = self.bytes.fill_buf()?;
        let is_last = bytes.is_empty();
        let most = self.decoder.max_utf8_buffer_length_without_replacement(bytes.len());
        self.text.resize(most.unwrap_or(BUFFER), 0);
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(bytes, &mut self.text, is_last);
        self.bytes.consume(read);
        self.text.truncate(written);
        self.taken = 0;
        if let DecoderResult::Malformed(..) = result {
            return Err(io::Error::new(io::ErrorKind::InvalidData, self.wrong.clone()));
        }
        self.is_over = is_last && result == DecoderResult::InputEmpty;
        Ok(())
    }
}

impl<R: BufRead> BufRead for Decoded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.taken == self.text.len() && !self.is_over {
            self.decode()?;
        }
        Ok(&self.text[self.taken..])
    }

    fn consume(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.text.len());
    }
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

const BUFFER: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(encoding: &str, bytes: &'static [u8]) -> io::Result<String> {
        let encoding = Encoding::for_label(encoding.as_bytes()).unwrap();
        // Characters are cut in two between reads.
        let bytes = BufReader::with_capacity(3, bytes);
        let mut text = String::new();
        Decoded::new(bytes, encoding, true).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn other_encodings_become_utf_8() {
        assert_eq!(read("latin1", b"J\xf6rg, \x80 5").unwrap(), "Jörg, € 5");
        assert_eq!(read("utf-16le", b"\xff\xfeJ\0\xf6\0\x3d\xd8\x00\xde").unwrap(), "Jö😀");
        assert_eq!(read("shift_jis", b"\x93\x8c\x8b\x9e").unwrap(), "東京");
        let error = read("euc-jp", b"ab\xff\xffcd").unwrap_err();
        assert!(error.to_string().contains("not EUC-JP"), "{error}");
        // A character that the end cuts off.
        read("utf-16le", b"J\0\xf6").unwrap_err();
    }

    #[test]
    fn what_is_compressed_is_named() {
        for (begin, name) in [
            (&b"\x1f\x8b\x08\x08rest"[..], "gzip"),
            (b"\x28\xb5\x2f\xfd\x24", "zstd"),
            (b"\xfd7zXZ\0", "xz"),
            (b"PK\x03\x04\x14\0", "workbook"),
            (b"PAR1\x15\x04\x15\x80", "Parquet"),
            (b"ARROW1\0\0\xff\xff", "Arrow"),
        ] {
            // Whatever encoding was named: every byte is a character in most.
            for encoding in [None, Some(encoding_rs::WINDOWS_1252)] {
                let refused = decoded(begin, encoding).err().map(|error| error.to_string());
                assert!(refused.as_ref().is_some_and(|text| text.contains(name)), "{refused:?}");
            }
        }
        for begin in [&b"PK,NAME\n"[..], b"PAR1,PAR2\n", b"PAR1\n1\n", b"ARROW1\n", b"\x1f\x8b"] {
            assert!(decoded(begin, None).is_ok(), "{begin:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_names_the_encoding() {
        let read = |bytes: &'static [u8], encoding: Option<&'static Encoding>| {
            let mut text = String::new();
            decoded(BufReader::with_capacity(1, bytes), encoding)?.read_to_string(&mut text).map(|_| text)
        };
        for (bytes, expected) in [
            (&b"\xef\xbb\xbfa"[..], "a"),
            (b"\xef\xbb\xbf", ""),
            (b"a", "a"),
            (b"", ""),
            (b"\xff\xfeJ\0\xf6\0", "Jö"),
            (b"\xfe\xff\0J\0\xf6", "Jö"),
            (b"\xff\xfe", ""),
        ] {
            assert_eq!(read(bytes, None).unwrap(), expected, "{bytes:?}");
        }
        // What the user says counts.
        assert_eq!(read(b"\xff\xfea", Some(encoding_rs::WINDOWS_1252)).unwrap(), "ÿþa");
        read(b"\xff\xfea\0", Some(UTF_8)).unwrap_err();
        // A character that the end cuts off.
        let error = read(b"\xff\xfeJ\0\xf6", None).unwrap_err();
        assert_eq!(error.to_string(), "the text begins as UTF-16LE and goes on otherwise");
        let error = read(b"\xff\xfe\0\0J\0\0\0", None).unwrap_err();
        assert!(error.to_string().contains("UTF-32"), "{error}");
    }
}
