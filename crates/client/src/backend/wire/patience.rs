//! How long the client waits for the server, however the server spends that time.
//!
//! Only an answer restarts the time limit: a complete row, BLOB contents, a response. Parts of packets and `op_dummy`
//! do not. When the client writes, the server must take [`PIECE`] bytes within the same limit.

use std::time::{Duration, Instant};

/// Bytes of a write that count as much as an answer.
const PIECE: usize = 64 << 10;

/// The time limits of a connection, and the current wait.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// The limit for one answer.
    each: Option<Duration>,
    /// The deadline for everything that follows: the handshake, or leaving.
    pub(super) until: Option<Instant>,
    /// Since when the client has been waiting for the next answer.
    since: Option<Instant>,
    /// Number of answers at that time.
    answers: u64,
}

impl Patience {
    /// Limits the wait for each answer only.
    pub(super) fn for_each(limit: Option<Duration>) -> Self {
        Self { each: limit, ..Self::default() }
    }

    /// Limits everything together.
    pub(super) fn until(deadline: Instant) -> Self {
        Self { until: Some(deadline), ..Self::default() }
    }

    /// Limits the wait for each answer, and everything together. The client has been waiting since `since`.
    pub(super) fn since(since: Instant, answers: u64, each: Duration, until: Instant) -> Self {
        Self { each: Some(each), until: Some(until), since: Some(since), answers }
    }

    /// Starts another call; the time in between does not count.
    pub(super) fn begin_call(&mut self) {
        self.since = None;
    }

    /// Notes that the client is waiting and how many answers have come. Returns `true` if the next one is overdue.
    pub(super) fn is_over(&mut self, answers: u64, now: Instant) -> bool {
        if self.since.is_none() || self.answers != answers {
            (self.since, self.answers) = (Some(now), answers);
        }
        self.since.is_some_and(|since| self.is_too_long(since, now))
    }

    /// Whether waiting since `since` has taken too long.
    pub(super) fn is_too_long(&self, since: Instant, now: Instant) -> bool {
        self.each.is_some_and(|limit| now.duration_since(since) >= limit)
            || self.until.is_some_and(|until| now >= until)
    }
}

/// The progress of a write.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// Since when the server takes too little; most writes end before anybody asks.
    since: Option<Instant>,
    taken: usize,
}

impl Writing {
    /// Notes how many bytes in all the server has taken while some remain. Returns `true` if the rest is overdue.
    pub(super) fn is_over(&mut self, taken: usize, patience: &Patience) -> bool {
        let now = Instant::now();
        if taken - self.taken >= PIECE {
            (self.since, self.taken) = (Some(now), taken);
        }
        patience.is_too_long(*self.since.get_or_insert(now), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(300);

    #[test]
    fn only_an_answer_renews_the_limit() {
        let mut patience = Patience::for_each(Some(LIMIT));
        let begin = Instant::now();
        assert!(!patience.is_over(7, begin));
        assert!(!patience.is_over(7, begin + LIMIT / 2));
        assert!(patience.is_over(7, begin + LIMIT));
        assert!(!patience.is_over(8, begin + LIMIT), "an answer has come");
        assert!(patience.is_over(8, begin + 2 * LIMIT));
        patience.begin_call();
        assert!(!patience.is_over(8, begin + 3 * LIMIT), "nobody waited in between");
    }

    #[test]
    fn answers_renew_one_limit_and_not_the_other() {
        let since = Instant::now();
        let ends = |answers: &dyn Fn(u64) -> u64| {
            let second = Duration::from_secs(1);
            let mut patience = Patience::since(since, answers(0), 2 * second, since + 4 * second);
            let is_over = |at: &u64| patience.is_over(answers(*at), since + Duration::from_millis(*at));
            (0..60_000).step_by(50).find(is_over)
        };
        assert_eq!(ends(&|_| 7), Some(2000));
        // The last answer comes after 1.5 s.
        assert_eq!(ends(&|at| at.min(1500)), Some(3500));
        assert_eq!(ends(&|at| at), Some(4000));
        // One each 2.5 s.
        assert_eq!(ends(&|at| at / 2500), Some(2000));
    }

    #[test]
    fn a_deadline_is_not_renewed_by_anything() {
        let begin = Instant::now();
        let mut patience = Patience::until(begin + LIMIT);
        assert!(!patience.is_over(1, begin));
        assert!(patience.is_over(2, begin + LIMIT));
        patience.begin_call();
        assert!(patience.is_over(3, begin + LIMIT));
    }

    #[test]
    fn a_write_renews_the_limit_by_whole_pieces() {
        let patience = Patience::for_each(Some(Duration::ZERO));
        let mut writing = Writing::default();
        assert!(writing.is_over(1, &patience));
        let patience = Patience::for_each(Some(Duration::from_secs(60)));
        let began = writing.since;
        assert!(!writing.is_over(PIECE - 1, &patience));
        assert_eq!(writing.since, began);
        assert!(!writing.is_over(PIECE, &patience));
        assert!(writing.since > began);
    }
}
