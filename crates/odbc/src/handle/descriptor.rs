//! Descriptors: what is bound to columns and parameters, and what columns and parameters are.

use crate::abi::{self, Len, SmallInt, ULen, USmallInt, c_type, sql_type};
use crate::column::Column;
use crate::diagnostics::Diagnostics;
use crate::handle::Id;
use crate::text::Text;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a descriptor describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An application's buffers, for rows or parameters: the ARD and the APD. An explicit one may serve as either.
    Application,
    /// The columns of a result: the IRD.
    Columns,
    /// The parameters of a statement: the IPD.
    Parameters,
}

/// A record of a descriptor: a buffer, or a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The concise type: a C type of a buffer, an SQL type of a parameter.
    pub(crate) concise: SmallInt,
    /// Characters or digits.
    pub(crate) length: ULen,
    /// Bytes of the buffer.
    pub(crate) octet_length: Len,
    pub(crate) precision: SmallInt,
    pub(crate) scale: SmallInt,
    /// Of intervals.
    pub(crate) leading_precision: i32,
    pub(crate) radix: i32,
    pub(crate) data: *mut u8,
    pub(crate) octet_length_ptr: *mut Len,
    pub(crate) indicator_ptr: *mut Len,
    pub(crate) parameter_type: SmallInt,
    pub(crate) nullable: SmallInt,
    pub(crate) name: Text,
    pub(crate) type_name: &'static str,
    /// Whether the application has said what the parameter is; otherwise the server has.
    pub(crate) is_given: bool,
}

// SAFETY: the pointers are dereferenced only within a call that holds the object's lock; the application promised when it set them
// that they stay valid until it takes them back.
unsafe impl Send for Record {}

impl Record {
    /// What a record is before anything is set.
    pub(crate) fn new(role: Role) -> Self {
        let concise = match role {
            Role::Application => c_type::DEFAULT,
            Role::Columns | Role::Parameters => sql_type::UNKNOWN,
        };
        Self {
            concise,
            length: 0,
            octet_length: 0,
            precision: 0,
            scale: 0,
            leading_precision: 0,
            radix: 0,
            data: null_mut(),
            octet_length_ptr: null_mut(),
            indicator_ptr: null_mut(),
            parameter_type: abi::PARAM_INPUT,
            nullable: abi::NULLABLE,
            name: Text::default(),
            type_name: "",
            is_given: false,
        }
    }

    /// Whether a column is bound, if only to learn its length.
    pub(crate) fn is_bound(&self) -> bool {
        !self.data.is_null() || !self.octet_length_ptr.is_null() || !self.indicator_ptr.is_null()
    }
}

/// A descriptor.
#[derive(Debug)]
pub(crate) struct Descriptor {
    pub(crate) role: Role,
    pub(crate) is_explicit: bool,
    /// Changes with each change, so that plans made for it know when they are outdated.
    pub(crate) version: u64,
    pub(crate) array_size: ULen,
    /// 0 = arrays, one for each column; otherwise bytes from row to row.
    pub(crate) bind_type: ULen,
    pub(crate) bind_offset_ptr: *mut Len,
    pub(crate) array_status_ptr: *mut USmallInt,
    pub(crate) rows_processed_ptr: *mut ULen,
    /// From number 1 on.
    pub(crate) records: Vec<Record>,
    /// The bookmark.
    pub(crate) bookmark: Record,
    /// The columns of the result, in place of records.
    pub(crate) columns: Option<Arc<[Column]>>,
}

// SAFETY: as for records.
unsafe impl Send for Descriptor {}

impl Descriptor {
    pub(crate) fn new(role: Role, is_explicit: bool) -> Self {
        Self {
            role,
            is_explicit,
            version: 0,
            array_size: 1,
            bind_type: 0,
            bind_offset_ptr: null_mut(),
            array_status_ptr: null_mut(),
            rows_processed_ptr: null_mut(),
            records: Vec::new(),
            bookmark: Record::new(role),
            columns: None,
        }
    }

    /// Notes that something has changed.
    pub(crate) fn touch(&mut self) {
        self.version += 1;
    }

    /// The number of the highest record.
    pub(crate) fn count(&self) -> usize {
        match &self.columns {
            Some(columns) => columns.len(),
            None => self.records.len(),
        }
    }

    /// The record with this number, which is made if it does not exist.
    pub(crate) fn record_mut(&mut self, number: usize) -> &mut Record {
        self.touch();
        let Some(at) = number.checked_sub(1) else { return &mut self.bookmark };
        if self.records.len() <= at {
            let role = self.role;
            self.records.resize_with(at + 1, || Record::new(role));
        }
        &mut self.records[at]
    }

    pub(crate) fn record(&self, number: usize) -> Option<&Record> {
        match number.checked_sub(1) {
            None => Some(&self.bookmark),
            Some(at) => self.records.get(at),
        }
    }

    /// Forgets arrays and places, which the attributes of a statement set.
    pub(crate) fn clear_header(&mut self) {
        let new = Self::new(self.role, self.is_explicit);
        *self = Self {
            version: self.version,
            records: std::mem::take(&mut self.records),
            bookmark: self.bookmark.clone(),
            columns: self.columns.take(),
            ..new
        };
        self.touch();
    }

    /// Unbinds everything, as `SQL_UNBIND` and `SQL_RESET_PARAMS` do.
    pub(crate) fn clear(&mut self) {
        self.touch();
        self.records.clear();
        self.bookmark = Record::new(self.role);
    }

    /// Drops unbound records at the end, as the standard counts.
    pub(crate) fn trim(&mut self) {
        while self.records.last().is_some_and(|record| !record.is_bound()) {
            self.records.pop();
        }
    }

    /// The number of bytes that the application wants added to all its addresses.
    pub(crate) fn offset(&self) -> isize {
        match self.bind_offset_ptr.is_null() {
            true => 0,
            // SAFETY: the application promises that it may be read while it is set.
            false => unsafe { self.bind_offset_ptr.read_unaligned() },
        }
    }
}

/// A descriptor that statements use. Several may use an explicit one.
#[derive(Clone, Debug)]
pub(crate) struct SharedDescriptor(Arc<Mutex<Descriptor>>);

impl SharedDescriptor {
    pub(crate) fn new(role: Role, is_explicit: bool) -> Self {
        Self(Arc::new(Mutex::new(Descriptor::new(role, is_explicit))))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Descriptor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The handle of a descriptor.
#[derive(Debug)]
pub(crate) struct DescriptorHandle {
    pub(crate) diagnostics: Diagnostics,
    pub(crate) descriptor: SharedDescriptor,
    pub(crate) connection: Id,
    /// The statement of an implicit one.
    pub(crate) statement: Option<Id>,
}
