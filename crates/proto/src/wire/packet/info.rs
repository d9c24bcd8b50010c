//! Info requests.

use super::Request;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;

macro_rules! info_requests {
    ($($(#[$doc:meta])* $name:ident = $op:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a> {
            /// Handle of the object asked.
            pub object: u16,
            /// Wanted items.
            pub items: &'a [u8],
            /// Bytes the answer may have.
            pub buffer_length: u32,
        }

        impl Request for $name<'_> {
            const OP: Op = Op::$op;

            fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
                out.short(self.object);
                out.short(0); // incarnation
                out.cstr(self.items);
                out.word(self.buffer_length);
            }

            fn most_data(&self) -> usize {
                self.buffer_length as usize
            }
        }
    )* };
}

info_requests! {
    /// `op_info_database`. Keep the buffer at or below 65535: the server's length is 16-bit.
    InfoDatabase = INFO_DATABASE,
    /// `op_info_transaction`.
    InfoTransaction = INFO_TRANSACTION,
    /// `op_info_blob`.
    InfoBlob = INFO_BLOB,
    /// `op_info_sql`.
    InfoSql = INFO_SQL,
}
