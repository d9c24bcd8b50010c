//! Transactions.

use super::{Engine, SNAPSHOT};
use firearrow_fbapi::{Error, StatementKind, Transaction};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::info::{InfoReader, transaction as item};
use firearrow_proto::api::transaction::transaction_id;

pub fn transactions_can_be_controlled_by_sql(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&["create table T (N integer)"]);
    let execute = |transaction: Option<&mut Transaction>, sql: &str| {
        scratch.attachment.execute_immediate(transaction, sql, Dialect::Three)
    };
    let mut transaction = execute(None, "set transaction read write no wait").unwrap().unwrap();
    assert!(transaction.is_active());
    assert!(execute(Some(&mut transaction), "insert into T values (1)").unwrap().is_none());
    assert!(execute(Some(&mut transaction), "commit").unwrap().is_none());
    assert!(!transaction.is_active());
    let mut transaction = execute(None, "set transaction").unwrap().unwrap();
    execute(Some(&mut transaction), "insert into T values (2)").unwrap();
    execute(Some(&mut transaction), "rollback").unwrap();
    assert!(!transaction.is_active());
    assert_eq!(scratch.text("select count(*) from T"), "1");
    // An error does not change the transaction.
    let mut transaction = scratch.begin();
    assert!(execute(Some(&mut transaction), "insert into NOWHERE values (1)").is_err());
    assert!(transaction.is_active());
    execute(Some(&mut transaction), "commit retain").unwrap();
    assert!(transaction.is_active());
    transaction.commit().unwrap();
    assert!(execute(None, "insert into T values (1)").is_err());
}

pub fn prepared_transaction_control_works_too(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&["create table T (N integer)"]);
    let mut transaction = scratch.begin();
    let mut commit = scratch.attachment.prepare(&transaction, "commit", Dialect::Three).unwrap();
    assert_eq!(commit.kind().unwrap(), StatementKind::COMMIT);
    let mut insert =
        scratch.attachment.prepare(&transaction, "insert into T values (1)", Dialect::Three).unwrap();
    for _ in 0..3 {
        assert!(insert.execute(&mut transaction, None, None).unwrap().is_none());
        assert!(commit.execute(&mut transaction, None, None).unwrap().is_none());
        assert!(!transaction.is_active());
        assert!(matches!(insert.execute(&mut transaction, None, None), Err(Error::NoTransaction)));
        transaction = scratch.begin();
    }
    drop((commit, insert));
    transaction.rollback().unwrap();
    assert_eq!(scratch.text("select count(*) from T"), "3");
    scratch.attachment.detach().unwrap();
}

pub fn an_ended_transaction_is_inert(engine: &Engine) {
    let scratch = engine.scratch();
    let mut transaction = scratch.begin();
    transaction.commit().unwrap();
    assert!(!transaction.is_active());
    assert!(matches!(transaction.commit(), Err(Error::NoTransaction)));
    assert!(matches!(transaction.rollback(), Err(Error::NoTransaction)));
    assert!(matches!(transaction.commit_retaining(), Err(Error::NoTransaction)));
    assert!(matches!(transaction.info(&[item::ID], 32), Err(Error::NoTransaction)));
    assert!(matches!(
        scratch.attachment.prepare(&transaction, "select 1 from T", Dialect::Three),
        Err(Error::NoTransaction)
    ));
    assert!(matches!(scratch.attachment.create_blob(&transaction, &[]), Err(Error::NoTransaction)));
    drop(transaction);
    scratch.attachment.detach().unwrap();
}

pub fn retaining_keeps_the_transaction(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&["create table T (N integer)"]);
    let mut transaction = scratch.begin();
    let id = |transaction: &Transaction| {
        let answer = transaction.info(&[item::ID], 32).unwrap();
        InfoReader::new(&answer).next().and_then(|item| item.integer()).unwrap()
    };
    assert!(id(&transaction) > 0);
    let insert = "insert into T values (1)";
    scratch.attachment.execute_immediate(Some(&mut transaction), insert, Dialect::Three).unwrap();
    transaction.commit_retaining().unwrap();
    scratch.attachment.execute_immediate(Some(&mut transaction), insert, Dialect::Three).unwrap();
    transaction.rollback_retaining().unwrap();
    assert!(transaction.is_active());
    // Two-phase commit: a prepared transaction can only end.
    scratch.attachment.execute_immediate(Some(&mut transaction), insert, Dialect::Three).unwrap();
    transaction.prepare(b"note").unwrap();
    transaction.commit().unwrap();
    assert_eq!(scratch.text("select count(*) from T"), "2");
}

pub fn prepared_transactions_wait_in_limbo(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&["create table T (N integer)"]);
    for (commits, expected) in [(false, "0"), (true, "1")] {
        let attachment = engine.library.attach(&scratch.path, super::DPB).unwrap();
        let mut transaction = attachment.start_transaction(SNAPSHOT).unwrap();
        attachment
            .execute_immediate(Some(&mut transaction), "insert into T values (1)", Dialect::Three)
            .unwrap();
        let answer = transaction.info(&[item::ID], 32).unwrap();
        let number = InfoReader::new(&answer).next().and_then(|item| item.integer()).unwrap() as u64;
        transaction.prepare(b"note").unwrap();
        drop(transaction);
        attachment.detach().unwrap();
        // A transaction that was taken over may also be left as it is.
        let attachment = &scratch.attachment;
        drop(attachment.reconnect_transaction(&transaction_id(number)).unwrap());
        let mut transaction = attachment.reconnect_transaction(&transaction_id(number)).unwrap();
        if commits { transaction.commit() } else { transaction.rollback() }.unwrap();
        assert_eq!(scratch.text("select count(*) from T"), expected);
        match attachment.reconnect_transaction(&transaction_id(number)) {
            // isc_no_recon
            Err(Error::Status(status)) => assert!(status.contains(335544353), "{status}"),
            other => panic!("{other:?}"),
        }
    }
}

pub fn a_failed_commit_leaves_the_transaction(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&["create table T (N integer)", "create table U (N integer)"]);
    // A trigger on the end of the transaction makes the commit fail.
    scratch.run(&[
        "create exception REFUSED 'not today'",
        "create trigger ON_COMMIT on transaction commit as begin \
         if (exists (select * from T)) then exception REFUSED; end",
    ]);
    let mut transaction = scratch.begin();
    scratch
        .attachment
        .execute_immediate(Some(&mut transaction), "insert into T values (1)", Dialect::Three)
        .unwrap();
    match transaction.commit() {
        Err(Error::Status(status)) => assert!(status.contains(gds::ISC_EXCEPT), "{status}"),
        other => panic!("{other:?}"),
    }
    assert!(transaction.is_active());
    transaction.rollback().unwrap();
    assert_eq!(scratch.text("select count(*) from T"), "0");
}

pub fn detaching_with_a_transaction_is_refused(engine: &Engine) {
    let scratch = engine.scratch();
    let attachment = engine.library.attach(&scratch.path, super::DPB).unwrap();
    let transaction = attachment.start_transaction(SNAPSHOT).unwrap();
    match attachment.detach() {
        Err(Error::Status(status)) => assert!(status.contains(gds::ISC_OPEN_TRANS), "{status}"),
        other => panic!("{other:?}"),
    }
    // The engine has shut the attachment down; the rest of it must still drop without errors.
    drop(transaction);
    assert_eq!(scratch.text("select count(*) from MON$ATTACHMENTS where MON$USER = 'SYSDBA'"), "1");
}
