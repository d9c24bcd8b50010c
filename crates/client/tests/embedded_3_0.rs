//! The embedded engine of Firebird 3.0. One process can hold one engine, so it has a test binary of its own.
#![allow(dead_code, reason = "the support modules serve more tests than these")]

#[path = "it/cases.rs"]
mod cases;
#[path = "it/elements.rs"]
mod elements;
#[path = "it/event_cases.rs"]
mod event_cases;
#[path = "it/limbo_cases.rs"]
mod limbo_cases;
#[path = "it/query_cases.rs"]
mod query_cases;
#[path = "it/scroll_model.rs"]
mod scroll_model;
#[path = "it/support.rs"]
mod support;
#[path = "it/write_cases.rs"]
mod write_cases;

use firearrow_testkit::{Target, matrix};

matrix!(
    [embedded_3_0],
    fn types_survive_the_round_trip_in_3_0(target: &Target) {
        cases::all_types(target);
    },
    fn arrays_survive_the_round_trip_in_3_0(target: &Target) {
        elements::all_elements(target);
    },
    fn cursors_scroll_in_3_0(target: &Target) {
        scroll_model::moves_agree(target);
    },
    fn info_names_3_0(target: &Target) {
        let info = support::fresh(target).info().expect("info is answered");
        assert!(info.engine_version.starts_with("3.0"), "{info:?}");
    },
    fn limbo_is_recovered_both_ways_in_3_0(target: &Target) {
        limbo_cases::limbo_is_recovered_both_ways(target);
    },
    fn limbo_allows_nothing_but_an_end_in_3_0(target: &Target) {
        limbo_cases::limbo_allows_nothing_but_an_end(target);
    },
    fn postings_are_counted_in_3_0(target: &Target) {
        event_cases::postings_are_counted(target);
    },
    fn nothing_is_lost_between_questions_in_3_0(target: &Target) {
        event_cases::nothing_is_lost_between_questions(target);
    },
    fn many_rows_are_written_and_told_in_3_0(target: &Target) {
        write_cases::failures_are_told_the_same(target);
        write_cases::conflicts_are_told_the_same(target);
        write_cases::hundreds_of_failures_are_all_described(target);
        write_cases::blobs_of_all_lengths_arrive(target);
        write_cases::streams_count_over_all_batches(target);
    },
    fn many_rows_give_one_result_in_3_0(target: &Target) {
        query_cases::each_inserted_row_comes_back_in_its_place(target);
        query_cases::queries_follow_each_other(target);
        query_cases::results_of_any_length_follow_each_other(target);
        query_cases::changed_rows_come_back(target);
        query_cases::failures_are_told_with_their_rows(target);
        query_cases::failures_of_queries_are_told_with_their_rows(target);
        query_cases::blobs_go_in_and_out(target);
    }
);
