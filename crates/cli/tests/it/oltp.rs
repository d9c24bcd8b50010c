//! `firearrow oltp`

use crate::command::{argument, finish, firearrow, prepare};
use firearrow_report::Record;
use firearrow_testkit::{Behaviour, Proxy, Server, Skip, Target, matrix};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const QUICK: [&str; 6] = ["--terminals", "3", "--warm-up", "200ms", "--measure", "2s"];

/// The only folder in a folder.
fn only(folder: &Path) -> std::path::PathBuf {
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn record(folder: &Path) -> Record {
    Record::parse("the record", fs::read_to_string(folder.join("raw.jsonl")).unwrap()).unwrap()
}

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0, embedded_5_0],
    fn what_is_loaded_can_be_run_and_saved(target: &Target) {
        let url = target.fresh_url();
        let outcome = firearrow(target, &["oltp", "load", &url, "--tiny", "--warehouses", "3"]).success();
        assert!(outcome.text().contains("loaded 3 warehouses"), "{}", outcome.text());
        let folder = tempfile::tempdir().unwrap();
        let save = ["--full-check", "--save", argument(folder.path())];
        let outcome = firearrow(target, &[&["oltp", "run", &url], &QUICK[..], &save].concat()).success();
        assert!(outcome.text().contains("consistency conditions 1 to 12"), "{}", outcome.text());
        let run = only(folder.path());
        let record = record(&run);
        assert!(record.is_complete() && record.head.environment["terminals"] == 3, "{:?}", record.head);
        let latency = record.samples.iter().filter(|sample| sample.table == "latency");
        assert_eq!(latency.filter(|sample| sample.values["p99_us"] > 0.0).count(), 5);
        let database = url.rsplit('/').next().unwrap();
        assert!(!record.text().contains(database), "records name no paths");
        assert!(fs::read_to_string(run.join("report.md")).unwrap().contains("new order"));
    }
);

matrix!(
    [firebird_4_0, embedded_5_0],
    fn a_campaign_leaves_a_record_a_page_and_no_database(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        let (runs, page) = (folder.path().join("runs"), folder.path().join("page.html"));
        let campaign = ["oltp", "campaign", &url, "--tiny", "--warehouses", "3,4"];
        let output = ["--save", argument(&runs), "--output", argument(&page)];
        let outcome = firearrow(target, &[&campaign, &QUICK[..], &output].concat()).success();
        let text = outcome.text();
        assert_eq!(text.matches(" home ").count(), 2, "{text}");
        assert_eq!(text.matches(" uniform ").count(), 2, "{text}");
        let record = record(&only(&runs));
        let throughput: Vec<_> =
            record.samples.iter().filter(|sample| sample.table == "throughput").collect();
        assert_eq!(throughput.len(), 4);
        assert!(throughput.iter().all(|sample| sample.values["operations_per_s"] > 0.0));
        let sizes: Vec<f64> = throughput.iter().map(|sample| sample.values["size_bytes"]).collect();
        assert!(sizes[0] < sizes[2], "{sizes:?}");
        assert!(record.is_complete());
        assert!(fs::read_to_string(page).unwrap().contains("Operations per second"));
        // The database is gone; a database of somebody else is not deleted.
        firearrow(target, &["info", &url]).failure(1, &[]);
        firearrow(target, &["create-demo", &url, "--rows", "10"]).success();
        firearrow(target, &campaign).failure(1, &["the database exists"]);
        let force = [&campaign[..], &["--force"]].concat();
        firearrow(target, &force).failure(1, &["was not made by a campaign"]);
        firearrow(target, &["query", &url, "SELECT COUNT(*) FROM T_WIDE"]).success();
        // Nor one that was loaded by hand, or in which somebody has put something beside the workload.
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
        let force = ["oltp", "campaign", &url, "--tiny", "--warehouses", "1", "--force"];
        firearrow(target, &force).failure(1, &["was not made by a campaign"]);
        let mark = "COMMENT ON DATABASE IS 'made by firearrow oltp campaign'";
        firearrow(target, &["query", &url, mark]).success();
        firearrow(target, &["query", &url, "CREATE EXCEPTION PRECIOUS 'mine'"]).success();
        firearrow(target, &force).failure(1, &["holds something else than this workload"]);
        firearrow(target, &["query", &url, "DROP EXCEPTION PRECIOUS"]).success();
        let arguments = [&force[..], &QUICK].concat();
        firearrow(target, &arguments).success();
        // What cannot be written is known at once.
        let nowhere = ["oltp", "campaign", &url, "--output", "/nowhere/page.html"];
        firearrow(target, &nowhere).failure(1, &["/nowhere/page.html"]);
        // Whether a pipe can be written to is not found out by waiting for its reader.
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        firearrow(target, &["create-demo", &url, "--rows", "10"]).success();
        let other = ["oltp", "campaign", &url, "--tiny", "--output", argument(&pipe)];
        firearrow(target, &other).failure(1, &["the database exists"]);
    }
);

matrix!(
    [firebird_3_0, embedded_5_0],
    fn only_a_server_can_be_killed(target: &Target) {
        let crash = ["--kill-server-at", "500ms", "--restart-command", "exit 3"];
        if let Target::Wire(shared) = target {
            let server = Server::start(shared.generation()).unwrap();
            let url = server.url("crash");
            firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
            let arguments = [&["oltp", "run", &url, "--terminals", "3"], &crash[..]].concat();
            // A proxy is not the server: it stays alive, and so do we.
            let proxy = Proxy::start(server.address(), Behaviour::pass()).unwrap();
            let through = server.url_at(proxy.address(), &server.database_path("crash"));
            let wrong = [&["oltp", "run", &through, "--terminals", "3"], &crash[..]].concat();
            firearrow(target, &wrong).failure(2, &["serves the database"]);
            firearrow(target, &arguments).failure(1, &["`exit 3`: exit status: 3"]);
            assert!(!server.works(), "it has been killed");
            return;
        }
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
        // There are no rates, so there is nothing to measure and to save.
        let both = [&["oltp", "run", &url, "--measure", "5s"], &crash[..]].concat();
        firearrow(target, &both).failure(2, &["cannot be used with"]);
        let arguments = [&["oltp", "run", &url], &crash[..]].concat();
        firearrow(target, &arguments)
            .failure(2, &["the server cannot be killed: the engine runs in this process"]);
    }
);

matrix!(
    // The other servers have firebird-driver, below.
    [firebird_3_0, firebird_5_0],
    fn the_client_library_does_the_same(target: &Target) -> Result<(), Skip> {
        let peer = Path::new(env!("CARGO_BIN_EXE_firearrow")).with_file_name("firearrow-peer-libfb");
        let Some(client) = target.server().client_library().filter(|_| peer.is_file()) else {
            let reason =
                "no client library, or no firearrow-peer-libfb: cargo build -p firearrow-peers".to_owned();
            return Err(Skip { name: target.to_string(), reason });
        };
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny", "--warehouses", "3"]).success();
        let run = |more: &[&str]| {
            let arguments = [&["oltp", "run", &url], &QUICK[..], more].concat();
            let mut command = prepare(Some(target), &arguments);
            finish(command.env("FIREARROW_PEER", &peer).output().unwrap())
        };
        let library = ["--driver", "libfbclient", "--reference-client", argument(client)];
        let folder = tempfile::tempdir().unwrap();
        let series = folder.path().join("series.csv");
        for mode in ["sp", "sql"] {
            let more =
                ["--mode", mode, "--mix", "equal", "--full-check", "--json", "--series", argument(&series)];
            let found = run(&[&library[..], &more].concat()).success().json();
            assert_eq!(found["driver"], "libfbclient");
            assert_eq!(found["problems"].as_array().unwrap().len(), 0);
            for name in ["orders", "lines", "payments", "delivered"] {
                assert!(found["ledger"][name].as_u64().unwrap() > 0, "{mode}: {found:#}");
            }
            assert!(found["client_cpu_s"].as_f64().unwrap() > 0.0);
            // The seconds add up to what was measured.
            let text = fs::read_to_string(&series).unwrap();
            assert!(
                text.starts_with("second,new_order,payment,order_status,delivery,stock_level,operations")
            );
            let total: u64 = text
                .lines()
                .skip(1)
                .map(|line| line.rsplit(',').next().unwrap().parse::<u64>().unwrap())
                .sum();
            assert_eq!(total, found["completed"].as_u64().unwrap());
        }
        // Everybody asks, meets and repeats where all work everywhere.
        let everywhere = ["--locality", "uniform", "--mix", "equal", "--isolation", "snapshot"];
        run(&[&library[..], &everywhere].concat()).success();
        run(&[&library[..], &["--mode", "sql-pipelined"]].concat()).failure(2, &["--mode sp or sql"]);
        run(&["--driver", "libfbclient"]).failure(2, &["--reference-client"]);
        let wrong = ["--driver", "libfbclient", "--reference-client", "/nowhere/libfbclient.so"];
        run(&wrong).failure(1, &["the other client's program: it ended: exit status: "]);
        // A turn that is too short is worth nothing; nobody's is left here.
        let short = ["oltp", "compare", &url, "--repeat", "1", "--measure", "1ms", "--warm-up", "0s"];
        firearrow(target, &short).failure(
            1,
            &[
                "nothing was compared",
                "firearrow, sql, nearby: ",
                "no delivery was completed while it was measured: measure ",
            ],
        );
        // Who is named and missing is known before anybody has worked.
        let missing =
            [&["oltp", "compare", &url, "--reference-client", "/nowhere/libfbclient.so"], &QUICK[..]]
                .concat();
        let mut command = prepare(Some(target), &missing);
        let outcome = finish(command.env("FIREARROW_PEER", &peer).output().unwrap());
        outcome.failure(2, &["libfbclient: ", "/nowhere/libfbclient.so"]);
        firearrow(target, &["oltp", "compare", &url, "--python", "/nowhere"])
            .failure(2, &["firebird-driver: /nowhere cannot be started"]);

        clients_that_lie_are_found(target, &url, argument(client));

        // In turns, and in one record.
        let page = folder.path().join("page.html");
        let save = ["--save", argument(folder.path()), "--output", argument(&page)];
        // A deck of five cards: a short run has the mix that it should have.
        let compare =
            ["oltp", "compare", &url, "--repeat", "1", "--procedures", "--rtt", "1ms", "--mix", "equal"];
        let reference = ["--reference-client", argument(client)];
        let arguments = [&compare, &QUICK[..], &save, &reference].concat();
        let mut command = prepare(Some(target), &arguments);
        let outcome = finish(command.env("FIREARROW_PEER", &peer).output().unwrap()).success();
        assert!(outcome.text().contains("statement by statement, over 1 ms"), "{}", outcome.text());
        let folders = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let record = record(&folders.into_iter().find(|path| path.is_dir()).unwrap());
        let of = |who: &str| record.samples.iter().filter(|sample| sample.contestant == who).count();
        // Procedures, pipelined, statement by statement; nearby and over the link.
        assert_eq!([of("firearrow"), of("libfbclient")], [6, 6], "{}\n{}", outcome.text(), outcome.stderr);
        let told = |name: &str| record.head.environment[name].as_f64().unwrap();
        assert_eq!(
            (told("link_round_trip_ms"), told("link_rate_bit_per_s"), told("seed")),
            (1.0, 71e6, 42.0)
        );
        assert!(told("warm_up_s") >= 0.0);
        for sample in &record.samples {
            let is_nearby = sample.case.ends_with("nearby");
            assert_eq!(sample.values.contains_key("client_cpu_s"), is_nearby, "{}", sample.case);
        }
        assert!(record.samples.iter().all(|sample| sample.values["new_orders_per_min"] > 0.0));
        assert!(fs::read_to_string(page).unwrap().contains("New orders per minute"));
        // Without a client library ours is measured, and the missing one named.
        let arguments = [&["oltp", "compare", &url, "--repeat", "1", "--mix", "equal"], &QUICK[..]].concat();
        let outcome = firearrow(target, &arguments).success();
        assert!(
            outcome.stderr.contains("not compared: libfbclient: give --reference-client")
                && outcome.stderr.contains("not compared: firebird-driver: "),
            "{}",
            outcome.stderr
        );
        Ok(())
    }
);

matrix!(
    [firebird_4_0, firebird_5_0],
    fn firebird_driver_does_the_same(target: &Target) -> Result<(), Skip> {
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv-python/bin/python");
        let skip = |reason: &str| Skip { name: target.to_string(), reason: reason.to_owned() };
        let client =
            target.server().client_library().ok_or_else(|| skip("no client library: run `make setup`"))?;
        let has = std::process::Command::new(&python).args(["-c", "import firebird.driver"]).output();
        if !has.is_ok_and(|output| output.status.success()) {
            return Err(skip("no firebird-driver in .venv-python: run `make setup`"));
        }
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny", "--warehouses", "3"]).success();
        let rival = [
            "--driver",
            "firebird-driver",
            "--python",
            argument(&python),
            "--reference-client",
            argument(client),
        ];
        let run = |more: &[&str]| {
            firearrow(
                target,
                &[&["oltp", "run", &url], &QUICK[..], &rival, &["--mix", "equal"], more].concat(),
            )
        };
        for mode in ["sp", "sql"] {
            let found = run(&["--mode", mode, "--full-check", "--json"]).success().json();
            assert_eq!(found["driver"], "firebird-driver");
            assert_eq!(found["problems"].as_array().unwrap().len(), 0);
            for name in ["orders", "lines", "payments", "delivered"] {
                assert!(found["ledger"][name].as_u64().unwrap() > 0, "{mode}: {found:#}");
            }
            assert!(found["client_cpu_s"].as_f64().unwrap() > 0.0);
        }
        // Everybody asks, meets and repeats where all work everywhere.
        run(&["--locality", "uniform", "--isolation", "snapshot"]).success();
        run(&["--mode", "sql-pipelined"])
            .failure(2, &["firebird-driver executes one statement after the other"]);
        // Modules come from the interpreter, not from the folder in which somebody happens to be.
        let folder = tempfile::tempdir().unwrap();
        for module in ["json.py", "firebird.py", "time.py"] {
            fs::write(folder.path().join(module), "open('executed', 'w')\nraise SystemExit(3)\n").unwrap();
        }
        let here = [&["oltp", "run", &url], &QUICK[..], &rival, &["--mix", "equal"]].concat();
        let mut command = prepare(Some(target), &here);
        finish(command.current_dir(folder.path()).output().unwrap()).success();
        assert!(!folder.path().join("executed").exists());
        let elsewhere = ["oltp", "run", &url, "--driver", "firebird-driver", "--python", "/nowhere"];
        firearrow(target, &elsewhere).failure(2, &["/nowhere cannot be started"]);

        let compare = ["oltp", "compare", &url, "--repeat", "1", "--mix", "equal", "--json"];
        let others = ["--python", argument(&python), "--reference-client", argument(client)];
        let found = firearrow(target, &[&compare, &QUICK[..], &others].concat()).success().json();
        assert!(found["rival"].as_str().unwrap().starts_with("firebird-driver "), "{found:#}");
        let turns = found["turns"].as_array().unwrap();
        assert!(turns.iter().any(|turn| turn["run"]["driver"] == "firebird-driver"), "{found:#}");
        Ok(())
    },
);

matrix!(
    [firebird_4_0, embedded_5_0],
    fn what_there_is_no_room_for_is_not_begun(target: &Target) {
        let url = target.fresh_url();
        // More than any disk has: 100 PB.
        let load = ["oltp", "load", &url, "--warehouses", "1000000000"];
        firearrow(target, &load).failure(1, &["1000000000 warehouses need about", "left: load fewer"]);
        // There is no database that nobody wanted.
        firearrow(target, &["info", &url]).failure(1, &[]);
        let campaign = ["oltp", "campaign", &url, "--warehouses", "1,1000000000"];
        firearrow(target, &campaign).failure(1, &["1000000000 warehouses need about"]);
        firearrow(target, &["info", &url]).failure(1, &[]);
        firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
        let force = ["oltp", "load", &url, "--warehouses", "1000000000", "--force"];
        firearrow(target, &force).failure(1, &["warehouses need about"]);
        // What was there is still there.
        firearrow(target, &[&["oltp", "run", &url], &QUICK[..]].concat()).success();
    },
    fn what_others_need_is_not_replaced(target: &Target) {
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
        let query = |sql: &str| firearrow(target, &["query", &url, sql]).success();
        let force = ["oltp", "load", &url, "--tiny", "--force"];
        for (create, drop) in [
            ("CREATE TABLE MINE_MONEY (PAID D_MONEY)", "DROP TABLE MINE_MONEY"),
            ("CREATE TABLE MINE_KEY (ITEM INTEGER REFERENCES ITEM (I_ID))", "DROP TABLE MINE_KEY"),
            ("CREATE PROCEDURE MINE_CALL (PAID D_MONEY) AS BEGIN END", "DROP PROCEDURE MINE_CALL"),
            ("CREATE FUNCTION MINE_SUM RETURNS D_MONEY AS BEGIN RETURN 1; END", "DROP FUNCTION MINE_SUM"),
            ("CREATE VIEW MINE_VIEW AS SELECT I_ID FROM ITEM", "DROP VIEW MINE_VIEW"),
        ] {
            query(create);
            let name = create.split(' ').nth(2).unwrap();
            firearrow(target, &force).failure(1, &[name, "left alone"]);
            // Nothing has been removed.
            query("SELECT FIRST 1 I_ID FROM ITEM JOIN WAREHOUSE ON 1 = 1");
            query(drop);
        }
        firearrow(target, &force).success();
    },
    fn a_pace_can_be_chosen(target: &Target) {
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
        let run = |more: &[&str]| firearrow(target, &[&["oltp", "run", &url], &QUICK[..], more].concat());
        let text = run(&["--rate", "200", "--mix", "equal", "--connections", "async"]).success();
        assert!(text.text().contains("wanted: 200 operations/s; "), "{}", text.text());
        assert!(text.text().contains("p99.9 ms"), "{}", text.text());
        run(&["--think", "fixed:5", "--mix", "equal"]).success();
        run(&["--think", "fixed:"]).failure(2, &["fixed:100"]);
        run(&["--rate=0"]).failure(2, &["operations per second"]);
        run(&["--rate", "5", "--think", "tpcc"]).failure(2, &["cannot be used with"]);
        run(&["--connections", "async", "--mode", "sql"]).failure(2, &["--mode sp"]);
    }
);

/// Clients of others count and time by themselves: what cannot be true is no figure.
fn clients_that_lie_are_found(target: &Target, url: &str, client: &str) {
    let folder = tempfile::tempdir().unwrap();
    let liar = folder.path().join("liar");
    let run = |script: &str, more: &[&str]| {
        fs::write(&liar, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&liar, fs::Permissions::from_mode(0o700)).unwrap();
        let arguments = [&["oltp", "run", url, "--mode", "sql"], &QUICK[..], more].concat();
        let mut command = prepare(Some(target), &arguments);
        finish(command.env("FIREARROW_PEER", &liar).output().unwrap())
    };
    // firebird-driver: every answer is looked at.
    let python = ["--driver", "firebird-driver", "--python", argument(&liar)];
    let always = |answer: &str| {
        format!(
            r#"read job; echo '{{"ready": "1"}}'; while read line; do echo '{{{answer}, "cpu_s": 0}}'; done"#
        )
    };
    for answer in [r#""done": "refused""#, r#""done": {"read": {"rows": 1}}"#] {
        run(&always(answer), &python).failure(1, &["is not what was asked for", "figures are withheld"]);
    }
    // The client library: a whole tally, which must fit what the server and the clock say.
    let library = ["--driver", "libfbclient", "--reference-client", client];
    let peer = |said: &str| {
        format!(r#"echo '{{"ready":{{}}}}'; read measure; {said}read stop; sleep 0.2; {}"#, tally())
    };
    let found = run(&peer(""), &library);
    found.failure(1, &["operations were counted, and the server began", "figures are withheld"]);
    let found = run(&peer("").replace("\"client_cpu_s\":1", "\"client_cpu_s\":-1e9"), &library);
    found.failure(1, &["says -1000000000.000 s of processor time"]);
    let found = run(&peer("").replace("[[1000,", "[[1,"), &library);
    found.failure(1, &["all operations took 0.0 s together"]);
    // Counts and times must fit each other and what there was.
    let tellings = [
        ("\"latency\":[[1000,", "\"latency\":[[1000000000,", "an operation took 10"),
        ("\"latency\":[[1000,", "\"latency\":[[3000000,", "all operations took 29"),
        ("\"backlog\":0", "\"backlog\":7", "7 operations had not begun, and 0 were due at most"),
        ("\"retries\":{}", "\"retries\":{\"deadlock\":1000000000}", "1000000000 repetitions, of "),
    ];
    for (from, to, text) in tellings {
        run(&peer("").replace(from, to), &library).failure(1, &[text, "figures are withheld"]);
    }
    let long = format!("\"ended\":[\"{}\",null,null]", "x".repeat(5000));
    let found = run(&peer("").replace("\"ended\":[null,null,null]", &long), &library);
    let found = found.failure(1, &["terminal 1: xxx"]);
    assert!(!found.stderr.contains(&"x".repeat(201)), "{}", found.stderr);
    // Whoever speaks too early, floods or ends is not measured to the end.
    for (script, text) in [
        (peer("echo '{}';"), "it said something that was not asked for"),
        (peer("yes '{}' | head -100000;"), "it said something that was not asked for"),
        (
            peer("echo no login with $FIREARROW_PASSWORD >&2; exit 3;"),
            "it ended: exit status: 3: no login with ***",
        ),
        ("yes '{' | tr -d '\\n'".to_owned(), "it printed a line of more than 16777216 bytes"),
    ] {
        run(&script, &library).failure(1, &[text]);
    }
}

/// What a peer says that claims 5,000 operations of each kind that changes nothing.
fn tally() -> String {
    let of = |count: u32| {
        let latency = if count == 0 { "[]".to_owned() } else { format!("[[1000,{count}]]") };
        format!(r#"{{"committed":{count},"refused":0,"latency":{latency}}}"#)
    };
    let operations = [0, 0, 5000, 0, 5000].map(of).join(",");
    let tally = format!(
        r#"{{"operations":[{operations}],"least_completed":[9,9,9,9,9],"ledger":{{"orders":0,"lines":0,"payments":0,"paid_cents":0,"delivered":0,"unknown":0}},"retries":{{}},"errors":{{}},"series":[[0,0,5000,0,5000]],"backlog":0,"late_us":0}}"#
    );
    format!(r#"echo '{{"worked":{{"tally":{tally},"ended":[null,null,null],"client_cpu_s":1}}}}'"#)
}
