//! Items of `isc_blob_info`.

/// `isc_info_blob_num_segments`: the number of segments.
pub const NUM_SEGMENTS: u8 = 4;
/// `isc_info_blob_max_segment`: bytes of the longest segment.
pub const MAX_SEGMENT: u8 = 5;
/// `isc_info_blob_total_length`: the length in bytes.
pub const TOTAL_LENGTH: u8 = 6;
/// `isc_info_blob_type`: 0 for a segmented BLOB, 1 for a stream.
pub const TYPE: u8 = 7;
