//! The binary layout of the interfaces: tables of functions, in the order of `FirebirdInterface.idl`.
//!
//! ```text
//!  IFoo*  ─►  word 0  unused            table ─►  word 0  unused
//!             word 1  table                       word 1  version
//!             …       the implementer's           word 2… functions, base interface first
//! ```
//!
//! Methods are only ever appended, so the tables of release 5.0 fit every release from 3.0 on, as long as a slot marked
//! `[vN]` is not read from a table of a lower version. Nothing here forms a reference to a table: its tail may not
//! exist.

use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// `ISC_STATUS`.
pub(crate) type Word = isize;

/// `ISC_QUAD`: ids of blobs and arrays.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Quad {
    pub(crate) high: i32,
    pub(crate) low: u32,
}

impl Quad {
    pub(crate) fn from_id(id: u64) -> Self {
        Self { high: (id >> 32) as i32, low: id as u32 }
    }

    pub(crate) fn id(self) -> u64 {
        u64::from(self.high as u32) << 32 | u64::from(self.low)
    }
}

/// The type of a slot: a function, or a placeholder for slots that are not called.
macro_rules! slot {
    ($name:ident) => { *const c_void };
    ($name:ident, ($($kind:ty),*) $(-> $result:ty)?) => {
        unsafe extern "C" fn(*mut $name, $($kind),*) $(-> $result)?
    };
}

/// Declares an interface, its table, and an unsafe function for each slot whose signature is given.
macro_rules! interface {
    ($name:ident, $table:ident { $($method:ident $(($($arg:ident: $kind:ty),*) $(-> $result:ty)?)?;)* }) => {
        #[repr(C)]
        pub(crate) struct $name {
            unused: *mut c_void,
            table: *const $table,
        }

        #[repr(C)]
        #[allow(dead_code, reason = "slots that are not called hold the places of those after them")]
        pub(crate) struct $table {
            unused: *mut c_void,
            version: usize,
            $($method: slot!($name $(, ($($kind),*) $(-> $result)?)?),)*
        }

        impl $name {
            /// # Safety
            /// `this` must be a live interface of this type.
            #[inline]
            pub(crate) unsafe fn version(this: *mut Self) -> usize {
                // SAFETY: every table begins with its version.
                unsafe { (*(*this).table).version }
            }

            $($(
                /// # Safety
                /// `this` must be a live interface whose version has the slot; pointers must be valid for
                /// the call and long enough for the lengths given.
                #[inline]
                #[allow(clippy::too_many_arguments, reason = "the interfaces are as they are")]
                pub(crate) unsafe fn $method(this: *mut Self, $($arg: $kind),*) $(-> $result)? {
                    // SAFETY: the caller vouches for the interface, the slot and the arguments.
                    unsafe { ((*(*this).table).$method)(this, $($arg),*) }
                }
            )?)*
        }
    };
}

interface!(IStatus, StatusTable {
    dispose();
    init();
    state() -> u32;
    set_errors2;
    set_warnings2;
    set_errors;
    set_warnings;
    errors() -> *const Word;
    warnings() -> *const Word;
});

interface!(IMaster, MasterTable {
    status() -> *mut IStatus;
    dispatcher() -> *mut IProvider;
    plugin_manager;
    timer_control;
    dtc;
    register_attachment;
    register_transaction;
    metadata_builder(status: *mut IStatus, fields: u32) -> *mut IMetadataBuilder;
    server_mode;
    util() -> *mut IUtil;
    config_manager() -> *mut IConfigManager;
});

interface!(IUtil, UtilTable {
    fb_version;
    load_blob;
    dump_blob;
    perf_counters;
    execute_create_database;
    decode_date;
    decode_time;
    encode_date;
    encode_time;
    format_status;
    client_version() -> u32;
});

interface!(IConfigManager, ConfigManagerTable {
    directory;
    firebird_conf;
    database_conf;
    plugin_config;
    install_directory;
    root_directory() -> *const c_char;
});

interface!(IProvider, ProviderTable {
    add_ref;
    release;
    set_owner;
    owner;
    attach(status: *mut IStatus, path: *const c_char, length: u32, dpb: *const u8) -> *mut IAttachment;
    create(status: *mut IStatus, path: *const c_char, length: u32, dpb: *const u8) -> *mut IAttachment;
});

// The closing calls exist twice from 4.0.1 on. Through the client library the older slot forwards to the
// newer one, so the older slot serves every release; it is the one named here.
interface!(IAttachment, AttachmentTable {
    add_ref();
    release() -> i32;
    info(status: *mut IStatus, length: u32, items: *const u8, size: u32, buffer: *mut u8);
    start_transaction(status: *mut IStatus, length: u32, tpb: *const u8) -> *mut ITransaction;
    reconnect_transaction(status: *mut IStatus, length: u32, id: *const u8) -> *mut ITransaction;
    compile_request;
    transact_request;
    create_blob(
        status: *mut IStatus, transaction: *mut ITransaction, id: *mut Quad, length: u32, bpb: *const u8
    ) -> *mut IBlob;
    open_blob(
        status: *mut IStatus, transaction: *mut ITransaction, id: *mut Quad, length: u32, bpb: *const u8
    ) -> *mut IBlob;
    get_slice;
    put_slice(
        status: *mut IStatus, transaction: *mut ITransaction, id: *mut Quad, sdl_length: u32, sdl: *const u8,
        parameter_length: u32, parameters: *const u8, length: i32, slice: *mut u8
    );
    execute_dyn;
    prepare(
        status: *mut IStatus, transaction: *mut ITransaction, length: u32, sql: *const c_char, dialect: u32,
        flags: u32
    ) -> *mut IStatement;
    execute(
        status: *mut IStatus, transaction: *mut ITransaction, length: u32, sql: *const c_char, dialect: u32,
        in_format: *mut IMessageMetadata, input: *mut u8, out_format: *mut IMessageMetadata, output: *mut u8
    ) -> *mut ITransaction;
    open_cursor;
    queue_events(
        status: *mut IStatus, callback: *mut IEventCallback, length: u32, block: *const u8
    ) -> *mut IEvents;
    cancel_operation(status: *mut IStatus, option: i32);
    ping(status: *mut IStatus);
    detach(status: *mut IStatus);
    drop_database(status: *mut IStatus);
    idle_timeout; // [v4]
    set_idle_timeout; // [v4]
    statement_timeout; // [v4]
    set_statement_timeout; // [v4]
    create_batch; // [v4]
    create_replicator; // [v4]
    newer_detach; // [v5]
    newer_drop_database; // [v5]
    max_blob_cache_size; // [v6]
    set_max_blob_cache_size; // [v6]
    max_inline_blob_size(status: *mut IStatus) -> u32; // [v6]
});

interface!(ITransaction, TransactionTable {
    add_ref();
    release() -> i32;
    info(status: *mut IStatus, length: u32, items: *const u8, size: u32, buffer: *mut u8);
    prepare(status: *mut IStatus, length: u32, message: *const u8);
    commit(status: *mut IStatus);
    commit_retaining(status: *mut IStatus);
    rollback(status: *mut IStatus);
    rollback_retaining(status: *mut IStatus);
    disconnect(status: *mut IStatus);
});

interface!(IStatement, StatementTable {
    add_ref();
    release() -> i32;
    info(status: *mut IStatus, length: u32, items: *const u8, size: u32, buffer: *mut u8);
    kind(status: *mut IStatus) -> u32;
    plan(status: *mut IStatus, detailed: u8) -> *const c_char;
    affected_records(status: *mut IStatus) -> u64;
    input_metadata(status: *mut IStatus) -> *mut IMessageMetadata;
    output_metadata(status: *mut IStatus) -> *mut IMessageMetadata;
    execute(
        status: *mut IStatus, transaction: *mut ITransaction, in_format: *mut IMessageMetadata, input: *mut u8,
        out_format: *mut IMessageMetadata, output: *mut u8
    ) -> *mut ITransaction;
    open_cursor(
        status: *mut IStatus, transaction: *mut ITransaction, in_format: *mut IMessageMetadata, input: *mut u8,
        out_format: *mut IMessageMetadata, flags: u32
    ) -> *mut IResultSet;
    set_cursor_name;
    free(status: *mut IStatus);
    flags(status: *mut IStatus) -> u32;
    timeout; // [v4]
    set_timeout(status: *mut IStatus, milliseconds: u32); // [v4]
    create_batch(
        status: *mut IStatus, format: *mut IMessageMetadata, length: u32, parameters: *const u8
    ) -> *mut IBatch; // [v4]
});

interface!(IResultSet, ResultSetTable {
    add_ref();
    release() -> i32;
    fetch_next(status: *mut IStatus, message: *mut u8) -> i32;
    fetch_prior(status: *mut IStatus, message: *mut u8) -> i32;
    fetch_first(status: *mut IStatus, message: *mut u8) -> i32;
    fetch_last(status: *mut IStatus, message: *mut u8) -> i32;
    fetch_absolute(status: *mut IStatus, position: i32, message: *mut u8) -> i32;
    fetch_relative(status: *mut IStatus, offset: i32, message: *mut u8) -> i32;
    is_eof;
    is_bof;
    metadata;
    close(status: *mut IStatus);
});

interface!(IMessageMetadata, MessageMetadataTable {
    add_ref();
    release() -> i32;
    count(status: *mut IStatus) -> u32;
    field(status: *mut IStatus, index: u32) -> *const c_char;
    relation(status: *mut IStatus, index: u32) -> *const c_char;
    owner(status: *mut IStatus, index: u32) -> *const c_char;
    alias(status: *mut IStatus, index: u32) -> *const c_char;
    sql_type(status: *mut IStatus, index: u32) -> u32;
    is_nullable(status: *mut IStatus, index: u32) -> u8;
    sub_type(status: *mut IStatus, index: u32) -> i32;
    length(status: *mut IStatus, index: u32) -> u32;
    scale(status: *mut IStatus, index: u32) -> i32;
    charset(status: *mut IStatus, index: u32) -> u32;
    offset(status: *mut IStatus, index: u32) -> u32;
    null_offset(status: *mut IStatus, index: u32) -> u32;
    builder;
    message_length(status: *mut IStatus) -> u32;
    alignment; // [v4]
    aligned_length(status: *mut IStatus) -> u32; // [v4]
});

interface!(IMetadataBuilder, MetadataBuilderTable {
    add_ref();
    release() -> i32;
    set_type(status: *mut IStatus, index: u32, sql_type: u32);
    set_sub_type(status: *mut IStatus, index: u32, sub_type: i32);
    set_length(status: *mut IStatus, index: u32, length: u32);
    set_charset(status: *mut IStatus, index: u32, charset: u32);
    set_scale(status: *mut IStatus, index: u32, scale: i32);
    truncate;
    move_name_to_index;
    remove;
    add_field;
    metadata(status: *mut IStatus) -> *mut IMessageMetadata;
});

interface!(IBlob, BlobTable {
    add_ref();
    release() -> i32;
    info(status: *mut IStatus, length: u32, items: *const u8, size: u32, buffer: *mut u8);
    get_segment(status: *mut IStatus, size: u32, buffer: *mut u8, length: *mut u32) -> i32;
    put_segment(status: *mut IStatus, length: u32, buffer: *const u8);
    cancel(status: *mut IStatus);
    close(status: *mut IStatus);
    seek(status: *mut IStatus, mode: i32, offset: i32) -> i32;
});

interface!(IBatch, BatchTable {
    add_ref();
    release() -> i32;
    add(status: *mut IStatus, count: u32, messages: *const u8);
    add_blob(
        status: *mut IStatus, length: u32, bytes: *const u8, id: *mut Quad, bpb_length: u32, bpb: *const u8
    );
    append_blob_data;
    add_blob_stream(status: *mut IStatus, length: u32, stream: *const u8);
    register_blob(status: *mut IStatus, existing: *const Quad, id: *mut Quad);
    execute(status: *mut IStatus, transaction: *mut ITransaction) -> *mut IBatchCompletionState;
    cancel(status: *mut IStatus);
    blob_alignment(status: *mut IStatus) -> u32;
    metadata;
    set_default_bpb;
    close(status: *mut IStatus);
});

interface!(IBatchCompletionState, BatchCompletionStateTable {
    dispose();
    size(status: *mut IStatus) -> u32;
    state(status: *mut IStatus, record: u32) -> i32;
    find_error(status: *mut IStatus, from: u32) -> u32;
    record_status(status: *mut IStatus, to: *mut IStatus, record: u32);
});

interface!(IEvents, EventsTable {
    add_ref();
    release() -> i32;
    cancel(status: *mut IStatus);
});

/// An interface that this crate implements and the library calls.
#[repr(C)]
pub(crate) struct IEventCallback {
    pub(crate) unused: *mut c_void,
    pub(crate) table: *const EventCallbackTable,
}

/// Its functions.
#[repr(C)]
pub(crate) struct EventCallbackTable {
    pub(crate) unused: *mut c_void,
    pub(crate) version: usize,
    pub(crate) add_ref: unsafe extern "C" fn(*mut IEventCallback),
    pub(crate) release: unsafe extern "C" fn(*mut IEventCallback) -> i32,
    pub(crate) call: unsafe extern "C" fn(*mut IEventCallback, u32, *const u8),
}

// SAFETY: a table is constant: it holds addresses of functions and an unused word.
unsafe impl Sync for EventCallbackTable {}

/// An interface whose first two slots are `addRef` and `release`.
///
/// # Safety
/// The functions must be those of the type's own table.
pub(crate) unsafe trait Counted {
    /// The name for error messages.
    const NAME: &'static str;
    /// The version in release 3.0, or in the release that introduced it. It has every slot that is used without a
    /// version check.
    const VERSION: usize;
    /// # Safety
    /// `this` must be a live interface.
    unsafe fn version_of(this: *mut Self) -> usize;
    /// # Safety
    /// `this` must be a live interface.
    unsafe fn retain(this: *mut Self);
    /// # Safety
    /// `this` must be a live interface; the caller gives up one reference.
    unsafe fn give_up(this: *mut Self);
}

macro_rules! counted {
    ($($name:ident)*) => {$(
        // SAFETY: the tables above begin with addRef and release.
        unsafe impl Counted for $name {
            const NAME: &'static str = stringify!($name);
            const VERSION: usize = 3;
            unsafe fn version_of(this: *mut Self) -> usize {
                // SAFETY: the caller passes a live interface.
                unsafe { Self::version(this) }
            }
            unsafe fn retain(this: *mut Self) {
                // SAFETY: the caller passes a live interface.
                unsafe { Self::add_ref(this) }
            }
            unsafe fn give_up(this: *mut Self) {
                // SAFETY: the caller passes a live interface and its own reference.
                unsafe { Self::release(this) };
            }
        }
    )*};
}
counted!(IAttachment ITransaction IStatement IResultSet IMessageMetadata IMetadataBuilder IBlob IBatch IEvents);

/// One reference to an interface; released when dropped.
pub(crate) struct Owned<I: Counted>(NonNull<I>);

// SAFETY: the client library lets any thread call any interface and locks as needed; counting is atomic. What
// must not be shared is the status of a call, and that is a matter of `Status`.
unsafe impl<I: Counted> Send for Owned<I> {}
// SAFETY: as above.
unsafe impl<I: Counted> Sync for Owned<I> {}

impl<I: Counted> Owned<I> {
    /// Takes over the reference that a call returned, if the interface is one we understand.
    ///
    /// # Safety
    /// `raw` must be null or carry a reference that belongs to the caller.
    pub(crate) unsafe fn new(raw: *mut I) -> Result<Self, crate::Error> {
        let Some(raw) = NonNull::new(raw) else {
            return Err(crate::Error::Interface { name: I::NAME, found: 0, needed: I::VERSION });
        };
        let owned = Self(raw);
        // SAFETY: not null, and the caller vouches for it.
        let found = unsafe { I::version_of(raw.as_ptr()) };
        if found < I::VERSION {
            return Err(crate::Error::Interface { name: I::NAME, found, needed: I::VERSION });
        }
        Ok(owned)
    }

    /// The interface, for a call.
    #[inline]
    pub(crate) fn raw(&self) -> *mut I {
        self.0.as_ptr()
    }

    /// Drops nothing: a successful closing call has taken the reference.
    pub(crate) fn was_taken(self) {
        std::mem::forget(self);
    }

    /// The version of the interface's table.
    pub(crate) fn version(&self) -> usize {
        // SAFETY: `self` keeps the interface alive.
        unsafe { I::version_of(self.raw()) }
    }
}

impl<I: Counted> Clone for Owned<I> {
    fn clone(&self) -> Self {
        // SAFETY: `self` keeps the interface alive; the new reference belongs to the clone.
        unsafe { I::retain(self.raw()) };
        Self(self.0)
    }
}

impl<I: Counted> Drop for Owned<I> {
    fn drop(&mut self) {
        // SAFETY: `self` owns one reference and ends here.
        unsafe { I::give_up(self.raw()) };
    }
}
