//! Tests across the files of this folder. Those of one file are in it.

mod arrays;
mod backends;
mod batches;
mod blobs;
mod mapping;
mod parameters;
mod rows;
