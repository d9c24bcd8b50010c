//! A server that dies takes one attempt of a test with it, not the tests after it.

use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Mutex;

matrix!(
    fn a_test_whose_server_died_runs_again_on_another(target: &Target) {
        static KILLED: Mutex<Vec<Generation>> = Mutex::new(Vec::new());
        let server = target.server();
        let is_first = {
            let mut killed = KILLED.lock().expect("nobody panics with it");
            let is_first = !killed.contains(&server.generation());
            killed.push(server.generation());
            is_first
        };
        if is_first {
            server.kill();
            panic!("the server is dead: this is expected once");
        }
        server.create_database(&server.fresh_database_path()).expect("another server works");
    }
);
