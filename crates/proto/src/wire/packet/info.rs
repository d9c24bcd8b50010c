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
            /// Handle of the object.
            pub object: u16,
            /// Requested items.
            pub items: &'a [u8],
            /// Length of the answer buffer.
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
    /// `op_info_database`. Keep the buffer at 65535 bytes or less: the server stores its length in 16 bits.
    InfoDatabase = INFO_DATABASE,
    /// `op_info_transaction`.
    InfoTransaction = INFO_TRANSACTION,
    /// `op_info_blob`.
    InfoBlob = INFO_BLOB,
    /// `op_info_sql`.
    InfoSql = INFO_SQL,
}
