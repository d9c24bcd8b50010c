//! The tests that run on every generation of the engine, and their helpers.
//!
//! A process can use one client library only, so each generation has a test binary of its own. An engine that is
//! not installed is a named skip.

pub mod batches;
pub mod blobs;
pub mod cursors;
pub mod events;
pub mod failures;
pub mod transactions;
pub mod types;

use firearrow_fbapi::{
    Attachment, Library, LoadOptions, MessageBuffer, Metadata, Runtime, RuntimeHint, Transaction,
};
use firearrow_proto::api::dialect::Dialect;
use firearrow_testkit::Target;
use std::mem::MaybeUninit;
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// Version 1; user_name, lc_ctype, and utf8_filename without a value.
pub const DPB: &[u8] = b"\x01\x1c\x06SYSDBA\x30\x04UTF8\x4d\x00";
/// The same, and set_db_charset.
pub const CREATE: &[u8] = b"\x01\x1c\x06SYSDBA\x30\x04UTF8\x4d\x00\x44\x04UTF8";
/// Version 3; concurrency, wait, write.
pub const SNAPSHOT: &[u8] = &[3, 2, 6, 9];

/// The engine of this process.
pub struct Engine {
    pub library: Arc<Library>,
    pub major: u8,
    /// The [`handlers`] before it was loaded.
    pub handlers: [usize; 2],
}

/// The handlers of SIGINT and SIGTERM. The parent process may have set them to be ignored.
pub fn handlers() -> [usize; 2] {
    [libc::SIGINT, libc::SIGTERM].map(|signal| {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: with no new action given, sigaction fills the structure.
        unsafe {
            assert_eq!(libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()), 0);
            action.assume_init().sa_sigaction
        }
    })
}

/// The engine behind the target, loaded once.
pub fn engine(target: &Target) -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let runtime = Runtime::discover(&RuntimeHint::at(target.engine())).unwrap();
        let major = target.generation().major();
        assert_eq!(runtime.generation, Some(major));
        let handlers = handlers();
        let library = Library::load(&runtime, &LoadOptions::default()).unwrap();
        assert_eq!(library.client_version(), (major, 0));
        Engine { library, major, handlers }
    })
}

/// A new database, dropped together with its folder.
pub struct Scratch {
    pub attachment: Attachment,
    pub path: String,
    pub folder: TempDir,
}

impl Engine {
    pub fn scratch(&self) -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scratch.fdb").to_str().unwrap().to_owned();
        Scratch { attachment: self.library.create(&path, CREATE).unwrap(), path, folder }
    }
}

impl Scratch {
    pub fn begin(&self) -> Transaction {
        self.attachment.start_transaction(SNAPSHOT).unwrap()
    }

    /// Runs statements, each in a transaction of its own.
    pub fn run(&self, statements: &[&str]) {
        for sql in statements {
            let mut transaction = self.begin();
            self.attachment
                .execute_immediate(Some(&mut transaction), sql, Dialect::Three)
                .unwrap_or_else(|e| panic!("{sql}: {e}"));
            transaction.commit().unwrap();
        }
    }

    /// The only value of a query, as text.
    pub fn text(&self, sql: &str) -> String {
        let transaction = self.begin();
        let sql = format!("select cast(({sql}) as varchar(200)) from RDB$DATABASE");
        let mut statement = self.attachment.prepare(&transaction, &sql, Dialect::Three).unwrap();
        let mut cursor = statement.open_cursor(&transaction, None, None, Default::default()).unwrap();
        let mut buffer = MessageBuffer::new(cursor.message_length());
        assert!(cursor.fetch_next(buffer.bytes_mut()).unwrap());
        let length = usize::from(u16::from_le_bytes([buffer.bytes()[0], buffer.bytes()[1]]));
        String::from_utf8(buffer.bytes()[2..2 + length].to_vec()).unwrap()
    }
}

/// A message being filled in the layout of its format.
pub struct Message {
    pub buffer: MessageBuffer,
}

impl Message {
    pub fn new(format: &Metadata) -> Self {
        Self { buffer: MessageBuffer::new(format.message_length()) }
    }

    /// Sets a value, or NULL.
    pub fn set(&mut self, format: &Metadata, index: usize, value: Option<&[u8]>) {
        let (offset, null) = (format.offset(index).unwrap(), format.null_offset(index).unwrap());
        let bytes = self.buffer.bytes_mut();
        let indicator: i16 = if value.is_some() { 0 } else { -1 };
        bytes[null..null + 2].copy_from_slice(&indicator.to_le_bytes());
        if let Some(value) = value {
            bytes[offset..offset + value.len()].copy_from_slice(value);
        }
    }
}

/// The bytes of a VARYING value.
pub fn varying(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
}

/// Stamps a test for each function of the suite.
#[macro_export]
macro_rules! engine_tests {
    ($platform:ident, $($module:ident::$name:ident)*) => {$(
        #[test]
        fn $name() {
            let test = concat!(module_path!(), "::", stringify!($name));
            firearrow_testkit::run(firearrow_testkit::platform::$platform(), test, |target| {
                suite::$module::$name(suite::engine(target))
            });
        }
    )*};
}

/// All tests of the suite.
#[macro_export]
macro_rules! whole_suite {
    ($platform:ident) => {
        $crate::engine_tests!($platform,
            types::every_type_survives_a_round_trip
            types::layouts_of_this_crate_are_those_of_the_engine
            types::values_are_converted_to_the_format_asked_for
            types::descriptions_are_those_of_the_wire
            types::null_parameters_arrive
            types::text_of_other_character_sets_arrives_as_utf8
            cursors::rows_come_in_blocks_until_the_end
            cursors::fetching_after_the_end_stays_at_the_end
            cursors::rows_before_an_error_come_first
            cursors::buffers_are_measured
            cursors::a_cursor_of_a_finished_transaction_reports_it
            cursors::cursors_scroll
            cursors::values_may_be_dropped_in_any_order
            cursors::statements_survive_the_end_of_their_attachment
            cursors::objects_work_in_other_threads
            cursors::kinds_flags_and_plans_are_told
            blobs::long_blobs_are_written_and_read_whole
            blobs::reading_stops_at_the_limit
            blobs::blobs_that_are_not_closed_are_discarded
            blobs::blob_information_is_told
            batches::batches_insert_many_rows
            batches::batches_count_rows_on_demand
            batches::failures_of_batches_are_numbered
            batches::details_of_failures_have_a_limit
            batches::blobs_get_into_batches_in_every_way
            batches::segmented_blobs_get_into_batches
            batches::unknown_blobs_stop_a_batch
            batches::values_that_cannot_be_converted_stop_a_batch
            batches::batches_have_a_size
            batches::misused_batches_are_refused
            batches::batches_may_outlive_what_they_came_from
            transactions::transactions_can_be_controlled_by_sql
            transactions::prepared_transaction_control_works_too
            transactions::an_ended_transaction_is_inert
            transactions::retaining_keeps_the_transaction
            transactions::a_failed_commit_leaves_the_transaction
            transactions::detaching_with_a_transaction_is_refused
            transactions::prepared_transactions_wait_in_limbo
            events::questions_are_answered_once
            events::cancelled_questions_are_not_answered
            events::callbacks_are_released
            failures::errors_keep_the_whole_vector
            failures::texts_are_those_of_the_client_library
            failures::warnings_reach_the_listener
            failures::missing_databases_are_reported
            failures::host_syntax_does_not_leave_the_process
            failures::a_running_statement_can_be_cancelled
            failures::statement_timeouts_depend_on_the_release
            failures::handlers_of_signals_stay
            failures::the_same_library_is_loaded_once
            failures::another_library_is_refused
            failures::answers_that_do_not_fit_are_asked_for_again
        );
    };
}
