//! `firearrow limbo`

use crate::command::{Outcome, firearrow};
use crate::ddl::{config, made_by};
use firearrow::Connection;
use firearrow_testkit::{Target, matrix};
use serde_json::{Value, json};

/// Leaves transactions in limbo, each with a row and one of these messages, and returns their numbers.
fn abandon(target: &Target, url: &str, messages: &[&[u8]]) -> Vec<u64> {
    let connection = Connection::open(&config(target, url)).expect("it opens");
    let numbers = messages.iter().zip(1..).map(|(message, row)| {
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        transaction.execute(&format!("INSERT INTO T VALUES ({row})")).expect("it inserts");
        transaction.prepare_commit(message).expect("it is prepared");
        transaction.number().expect("a number")
    });
    let numbers = numbers.collect();
    connection.close().expect("nothing but what is in limbo");
    numbers
}

fn lines(outcome: &Outcome) -> Vec<Value> {
    outcome.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

matrix!(
    all,
    fn a_job_that_has_decided_is_not_decided_by_its_message(target: &Target) {
        let url = made_by(target, "", "CREATE TABLE T (N INTEGER)");
        let limbo = |arguments: &[&str]| firearrow(target, &[&["limbo"], arguments].concat());
        let attempts = abandon(
            target,
            &url,
            &[b"firearrow job ab part 0 attempt 0", b"firearrow job ab part 0 attempt 1"],
        );
        let record = abandon(target, &url, &[format!("firearrow job ab commit {}", attempts[1]).as_bytes()]);
        let listed = format!("({} {})", attempts[1], record[0]);
        for verb in ["commit", "rollback"] {
            limbo(&[verb, &url, "--message", "firearrow job ab"])
                .failure(1, &["job ab has decided", &listed]);
        }
        limbo(&["commit", &url, &attempts[1].to_string(), &record[0].to_string()]).success();
        let rest = limbo(&["rollback", &url, "--message", "firearrow job ab"]).success();
        assert_eq!(rest.text(), format!("{} rolled back\n", attempts[0]));
    },
);

matrix!(
    all,
    fn what_is_in_limbo_is_listed_and_decided(target: &Target) {
        let url = made_by(target, "", "CREATE TABLE T (N INTEGER)");
        let limbo = |arguments: &[&str]| firearrow(target, &[&["limbo"], arguments].concat());
        let none = limbo(&["list", &url]).success();
        assert_eq!((none.text(), none.stderr.trim_end()), ("", "no transactions in limbo"));

        let messages: [&[u8]; 5] = [b"job 1, part 1", b"job 1, part 2\x1b[31m", b"", b"\xff\x00", b"job 10"];
        let numbers = abandon(target, &url, &messages);
        let listed = limbo(&["list", &url]).success();
        let rows: Vec<&str> = listed.text().lines().collect();
        assert_eq!(rows.len(), 6, "{rows:?}");
        assert!(rows[0].trim_start().starts_with("transaction  message"), "{rows:?}");
        assert!(rows[1].contains(&numbers[0].to_string()) && rows[1].ends_with("job 1, part 1"), "{rows:?}");
        // What a terminal would obey is escaped.
        assert!(rows[2].ends_with("part 2\\u{1b}[31m"), "{rows:?}");
        let found = lines(&limbo(&["list", &url, "--json"]).success());
        assert_eq!(found.iter().map(|one| one["transaction"].as_u64().unwrap()).collect::<Vec<_>>(), numbers);
        assert_eq!(found[0]["message"], "job 1, part 1");
        assert_eq!(found[2]["message"], "");
        assert_eq!((&found[3]["message"], &found[3]["message_hex"]), (&Value::Null, &json!("ff00")));

        // A decision about one that is not there keeps none of the others from theirs.
        let number = |index: usize| numbers[index].to_string();
        let some = limbo(&["commit", &url, &number(2), "999999", &number(3)]);
        let expected = format!("{} committed\n{} committed\n", number(2), number(3));
        let some = some.failure(1, &["999999", "1 transaction not committed"]);
        assert_eq!(some.text(), expected);
        let some = lines(&limbo(&["rollback", &url, "--message", "job 1,", "--json"]).success());
        let rolled_back = |index: usize| json!({ "transaction": numbers[index], "outcome": "rolled back" });
        assert_eq!(some, [rolled_back(0), rolled_back(1)]);
        limbo(&["rollback", &url, "--message", "job 1,"]).failure(1, &["job 1,", "limbo list"]);
        limbo(&["commit", &url]).failure(2, &["<NUMBERS"]);
        limbo(&["commit", &url, "--message", ""]).failure(2, &["--message <TEXT>"]);
        limbo(&["commit", &url, "--message", "job 1"]).success();
        assert_eq!(limbo(&["list", &url]).success().text(), "");
        let rows = firearrow(target, &["query", &url, "SELECT N FROM T ORDER BY N", "--no-header"]).success();
        assert_eq!(rows.text(), "3\n4\n5\n");
    }
);
