//! Tests across the files of this folder. Tests of a single file are in that file.

mod arrays;
mod backends;
mod batches;
mod blobs;
mod mapping;
mod parameters;
mod rows;
