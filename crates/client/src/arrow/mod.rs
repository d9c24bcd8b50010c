//! Firebird rows to Arrow columns, and Arrow columns to Firebird messages.
//!
//! [`ReadOptions`] decide what a column becomes, and [`schema`] what that is for given columns. [`WriteOptions`] decide how
//! values of parameters are written.

// Descriptor ──► schema ──► Field, DataType ──┐
//                             ▲               ▼
//                        ReadOptions     BatchBuilder ──► RecordBatch
//                                             ▲  one ColumnBuilder per column
// PackedRows (wire), NativeRows (engine) ─────┘
//
// RecordBatch ──► ParamEncoder ──► EncodedParams: native messages, and the BLOBs to create for them
//
// Both backends deliver rows through `RowSource`, so one set of builders serves both. Only `schema` decides the mapping: the
// builders follow the Arrow type that it chose.

mod builder;
mod columns;
mod error;
mod options;
mod params;
mod schema;
#[cfg(test)]
mod tests;

pub use builder::BatchLimits;
pub(crate) use builder::{BatchBuilder, MAX_WAITING, PendingBlob};
pub use error::{DecodeError, DecodeErrorKind};
pub use options::{
    BinaryAs, BlobPolicy, DecfloatAs, DecimalPrecision, Int128As, MaxBlob, NoneEncoding, OptionError,
    ReadOptions, TextAs, TimestampTzAs, TimetzAs,
};
pub(crate) use params::{DirectRow, EncodedParams, ParamEncoder, ParamOptions, decoded, parameter, suspect};
pub use params::{ParamError, ParamErrorKind, TimeRounding, WriteOptions};
pub(crate) use schema::output_layout;
pub use schema::{SchemaError, schema};
