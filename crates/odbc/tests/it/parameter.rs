//! Parameters in an application's buffers.

use crate::odbc::*;
use crate::support::Statement;
use std::ffi::c_void;
use std::ptr::null_mut;

pub(crate) const INPUT: i16 = 1;
pub(crate) const INPUT_OUTPUT: i16 = 2;
pub(crate) const OUTPUT: i16 = 4;

pub(crate) const DATA_AT_EXEC: isize = -2;
pub(crate) const DEFAULT_PARAM: isize = -5;

// C types.
pub(crate) const C_CHAR: i16 = 1;
pub(crate) const C_NUMERIC: i16 = 2;
pub(crate) const C_FLOAT: i16 = 7;
pub(crate) const C_DOUBLE: i16 = 8;
pub(crate) const C_DATE: i16 = 91;
pub(crate) const C_TIME: i16 = 92;
pub(crate) const C_TIMESTAMP: i16 = 93;
pub(crate) const C_BINARY: i16 = -2;
pub(crate) const C_BIT: i16 = -7;
pub(crate) const C_WCHAR: i16 = -8;
pub(crate) const C_GUID: i16 = -11;
pub(crate) const C_SSHORT: i16 = -15;
pub(crate) const C_SLONG: i16 = -16;
pub(crate) const C_USHORT: i16 = -17;
pub(crate) const C_ULONG: i16 = -18;
pub(crate) const C_SBIGINT: i16 = -25;
pub(crate) const C_STINYINT: i16 = -26;
pub(crate) const C_UBIGINT: i16 = -27;
pub(crate) const C_UTINYINT: i16 = -28;

// Statement attributes.
pub(crate) const PARAM_BIND_OFFSET_PTR: i32 = 17;
pub(crate) const PARAM_BIND_TYPE: i32 = 18;
pub(crate) const PARAM_OPERATION_PTR: i32 = 19;
pub(crate) const PARAM_STATUS_PTR: i32 = 20;
pub(crate) const PARAMS_PROCESSED_PTR: i32 = 21;
pub(crate) const PARAMSET_SIZE: i32 = 22;

/// The values of one parameter for all sets, each with its length or indicator.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    pub(crate) c_type: i16,
    pub(crate) sql_type: i16,
    pub(crate) size: usize,
    pub(crate) digits: i16,
    /// Bytes from one value to the next.
    pub(crate) capacity: usize,
    pub(crate) data: Vec<u8>,
    pub(crate) lengths: Vec<isize>,
}

impl Values {
    /// Values from their bytes, `None` for NULL.
    pub(crate) fn of(c_type: i16, sql_type: i16, values: &[Option<Vec<u8>>]) -> Self {
        let longest = values.iter().flatten().map(Vec::len).max().unwrap_or(0).max(1);
        let mut data = vec![0xEE; longest * values.len()];
        for (slot, value) in data.chunks_exact_mut(longest).zip(values) {
            let value = value.as_deref().unwrap_or_default();
            slot[..value.len()].copy_from_slice(value);
        }
        let lengths =
            values.iter().map(|value| value.as_ref().map_or(NULL_DATA, |value| value.len() as isize));
        Self { c_type, sql_type, size: 100, digits: 0, capacity: longest, data, lengths: lengths.collect() }
    }

    pub(crate) fn one(c_type: i16, sql_type: i16, value: &[u8]) -> Self {
        Self::of(c_type, sql_type, &[Some(value.to_vec())])
    }

    pub(crate) fn texts(texts: &[Option<&str>]) -> Self {
        let bytes: Vec<_> = texts.iter().map(|text| text.map(|text| text.as_bytes().to_vec())).collect();
        Self::of(C_CHAR, 12, &bytes)
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::texts(&[Some(text)])
    }

    pub(crate) fn wide(text: &str) -> Self {
        Self::one(C_WCHAR, -9, &units(text))
    }

    pub(crate) fn integers(values: &[Option<i32>]) -> Self {
        let bytes: Vec<_> =
            values.iter().map(|value| value.map(|value| value.to_ne_bytes().to_vec())).collect();
        Self::of(C_SLONG, 4, &bytes)
    }

    /// Room for the output of a parameter.
    pub(crate) fn room(c_type: i16, sql_type: i16, capacity: usize, sets: usize) -> Self {
        let data = vec![0xEE; capacity * sets];
        Self { c_type, sql_type, size: 100, digits: 0, capacity, data, lengths: vec![-77; sets] }
    }

    pub(crate) fn with_digits(self, size: usize, digits: i16) -> Self {
        Self { size, digits, ..self }
    }

    /// The bytes that a set received, `None` for NULL.
    pub(crate) fn received(&self, set: usize) -> Option<&[u8]> {
        let length = usize::try_from(self.lengths[set]).ok()?;
        Some(&self.data[set * self.capacity..][..length.min(self.capacity)])
    }
}

/// Text in UTF-16.
pub(crate) fn units(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_ne_bytes).collect()
}

impl Statement {
    pub(crate) fn try_bind(&self, number: u16, direction: i16, values: &mut Values) -> Return {
        let Values { c_type, sql_type, size, digits, capacity, .. } = *values;
        let (data, lengths) = (values.data.as_mut_ptr().cast(), values.lengths.as_mut_ptr());
        // SAFETY: the buffers have these lengths.
        unsafe {
            SQLBindParameter(
                self.handle,
                number,
                direction,
                c_type,
                sql_type,
                size,
                digits,
                data,
                capacity as isize,
                lengths,
            )
        }
    }

    pub(crate) fn bind(&self, number: u16, direction: i16, values: &mut Values) {
        assert_eq!(self.try_bind(number, direction, values), SUCCESS, "{:?}", self.records());
    }

    /// Sets an attribute that is an address.
    pub(crate) fn set_pointer<T>(&self, attribute: i32, pointer: *mut T) {
        // SAFETY: the caller keeps what it points to.
        let code = unsafe { SQLSetStmtAttr(self.handle, attribute, pointer.cast(), 0) };
        assert_eq!(code, SUCCESS, "{:?}", self.records());
    }

    pub(crate) fn reset_parameters(&self) {
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLFreeStmt(self.handle, 3) }, SUCCESS);
    }

    pub(crate) fn parameters(&self) -> i16 {
        let mut count = -1;
        // SAFETY: the place is there.
        assert_eq!(unsafe { SQLNumParams(self.handle, &mut count) }, SUCCESS, "{:?}", self.records());
        count
    }

    /// What `SQLParamData` returns, and the token.
    pub(crate) fn parameter_data(&self) -> (Return, usize) {
        let mut token: *mut c_void = null_mut();
        // SAFETY: the place is there.
        let code = unsafe { SQLParamData(self.handle, &mut token) };
        (code, token.addr())
    }

    pub(crate) fn put_data(&self, piece: &[u8]) -> Return {
        self.put_data_of(piece, piece.len() as isize)
    }

    pub(crate) fn put_data_of(&self, piece: &[u8], length: isize) -> Return {
        // SAFETY: the piece has its length.
        unsafe { SQLPutData(self.handle, piece.as_ptr().cast_mut().cast(), length) }
    }

    /// The number of the row in a field of a record.
    pub(crate) fn row_of_record(&self, record: i16) -> isize {
        let mut row = 0_isize;
        // SAFETY: the place is there.
        let code = unsafe {
            SQLGetDiagField(STMT, self.handle, record, -1248, (&raw mut row).cast(), 0, null_mut())
        };
        assert_eq!(code, SUCCESS);
        row
    }
}
