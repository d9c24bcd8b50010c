//! The command line of the program.

use crate::Method;
use std::error::Error;
use std::path::PathBuf;

const USAGE: &str = "\
usage: firearrow-peer-libfb --client PATH --database [HOST[/PORT]:]PATH --user NAME [--role NAME] --sql STATEMENT
                            [--repeat N]
                            [--warm-up] [--wire-crypt disabled|enabled] [--compress] [--inline BYTES]
                            [--work fetch|blobs|select|insert|oltp] [--rows N] [--method one|batch] [--chunk N]

--work fetch    fetches all rows of a query; this is what is done unless told otherwise
--work blobs    the same, and reads each row's BLOBs before the next row is fetched
--work select   runs a query with one INTEGER parameter --rows times, with the numbers from 0 on; its first column is
                INTEGER and must be the parameter
--work insert   inserts --rows rows in one transaction; all parameters of the statement must be INTEGER, and column c
                of row r, both counted from 0, gets r * 31 + c. --method one (unless told otherwise) executes the
                statement for each row, --method batch uses the batch interface and executes it for --chunk (1000)
                rows at a time.

--work oltp     runs the terminals of --plan (JSON) as `firearrow oltp` asks for it: it says when they are ready, takes
                measure and stop on standard input, and says what they did. It needs no --sql.

--inline BYTES lets the server send BLOBs up to this length along with their rows, which needs client and server of
Firebird 5.0.3. Without it, --work blobs switches that off, and --work fetch leaves it as the client has it.

A client library from Firebird 5.0.2 on also tells its traffic, disconnecting apart.

The password is that of FIREARROW_PASSWORD: arguments can be read by every user of a machine.
A database without a host is opened by the engine beside the client library, in this process.";

/// What to do, and where.
#[derive(Debug)]
pub struct Arguments {
    /// The client library.
    pub client: Option<PathBuf>,
    /// The database, with the server's name unless it is to be opened in this process.
    pub database: String,
    /// Who connects.
    pub user: String,
    /// The role in which.
    pub role: Option<String>,
    /// The statement.
    pub sql: String,
    /// Connect and fetch a row before anything is measured.
    pub warm_up: bool,
    /// How often everything is done, connecting included.
    pub repeat: u32,
    /// What is done with the statement.
    pub work: Work,
    /// What terminals do, as JSON.
    pub plan: String,
    wire_crypt: Option<&'static str>,
    compress: bool,
    inline: Option<u32>,
}

/// What is done with the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Fetch its rows.
    Fetch,
    /// Fetch its rows and read their BLOBs.
    Blobs,
    /// Run it so many times.
    Select(u64),
    /// Insert so many rows with it.
    Insert(u64, Method),
    /// Run the terminals of a plan.
    Oltp,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

impl Arguments {
    /// Reads the arguments behind the name of the program.
    pub fn parse(mut given: impl Iterator<Item = String>) -> Result<Self> {
        let mut arguments = Self {
            client: None,
            database: String::new(),
            user: "SYSDBA".into(),
            role: None,
            sql: String::new(),
            warm_up: false,
            repeat: 1,
            work: Work::Fetch,
            plan: String::new(),
            wire_crypt: None,
            compress: false,
            inline: None,
        };
        let (mut work, mut rows, mut method, mut chunk) = (None, None, None, None);
        while let Some(name) = given.next() {
            let mut value = || given.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"));
            match name.as_str() {
                "--client" => arguments.client = Some(value()?.into()),
                "--database" => arguments.database = value()?,
                "--user" => arguments.user = value()?,
                "--role" => arguments.role = Some(value()?),
                "--sql" => arguments.sql = value()?,
                "--repeat" => arguments.repeat = value()?.parse()?,
                "--wire-crypt" => {
                    arguments.wire_crypt = Some(match value()?.to_ascii_lowercase().as_str() {
                        "disabled" => "Disabled",
                        "enabled" => "Enabled",
                        other => return Err(format!("--wire-crypt {other}\n{USAGE}").into()),
                    });
                }
                "--warm-up" => arguments.warm_up = true,
                "--compress" => arguments.compress = true,
                "--inline" => arguments.inline = Some(value()?.parse()?),
                "--work" => work = Some(value()?),
                "--plan" => arguments.plan = value()?,
                "--rows" => rows = Some(value()?.parse()?),
                "--method" => method = Some(value()?),
                "--chunk" => chunk = Some(value()?.parse()?),
                _ => return Err(format!("{name} is not known\n{USAGE}").into()),
            }
        }
        let is_oltp = work.as_deref() == Some("oltp");
        if arguments.database.is_empty() || arguments.sql.is_empty() != is_oltp {
            return Err(USAGE.into());
        }
        let method = method.as_deref();
        arguments.work = match (work.as_deref().unwrap_or("fetch"), rows, method, chunk) {
            ("fetch", None, None, None) => Work::Fetch,
            ("blobs", None, None, None) => Work::Blobs,
            ("select", Some(times), None, None) => Work::Select(times),
            ("oltp", None, None, None) if !arguments.plan.is_empty() => Work::Oltp,
            ("insert", Some(rows), None | Some("one"), None) => Work::Insert(rows, Method::One),
            ("insert", Some(rows), Some("batch"), chunk) if chunk != Some(0) => {
                Work::Insert(rows, Method::Batch(chunk.unwrap_or(1000)))
            }
            _ => return Err(format!("--work, --rows, --method and --chunk do not fit\n{USAGE}").into()),
        };
        Ok(arguments)
    }

    /// Whether the database is that of a server.
    pub fn is_remote(&self) -> bool {
        !self.database.starts_with('/') && self.database.contains(':')
    }

    /// The longest BLOB that the server is to send along with its row; `None` leaves that as it is.
    /// `client` is the version of the client library.
    pub fn inline(&self, client: (u8, u8)) -> Result<Option<u32>> {
        match self.inline {
            Some(_) if !self.is_remote() => Err("--inline is for servers".into()),
            Some(_) if client < (5, 0) => Err("--inline needs a client library of Firebird 5.0.3".into()),
            None if self.is_remote() && client >= (5, 0) && self.work == Work::Blobs => Ok(Some(0)),
            given => Ok(given),
        }
    }

    /// The database parameter block.
    pub fn dpb(&self, inline: Option<u32>) -> Result<Vec<u8>> {
        const USER_NAME: u8 = 28;
        const PASSWORD: u8 = 29;
        const LC_CTYPE: u8 = 48;
        const UTF8_FILENAME: u8 = 77;
        const SQL_ROLE_NAME: u8 = 60;
        const CONFIG: u8 = 87;
        const MAX_INLINE_BLOB_SIZE: u8 = 104;
        let mut dpb = vec![1]; // isc_dpb_version1
        let mut put = |tag: u8, value: &[u8]| -> Result<()> {
            dpb.extend([tag, u8::try_from(value.len()).map_err(|_| format!("parameter {tag} is too long"))?]);
            dpb.extend_from_slice(value);
            Ok(())
        };
        put(USER_NAME, self.user.as_bytes())?;
        if let Some(role) = &self.role {
            put(SQL_ROLE_NAME, role.as_bytes())?;
        }
        put(LC_CTYPE, b"UTF8")?;
        put(UTF8_FILENAME, b"")?;
        if self.is_remote() {
            put(PASSWORD, std::env::var("FIREARROW_PASSWORD").unwrap_or_default().as_bytes())?;
        }
        if let Some(size) = inline {
            put(MAX_INLINE_BLOB_SIZE, &size.to_le_bytes())?;
        }
        let crypt = self.wire_crypt.map(|level| format!("WireCrypt = {level}"));
        let compression = self.compress.then(|| "WireCompression = true".to_owned());
        let config: Vec<String> = crypt.into_iter().chain(compression).collect();
        if self.is_remote() && !config.is_empty() {
            put(CONFIG, config.join("\n").as_bytes())?;
        }
        Ok(dpb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments> {
        Arguments::parse(format!("--sql x {line}").split(' ').map(str::to_owned))
    }

    fn work(line: &str) -> Option<Work> {
        parse(&format!("--database /d {line}")).ok().map(|arguments| arguments.work)
    }

    #[test]
    fn work_takes_its_own_options_only() {
        assert_eq!(work("--user u"), Some(Work::Fetch));
        assert_eq!(work("--work blobs"), Some(Work::Blobs));
        assert_eq!(work("--work select --rows 5"), Some(Work::Select(5)));
        assert_eq!(work("--work insert --rows 5"), Some(Work::Insert(5, Method::One)));
        assert_eq!(work("--work insert --rows 5 --method batch"), Some(Work::Insert(5, Method::Batch(1000))));
        assert_eq!(
            work("--work insert --rows 5 --method batch --chunk 7"),
            Some(Work::Insert(5, Method::Batch(7)))
        );
        for wrong in [
            "--work oltp --plan {}",
            "--work none",
            "--work select",
            "--work select --rows 5 --method one",
            "--work insert",
            "--rows 5",
            "--work blobs --method one",
            "--work insert --rows 5 --chunk 7",
            "--work insert --rows 5 --method batch --chunk 0",
            "--work insert --rows 5 --method two",
        ] {
            assert_eq!(work(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn blobs_come_by_themselves_unless_told_otherwise() {
        let inline = |line: &str, client| parse(line).unwrap().inline(client).ok();
        assert_eq!(inline("--database h:d --work blobs", (5, 0)), Some(Some(0)));
        assert_eq!(inline("--database h:d --work blobs", (4, 0)), Some(None));
        assert_eq!(inline("--database /d --work blobs", (5, 0)), Some(None));
        assert_eq!(inline("--database h:d", (5, 0)), Some(None));
        assert_eq!(inline("--database h:d --inline 9", (5, 0)), Some(Some(9)));
        assert_eq!(inline("--database h:d --inline 9", (4, 0)), None);
        assert_eq!(inline("--database /d --inline 9", (5, 0)), None);
        let dpb = parse("--database /d --role CLERK").unwrap().dpb(None).unwrap();
        assert!(dpb.windows(7).any(|window| window == b"\x3c\x05CLERK"), "{dpb:?}");
        let dpb = parse("--database /d").unwrap().dpb(Some(65535)).unwrap();
        assert!(dpb.ends_with(&[77, 0, 104, 4, 255, 255, 0, 0]));
    }
}
