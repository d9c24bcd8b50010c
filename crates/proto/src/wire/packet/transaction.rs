//! Transactions.

use super::Request;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;

/// `op_transaction`: starts one; the answer's object is its handle.
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
    /// `op_commit_retaining`: the handle stays.
    CommitRetaining = COMMIT_RETAINING,
    /// `op_rollback_retaining`.
    RollbackRetaining = ROLLBACK_RETAINING,
}
