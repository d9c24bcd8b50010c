//! The C library of the ADBC driver: the exported functions of `firearrow_adbc`, linked as one file.
#![forbid(unsafe_code)]

use firearrow_adbc as _;
