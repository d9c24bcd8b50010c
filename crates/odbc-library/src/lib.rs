//! The C library of the ODBC driver: the exported functions of `firearrow_odbc`, linked as one file.
#![forbid(unsafe_code)]

use firearrow_odbc as _;
