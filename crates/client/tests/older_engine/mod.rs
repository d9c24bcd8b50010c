//! The tests that run on embedded engines older than 5.0.
//!
//! A process can hold one engine only, so each release has a test binary of its own, which stamps [`suite!`] for its
//! platform. The tests are those of `it`, called from here.

#[path = "../it/cases.rs"]
pub(crate) mod cases;
#[path = "../it/elements.rs"]
pub(crate) mod elements;
#[path = "../it/event_cases.rs"]
pub(crate) mod event_cases;
#[path = "../it/limbo_cases.rs"]
pub(crate) mod limbo_cases;
#[path = "../it/query_cases.rs"]
pub(crate) mod query_cases;
#[path = "../it/scroll_model.rs"]
pub(crate) mod scroll_model;
#[path = "../it/support.rs"]
pub(crate) mod support;
#[path = "../it/write_cases.rs"]
pub(crate) mod write_cases;

/// Stamps all tests for one platform.
macro_rules! suite {
    ($platform:ident) => {
        firearrow_testkit::matrix!(
            [$platform],
            fn types_survive_the_round_trip(target: &firearrow_testkit::Target) {
                cases::all_types(target);
            },
            fn arrays_survive_the_round_trip(target: &firearrow_testkit::Target) {
                elements::all_elements(target);
            },
            fn cursors_scroll(target: &firearrow_testkit::Target) {
                scroll_model::moves_agree(target);
            },
            fn info_names_the_release(target: &firearrow_testkit::Target) {
                let info = support::fresh(target).info().expect("info is answered");
                assert!(info.engine_version.starts_with(target.generation().number()), "{info:?}");
            },
            fn limbo_is_recovered_both_ways(target: &firearrow_testkit::Target) {
                limbo_cases::limbo_is_recovered_both_ways(target);
            },
            fn limbo_allows_nothing_but_an_end(target: &firearrow_testkit::Target) {
                limbo_cases::limbo_allows_nothing_but_an_end(target);
            },
            fn postings_are_counted(target: &firearrow_testkit::Target) {
                event_cases::postings_are_counted(target);
            },
            fn nothing_is_lost_between_questions(target: &firearrow_testkit::Target) {
                event_cases::nothing_is_lost_between_questions(target);
            },
            fn many_rows_are_written_and_reported(target: &firearrow_testkit::Target) {
                write_cases::failures_are_told_the_same(target);
                write_cases::conflicts_are_told_the_same(target);
                write_cases::hundreds_of_failures_are_all_described(target);
                write_cases::blobs_of_all_lengths_arrive(target);
                write_cases::blobs_arrive_in_later_transactions(target);
                write_cases::streams_count_over_all_batches(target);
                write_cases::rows_without_parameters_are_executed(target);
                write_cases::floats_are_the_decimals_that_were_meant(target);
                write_cases::text_without_character_set_has_its_code_page(target);
            },
            fn many_rows_give_one_result(target: &firearrow_testkit::Target) {
                query_cases::each_inserted_row_comes_back_in_its_place(target);
                query_cases::queries_follow_each_other(target);
                query_cases::results_of_any_length_follow_each_other(target);
                query_cases::changed_rows_come_back(target);
                query_cases::failures_are_told_with_their_rows(target);
                query_cases::failures_of_queries_are_told_with_their_rows(target);
                query_cases::blobs_go_in_and_out(target);
            }
        );
    };
}
pub(crate) use suite;
