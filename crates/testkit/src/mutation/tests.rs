//! What a seed does to a stream.

use super::*;

/// Words that count, with an answer now and then.
fn stream() -> Vec<u8> {
    (0..20_000_u32)
        .flat_map(|number| if number % 50 == 0 { 9 } else { number << 8 | 200 }.to_be_bytes())
        .collect()
}

fn damaged(seed: u64, stream: &[u8]) -> (Vec<u8>, Option<Limit>, Vec<String>) {
    let mut mutator = Mutation { seed }.start();
    let mut out = Vec::new();
    let limit = mutator.apply(stream, &mut out);
    (out, limit, mutator.edits().to_vec())
}

#[test]
fn a_seed_does_the_same_again() {
    let stream = stream();
    for seed in 0..200 {
        assert!(damaged(seed, &stream) == damaged(seed, &stream));
    }
}

#[test]
fn every_seed_damages_something_and_most_of_it_differently() {
    let stream = stream();
    let mut all: Vec<Vec<String>> = (0..300).map(|seed| damaged(seed, &stream).2).collect();
    assert!(all.iter().all(|edits| (1..=4).contains(&edits.len())));
    all.sort();
    all.dedup();
    assert!(all.len() > 290, "{}", all.len());
    let text = all.concat().join("\n");
    for edit in ["flipped", "becomes", "inserted", "repeated", "dropped", "change places", "cut", "silent"] {
        assert!(text.contains(edit), "no {edit}");
    }
}

#[test]
fn edits_in_place_do_not_depend_on_how_bytes_arrive() {
    let stream = stream();
    let mut compared = 0;
    for seed in 0..300 {
        let (whole, limit, edits) = damaged(seed, &stream);
        // These look ahead, as far as there is something.
        if edits
            .iter()
            .any(|edit| ["change places", "becomes", "next answer"].iter().any(|text| edit.contains(text)))
        {
            continue;
        }
        let mut mutator = Mutation { seed }.start();
        let mut pieces = Vec::new();
        let mut last = None;
        for piece in stream.chunks(64) {
            last = mutator.apply(piece, &mut pieces);
            if last.is_some() {
                break;
            }
        }
        if edits == mutator.edits() {
            assert!(limit.is_some() || pieces == whole, "seed {seed}: {edits:?}");
            compared += 1;
        }
        assert_eq!(last, limit, "seed {seed}");
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn what_a_flood_brings_is_bounded() {
    let stream = stream();
    let most = (0..300).map(|seed| damaged(seed, &stream).0.len()).max();
    // Up to four edits, each a flood or a thousand times something.
    assert!(most.is_some_and(|most| (FLOOD / 2..5 * FLOOD).contains(&most)), "{most:?}");
}
