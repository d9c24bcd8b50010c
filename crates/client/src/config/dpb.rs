//! The parameter buffers that attach and create send.

use super::{Config, Target};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::pb::{Dpb, dpb};

/// What a process is called whose executable has no name.
const UNNAMED_PROCESS: &str = "firearrow";

impl Config {
    /// Parameters to attach with. They contain no password: authentication has its own ways.
    pub fn dpb(&self) -> Dpb {
        self.dpb_of_process(std::process::id())
    }

    /// Parameters to create the database with.
    pub fn dpb_for_create(&self) -> Dpb {
        let mut block = self.dpb();
        if let Some(size) = self.page_size {
            block.int(dpb::PAGE_SIZE, size.cast_signed());
        }
        block.text(dpb::SET_DB_CHARSET, self.db_charset.as_deref().unwrap_or("UTF8"));
        if self.dialect != Dialect::default() {
            block.bytes(dpb::SET_DB_SQL_DIALECT, &[self.dialect.number()]);
        }
        if let Some(force) = self.force_writes {
            block.int(dpb::FORCE_WRITE, force.into());
        }
        if self.overwrite {
            block.int(dpb::OVERWRITE, 1);
        }
        block
    }

    /// The first six items are those of the recorded conversations that tests replay; keep order and widths.
    pub(super) fn dpb_of_process(&self, id: u32) -> Dpb {
        let mut block = Dpb::new();
        block.text(dpb::LC_CTYPE, "UTF8");
        block.text(dpb::USER_NAME, self.login());
        block.flag(dpb::UTF8_FILENAME);
        block.bytes(dpb::SQL_DIALECT, &[self.dialect.number()]);
        block.int(dpb::PROCESS_ID, id.cast_signed());
        block.text(dpb::PROCESS_NAME, &self.process_name.clone().unwrap_or_else(executable));
        self.add_optional(&mut block);
        block
    }

    fn add_optional(&self, block: &mut Dpb) {
        for (tag, text) in [
            (dpb::SQL_ROLE_NAME, &self.role),
            (dpb::SESSION_TIME_ZONE, &self.session_time_zone),
            (dpb::SET_BIND, &self.set_bind),
            (dpb::DECFLOAT_ROUND, &self.decfloat_round),
            (dpb::DECFLOAT_TRAPS, &self.decfloat_traps),
            (dpb::SEARCH_PATH, &self.search_path),
        ] {
            if let Some(text) = text {
                block.text(tag, text);
            }
        }
        if let Some(workers) = self.parallel_workers {
            block.int(dpb::PARALLEL_WORKERS, workers.into());
        }
        if self.no_db_triggers {
            block.int(dpb::NO_DB_TRIGGERS, 1);
        }
        if self.no_gc {
            block.flag(dpb::NO_GARBAGE_COLLECT);
        }
        // Servers drop this item, see `check`.
        if let (Target::Embedded { .. }, Some(config)) = (&self.target, &self.engine_config) {
            block.text(dpb::CONFIG, config);
        }
    }
}

/// The file name of the running program; its folder is nobody's business.
fn executable() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_name());
    name.map_or_else(|| UNNAMED_PROCESS.into(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KeySource;

    /// The items behind the version byte.
    fn items(block: &Dpb) -> Vec<(u8, Vec<u8>)> {
        let mut items = Vec::new();
        let mut rest = &block.as_bytes()[1..];
        while let [tag, a, b, c, d, tail @ ..] = rest {
            let (value, tail) = tail.split_at(u32::from_le_bytes([*a, *b, *c, *d]) as usize);
            items.push((*tag, value.to_vec()));
            rest = tail;
        }
        items
    }

    #[test]
    fn defaults_equal_the_recorded_buffer() {
        let config = Config { process_name: Some("replay".into()), ..Config::default() };
        // The start of the DPB in handshake-p19.txt.
        let recorded = b"\x02\x30\x04\0\0\0UTF8\x1c\x06\0\0\0SYSDBA\x4d\0\0\0\0\x3f\x01\0\0\0\x03\
            \x47\x04\0\0\0\x67\x12\0\0\x4a\x06\0\0\0replay";
        assert_eq!(config.dpb_of_process(4711).as_bytes(), recorded);
    }

    #[test]
    fn optional_items_follow_the_first_six() {
        let text = "./x.fdb?user=bob&role=r&timezone=Europe/Paris&set_bind=int128 to varchar&decfloat_round=up&\
            decfloat_traps=overflow&search_path=a,b&parallel_workers=4&no_db_triggers=1&no_gc=1&config=A=1%0AB=2";
        let config = Config::parse_trusted(text).expect("valid");
        let items = items(&config.dpb());
        assert_eq!(items[1], (28, b"bob".to_vec()));
        let expected: [(u8, &[u8]); 10] = [
            (60, b"r"),
            (91, b"Europe/Paris"),
            (93, b"int128 to varchar"),
            (94, b"up"),
            (95, b"overflow"),
            (105, b"a,b"),
            (100, &[4, 0, 0, 0]),
            (72, &[1, 0, 0, 0]),
            (16, b""),
            (87, b"A=1\nB=2"),
        ];
        assert_eq!(items[6..], expected.map(|(tag, value)| (tag, value.to_vec())));
    }

    #[test]
    fn creation_adds_its_own_items() {
        let mut config = Config::default();
        assert_eq!(items(&config.dpb_for_create())[6..], [(68, b"UTF8".to_vec())]);
        config.set("page_size", "16384").expect("valid");
        config.set("db_charset", "WIN1252").expect("valid");
        config.set("force_writes", "no").expect("valid");
        config.set("overwrite", "yes").expect("valid");
        let expected: [(u8, &[u8]); 4] =
            [(4, &[0, 64, 0, 0]), (68, b"WIN1252"), (24, &[0; 4]), (54, &[1, 0, 0, 0])];
        assert_eq!(items(&config.dpb_for_create())[6..], expected.map(|(tag, value)| (tag, value.to_vec())));
        assert_eq!(items(&config.dpb()).len(), 6);
    }

    #[test]
    fn secrets_stay_out() {
        let config = Config {
            password: Some("hunter2".into()),
            db_key: Some(KeySource::Literal(b"hunter2".to_vec())),
            ..Config::default()
        };
        assert!(!config.dpb_for_create().as_bytes().windows(7).any(|bytes| bytes == b"hunter2"));
    }
}
