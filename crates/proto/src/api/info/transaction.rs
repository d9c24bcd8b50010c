//! Items of `isc_transaction_info`.

/// `isc_info_tra_id`: the number of the transaction in the database.
pub const ID: u8 = 4;
/// `fb_info_tra_snapshot_number`: the number of its snapshot (Firebird 4 and later).
pub const SNAPSHOT_NUMBER: u8 = 12;
