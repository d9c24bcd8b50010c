//! Items of `isc_database_info`.

/// `isc_info_reads`: pages read from disk since the engine opened the database.
pub const READS: u8 = 5;
/// `isc_info_writes`: pages written to disk.
pub const WRITES: u8 = 6;
/// `isc_info_fetches`: pages read from the cache.
pub const FETCHES: u8 = 7;
/// `isc_info_marks`: pages changed in the cache.
pub const MARKS: u8 = 8;
/// `isc_info_page_size`: bytes per page.
pub const PAGE_SIZE: u8 = 14;
/// `isc_info_num_buffers`: pages that the cache holds.
pub const NUM_BUFFERS: u8 = 15;
/// `isc_info_limbo`: the number of a transaction in limbo; the answer has one item for each.
pub const LIMBO: u8 = 16;
/// `isc_info_current_memory`: bytes of memory that the server uses.
pub const CURRENT_MEMORY: u8 = 17;
/// `isc_info_max_memory`: the most bytes of memory that the server has used.
pub const MAX_MEMORY: u8 = 18;
/// `isc_info_allocation`: pages of the database. The server writes its cache to disk to answer. Item 64,
/// `isc_info_db_size_in_pages`, does and answers the same.
pub const ALLOCATION: u8 = 21;
/// `isc_info_attachment_id`: the number of the attachment.
pub const ATTACHMENT_ID: u8 = 22;
/// `isc_info_read_seq_count`: rows read sequentially, by table.
pub const READ_SEQ_COUNT: u8 = 23;
/// `isc_info_read_idx_count`: rows read through an index, by table.
pub const READ_IDX_COUNT: u8 = 24;
/// `isc_info_insert_count`: rows inserted, by table.
pub const INSERT_COUNT: u8 = 25;
/// `isc_info_update_count`: rows updated, by table.
pub const UPDATE_COUNT: u8 = 26;
/// `isc_info_delete_count`: rows deleted, by table.
pub const DELETE_COUNT: u8 = 27;
/// `isc_info_backout_count`: row versions undone, by table.
pub const BACKOUT_COUNT: u8 = 28;
/// `isc_info_purge_count`: old versions removed of rows that still exist, by table.
pub const PURGE_COUNT: u8 = 29;
/// `isc_info_expunge_count`: deleted rows removed for good, by table.
pub const EXPUNGE_COUNT: u8 = 30;
/// `isc_info_sweep_interval`: transactions after which the engine sweeps; 0 = never.
pub const SWEEP_INTERVAL: u8 = 31;
/// `isc_info_ods_version`: the major version of the on-disk structure.
pub const ODS_VERSION: u8 = 32;
/// `isc_info_ods_minor_version`: the minor version of the on-disk structure.
pub const ODS_MINOR_VERSION: u8 = 33;
/// `isc_info_forced_writes`: whether writes wait for the disk.
pub const FORCED_WRITES: u8 = 52;
/// `isc_info_db_sql_dialect`: the SQL dialect of the database.
pub const DB_SQL_DIALECT: u8 = 62;
/// `isc_info_db_read_only`: whether the database refuses writes.
pub const DB_READ_ONLY: u8 = 63;
/// `isc_info_firebird_version`: version strings; see [`counted_strings`](super::counted_strings).
pub const FIREBIRD_VERSION: u8 = 103;
/// `isc_info_oldest_transaction`: the oldest interesting transaction (OIT).
pub const OLDEST_TRANSACTION: u8 = 104;
/// `isc_info_oldest_active`: the oldest active transaction (OAT).
pub const OLDEST_ACTIVE: u8 = 105;
/// `isc_info_oldest_snapshot`: the oldest snapshot (OST).
pub const OLDEST_SNAPSHOT: u8 = 106;
/// `isc_info_next_transaction`: the number of the next transaction, or of the last one, depending on the release.
pub const NEXT_TRANSACTION: u8 = 107;
/// `fb_info_pages_used`: pages in use.
pub const PAGES_USED: u8 = 124;
/// `fb_info_pages_free`: pages that can be used again.
pub const PAGES_FREE: u8 = 125;
