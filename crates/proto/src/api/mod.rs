//! The data formats of a Firebird engine on every transport.

pub mod array;
pub mod blr;
pub mod charset;
pub mod decfloat;
pub mod describe;
pub mod descriptor;
pub mod dialect;
pub mod event;
pub mod gds;
pub mod info;
pub mod layout;
pub mod pb;
pub mod row;
pub mod scroll;
pub mod status;
pub mod timezone;
pub mod transaction;
pub mod value;
