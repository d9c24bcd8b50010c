//! Events.

use super::{DPB, Engine, Scratch};
use firearrow_fbapi::Events;
use firearrow_proto::api::event::{event_block, events};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
const QUIET: Duration = Duration::from_millis(200);

/// Makes a request, and returns the receiver of the answer.
fn ask(scratch: &Scratch, block: &[u8]) -> (Events, Receiver<Vec<u8>>) {
    let (sender, receiver) = channel();
    let send = move |answer: &[u8]| drop(sender.send(answer.to_vec()));
    (scratch.attachment.queue_events(block, send).unwrap(), receiver)
}

fn counts(block: &[u8]) -> Vec<u32> {
    events(block).unwrap().into_iter().map(|(_, count)| count).collect()
}

const POST: &str = "execute block as begin post_event 'a'; post_event 'b'; post_event 'a'; end";

pub fn questions_are_answered_once(engine: &Engine) {
    let scratch = engine.scratch();
    let (first, answers) = ask(&scratch, &event_block([("a", 0), ("b", 0), ("c", 0)]));
    let before = answers.recv_timeout(LIMIT).unwrap();
    drop(first);
    scratch.run(&[POST]);
    let (_second, answers) = ask(&scratch, &before);
    let after = answers.recv_timeout(LIMIT).unwrap();
    let posted: Vec<u32> =
        counts(&after).iter().zip(counts(&before)).map(|(after, before)| after - before).collect();
    assert_eq!(posted, [2, 1, 0]);
    scratch.run(&[POST]);
    assert_eq!(answers.recv_timeout(QUIET), Err(RecvTimeoutError::Timeout));
}

pub fn cancelled_questions_are_not_answered(engine: &Engine) {
    let scratch = engine.scratch();
    let (first, answers) = ask(&scratch, &event_block([("a", 0)]));
    let block = answers.recv_timeout(LIMIT).unwrap();
    drop(first);
    let (second, answers) = ask(&scratch, &block);
    drop(second);
    scratch.run(&[POST]);
    match answers.recv_timeout(QUIET) {
        // The callback is gone, or never called.
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        Ok(answer) => panic!("{answer:?}"),
    }
    let error = scratch.attachment.queue_events(&[1, 200, b'a'], |_| {}).map(drop);
    assert!(error.is_err(), "a malformed block is refused");
}

pub fn callbacks_are_released(engine: &Engine) {
    let scratch = engine.scratch();
    let (question, answered) = ask(&scratch, &event_block([("a", 0)]));
    answered.recv_timeout(LIMIT).unwrap();
    drop(question);
    let (question, cancelled) = ask(&scratch, &event_block([("a", 1000)]));
    drop(question);
    scratch.run(&[POST]);
    scratch.attachment.detach().unwrap();
    // The callbacks own the senders, so the receivers notice when they are dropped.
    for receiver in [answered, cancelled] {
        assert_eq!(receiver.recv_timeout(LIMIT), Err(RecvTimeoutError::Disconnected));
    }
    engine.library.attach(&scratch.path, DPB).unwrap().detach().unwrap();
}
