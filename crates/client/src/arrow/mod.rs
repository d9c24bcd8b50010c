//! Firebird rows to Arrow columns, and Arrow columns to Firebird messages.
//!
//! ```text
//!  Descriptor ──► schema ──► Field, DataType ──┐
//!                              ▲               ▼
//!                         ReadOptions     BatchBuilder ──► RecordBatch
//!                                              ▲  one ColumnBuilder per column
//!  PackedRows (wire), NativeRows (engine) ─────┘
//!
//!  RecordBatch ──► ParamEncoder ──► EncodedParams: native messages, and the BLOBs to create for them
//! ```
//!
//! Both backends deliver rows through `RowSource`, so one set of builders serves both. Only [`schema`] decides the
//! mapping: the builders follow the Arrow type that it chose.

mod builder;
mod columns;
mod error;
mod options;
mod params;
mod schema;
#[cfg(test)]
mod tests;

pub use builder::{BatchBuilder, BatchLimits, PendingBlob};
pub use error::{DecodeError, DecodeErrorKind};
pub use options::{
    BinaryAs, BlobPolicy, DecfloatAs, DecimalPrecision, Int128As, MaxBlob, NoneEncoding, OptionError,
    ReadOptions, TextAs, TimestampTzAs, TimetzAs,
};
pub(crate) use params::suspect;
pub use params::{
    ArrayCells, BlobCell, EncodedParams, ParamEncoder, ParamError, ParamErrorKind, ParamOptions,
    TimeRounding, WriteOptions,
};
pub use schema::{SchemaError, data_type, output_layout, schema};
