<?php
// PHP's extension odbc.

require __DIR__ . '/php_common.php';

$db = odbc_connect('fb', '', '');
odbc_autocommit($db, true);
$result = odbc_exec($db, 'SELECT ' . implode(', ', COLUMNS) . ' FROM KINDS ORDER BY ID');
odbc_longreadlen($result, 100000);
odbc_binmode($result, ODBC_BINMODE_RETURN);
foreach (ROWS as $expected) {
    $row = odbc_fetch_array($result);
    foreach (COLUMNS as $at => $name) {
        equal($expected[$at], $row[$name], "row $expected[0], $name");
    }
}
equal(false, odbc_fetch_array($result), 'the end');
equal('VARCHAR', odbc_field_type($result, 14), 'type');
equal(40, odbc_field_len($result, 14), 'length');
equal(4, odbc_field_scale($result, 6), 'scale');

// Parameters are text.
$insert = odbc_prepare($db, 'INSERT INTO PARENT VALUES (?, ?)');
equal(true, odbc_execute($insert, [1, 'Zoë €😀']), 'executed');
equal(true, odbc_execute($insert, ['2', 'second']), 'executed again');
equal(1, odbc_num_rows($insert), 'affected');
$select = odbc_prepare($db, 'SELECT ID FROM PARENT WHERE NAME = ?');
odbc_execute($select, ['Zoë €😀']);
equal(true, odbc_fetch_row($select), 'found');
equal('1', odbc_result($select, 'ID'), 'key');

odbc_autocommit($db, false);
odbc_exec($db, "INSERT INTO PARENT VALUES (3, 'lost')");
odbc_rollback($db);
odbc_exec($db, "INSERT INTO PARENT VALUES (4, {fn LCASE('KEPT')})");
odbc_commit($db);
odbc_autocommit($db, true);

// The extension is an application of ODBC 2, whose SQLSTATEs these are.
foreach (['SELEC 1' => '37000', 'SELECT * FROM NOWHERE' => 'S0002', "INSERT INTO PARENT VALUES (1, 'x')" => '23000'] as $sql => $state) {
    equal(false, @odbc_exec($db, $sql), $sql);
    equal($state, odbc_error($db), $sql);
}

$long = str_repeat('aé€😀', 5000);
odbc_exec($db, 'CREATE TABLE LONG_VALUES (T BLOB SUB_TYPE TEXT CHARACTER SET UTF8)');
odbc_execute(odbc_prepare($db, 'INSERT INTO LONG_VALUES VALUES (?)'), [$long]);
$result = odbc_exec($db, 'SELECT T FROM LONG_VALUES');
odbc_longreadlen($result, 1000000);
odbc_fetch_row($result);
equal($long, odbc_result($result, 1), 'long text');

$names = [];
$tables = odbc_tables($db, null, null, '%', 'TABLE');
while ($table = odbc_fetch_array($tables)) {
    $names[] = $table['TABLE_NAME'];
}
equal(['CHILD', 'KINDS', 'LONG_VALUES'], array_slice($names, 0, 3), 'tables');
$keys = odbc_fetch_array(odbc_primarykeys($db, null, null, 'PARENT'));
equal('PARENT_KEY', $keys['PK_NAME'], 'key');
odbc_close($db);
echo "ok\n";
