//! What a connection cost.

pub use firearrow_proto::wire::connection::WireStats;
