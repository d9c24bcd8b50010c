# Perl's DBD::ODBC: text by display sizes, executions of arrays, catalog functions. Text is bytes here, as it is in a
# DBD::ODBC that was built without Unicode.

use strict;
use warnings;
use DBI qw(:sql_types);

my $major = $ENV{FIREBIRD_MAJOR};

sub equal {
    my ($found, $expected, $what) = @_;
    my ($left, $right) = map { defined $_ ? "'$_'" : 'undef' } $found, $expected;
    die "$what: $left found, $right expected\n" if $left ne $right;
}

my $db = DBI->connect('dbi:ODBC:DSN=fb', undef, undef,
    { RaiseError => 1, PrintError => 0, AutoCommit => 1, LongReadLen => 100_000 });
equal($db->get_info(17), 'Firebird', 'SQL_DBMS_NAME');

my @names = qw(ID I16 I32 I64 N9 N18 F32 F64 B DT TM TS C V BT);
my @expected = (
    [1, 7, -70000, '1234567890123', '12.34', '-1234.5678', '0.5', '3.141592653589793', 1, '2024-02-29', '23:59:58.1234',
        '2024-02-29 01:02:03.4567', 'ab   ', 'Zoë €😀', 'long text é😀'],
    [2, 32767, 2147483647, '9223372036854775807', '21474836.47', '922337203685477.5807', '3.4028235e38',
        '1.7976931348623157e308', 0, '9999-12-31', '23:59:59.9999', '9999-12-31 23:59:59.9999', 'äääää', 'ß' x 40, 'b'],
    [3, -32768, -2147483648, '-9223372036854775808', '-21474836.48', '-922337203685477.5808', '-3.4028235e38',
        '-1.7976931348623157e308', 0, '0001-01-01', '00:00:00', '0001-01-01 00:00:00', 'z    ', ' z ', ' '],
    [4, (undef) x 14],
    [5, 0, 0, 0, '0.00', '0.0000', 0, 0, 0, '2000-01-01', '12:00:00', '2000-01-01 12:00:00', '     ', '', ''],
);
my $found = $db->selectall_arrayref('SELECT ' . join(', ', @names) . ' FROM KINDS ORDER BY ID');
equal(scalar @$found, 5, 'rows');
for my $row (0 .. 4) {
    equal($found->[$row][$_], $expected[$row][$_], "row $row, $names[$_]") for 0 .. $#names;
}
my $binary = $db->selectall_arrayref('SELECT O, BB FROM KINDS ORDER BY ID');
equal(join(' ', map { unpack 'H*', $_ } @{ $binary->[0] }), '00ff1080 0001ff', 'binary');
equal($binary->[3][1], undef, 'no binary');

my $statement = $db->prepare('SELECT ID, N18, V, TS FROM KINDS');
$statement->execute;
equal(join(' ', @{ $statement->{NAME} }), 'ID N18 V TS', 'names');
equal(join(' ', @{ $statement->{PRECISION} }), '10 18 40 24', 'precision');
equal(join(' ', map { $_ ? 1 : 0 } @{ $statement->{NULLABLE} }), '0 1 1 1', 'nullable');
$statement->finish;

# Parameters.
my $insert = $db->prepare('INSERT INTO PARENT VALUES (?, ?)');
equal($insert->execute(1, 'Zoë €😀'), 1, 'affected');
my $tuples = $insert->execute_array({ ArrayTupleStatus => \my @status }, [2 .. 501], [map { "row $_" } 2 .. 501]);
equal($tuples, 500, 'executed');
equal($db->selectrow_array('SELECT NAME FROM PARENT WHERE ID = ?', undef, 1), 'Zoë €😀', 'text');
equal($db->selectrow_array('SELECT COUNT(*) FROM PARENT'), 501, 'count');
equal($db->do('UPDATE PARENT SET NAME = NAME WHERE ID > ?', undef, 400), 101, 'updated');
equal($db->do('DELETE FROM PARENT WHERE ID = ?', undef, -1), '0E0', 'deleted');

# Long values.
my $long = 'aé€😀' x 10_000;
$db->do('CREATE TABLE LONG_VALUES (T BLOB SUB_TYPE TEXT CHARACTER SET UTF8, D BLOB SUB_TYPE BINARY)');
my $long_insert = $db->prepare('INSERT INTO LONG_VALUES VALUES (?, ?)');
$long_insert->bind_param(1, $long, SQL_LONGVARCHAR);
$long_insert->bind_param(2, pack('C*', 0 .. 255) x 300, SQL_LONGVARBINARY);
$long_insert->execute;
my ($text, $data) = $db->selectrow_array('SELECT T, D FROM LONG_VALUES');
equal($text, $long, 'long text');
equal($data, pack('C*', 0 .. 255) x 300, 'long data');

# Transactions.
$db->begin_work;
$db->do("INSERT INTO PARENT VALUES (900, 'lost')");
$db->rollback;
$db->begin_work;
$db->do("INSERT INTO PARENT VALUES (502, 'n')");
$db->do('UPDATE PARENT SET ID = ID WHERE ID = 1');
$db->commit;
equal($db->selectrow_array('SELECT COUNT(*) FROM PARENT'), 502, 'after transactions');

# Errors.
for (['SELEC 1', '42000'], ['SELECT * FROM NOWHERE', '42S02'], ["INSERT INTO PARENT VALUES (1, 'x')", '23000']) {
    my ($sql, $state) = @$_;
    die "$sql did not fail\n" if eval { $db->do($sql); 1 };
    equal($db->state, $state, $sql);
}
{
    my $failing = $db->prepare('INSERT INTO PARENT VALUES (?, ?)');
    local $failing->{RaiseError} = 0;
    my $result = $failing->execute_array({ ArrayTupleStatus => \my @each }, [1, 2], ['a', 'b']);
    equal($result, undef, 'failing array');
    equal(scalar(grep { ref } @each), 2, 'failed rows');
}

# The catalog.
my %tables = map { ($_->[2] => $_->[3]) } @{ $db->table_info(undef, undef, '%', 'TABLE')->fetchall_arrayref };
equal(join(' ', map { $tables{$_} // '' } qw(KINDS PARENT CHILD)), 'TABLE TABLE TABLE', 'tables');
my $columns = $db->column_info(undef, undef, 'PARENT', '%')->fetchall_arrayref({});
equal(join(' ', map { $_->{COLUMN_NAME} } @$columns), 'ID NAME', 'columns');
equal(join(' ', $db->primary_key(undef, undef, 'PARENT')), 'ID', 'key');
my $keys = $db->foreign_key_info(undef, undef, 'PARENT', undef, undef, 'CHILD')->fetchall_arrayref({});
equal($keys->[0]{FK_NAME} // $keys->[0]{FKCOLUMN_NAME}, 'CHILD_PARENT', 'foreign key');

$db->disconnect;
print "ok\n";
