//! Transactions.

use super::Request;
use crate::api::transaction::transaction_id;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;

/// `op_transaction`: starts a transaction; the answer's object is its handle.
#[derive(Clone, Copy, Debug)]
pub struct StartTransaction<'a> {
    /// Transaction parameter buffer.
    pub tpb: &'a [u8],
}

impl Request for StartTransaction<'_> {
    const OP: Op = Op::TRANSACTION;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(0);
        out.cstr(self.tpb);
    }
}

/// `op_prepare2`: the first phase of a two-phase commit. Success puts the transaction into limbo.
#[derive(Clone, Copy, Debug)]
pub struct PrepareTransaction<'a> {
    /// Handle of the transaction.
    pub transaction: u16,
    /// A description for whoever recovers the transaction, stored in `RDB$TRANSACTIONS`. May be empty.
    pub message: &'a [u8],
}

impl Request for PrepareTransaction<'_> {
    const OP: Op = Op::PREPARE2;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.transaction);
        out.cstr(self.message);
    }
}

/// `op_reconnect`: takes over a transaction in limbo; the answer's object is its handle.
#[derive(Clone, Copy, Debug)]
pub struct Reconnect {
    /// Number of the transaction in the database.
    pub number: u64,
}

impl Request for Reconnect {
    const OP: Op = Op::RECONNECT;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(0);
        out.cstr(&transaction_id(self.number));
    }
}

macro_rules! by_handle {
    ($($(#[$doc:meta])* $name:ident = $op:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// Handle of the transaction.
            pub transaction: u16,
        }

        impl Request for $name {
            const OP: Op = Op::$op;

            fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
                out.short(self.transaction);
            }
        }
    )* };
}

by_handle! {
    /// `op_commit`: success frees the handle and closes the cursors.
    Commit = COMMIT,
    /// `op_rollback`.
    Rollback = ROLLBACK,
    /// `op_commit_retaining`: the handle stays valid.
    CommitRetaining = COMMIT_RETAINING,
    /// `op_rollback_retaining`.
    RollbackRetaining = ROLLBACK_RETAINING,
}
