//! The backend operations as calls into an engine in this process.

mod array;
mod attachment;
mod blob;
mod connect;
mod cursor;
mod error;
mod event;
mod interruption;
mod scroll;
mod series;
mod statement;
mod transaction;
mod write;

use super::{StatementId, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::warning::{Warning, Warnings};
use firearrow_fbapi as fbapi;
use firearrow_fbapi::Attachment;
use interruption::Interruption;
use rustc_hash::FxHashMap;
use statement::Statement;

/// Buffer size for info answers, in bytes; the layer below repeats the call for longer ones.
const INFO_BYTES: usize = 1024;

/// A database attached in this process.
pub(crate) struct Embedded {
    attachment: Option<Attachment>,
    transactions: FxHashMap<TransactionId, fbapi::Transaction>,
    statements: FxHashMap<u32, Statement>,
    blobs: FxHashMap<u32, fbapi::Blob>,
    questions: event::Questions,
    last_id: u32,
    last_transaction: u64,
    interruption: Interruption,
    /// Warnings about the attachment itself.
    pub(crate) warnings: Vec<Warning>,
    pub(crate) statement_warnings: Warnings,
}

impl Embedded {
    pub(crate) fn new(attachment: Attachment) -> Self {
        let warnings = Warning::of_status(&attachment.warnings()).into_iter().collect();
        let statement_warnings = Warnings::default();
        let keeper = statement_warnings.clone();
        attachment.on_warning(move |status| keeper.keep(&status));
        Self {
            attachment: Some(attachment),
            transactions: FxHashMap::default(),
            statements: FxHashMap::default(),
            blobs: FxHashMap::default(),
            questions: event::Questions::default(),
            last_id: 0,
            last_transaction: 0,
            interruption: Interruption::default(),
            warnings,
            statement_warnings,
        }
    }

    fn attachment(&self) -> Result<&Attachment> {
        self.attachment.as_ref().ok_or_else(|| Error::new(Kind::Closed, "the connection is closed"))
    }

    fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn own(&mut self, transaction: fbapi::Transaction) -> TransactionId {
        self.last_transaction += 1;
        let id = TransactionId(self.last_transaction);
        self.transactions.insert(id, transaction);
        id
    }

    fn transaction(&mut self, id: TransactionId) -> Result<&mut fbapi::Transaction> {
        self.transactions.get_mut(&id).ok_or_else(no_transaction)
    }

    fn statement(&mut self, id: StatementId) -> Result<&mut Statement> {
        self.statements.get_mut(&id.0).ok_or_else(no_statement)
    }
}

fn no_transaction() -> Error {
    Error::new(Kind::Misuse, "the transaction has ended")
}

fn no_statement() -> Error {
    Error::new(Kind::Misuse, "the statement has been freed")
}
