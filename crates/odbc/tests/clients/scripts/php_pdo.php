<?php
// PHP's PDO.

require __DIR__ . '/php_common.php';

$db = new PDO('odbc:fb', '', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$rows = $db->query('SELECT ' . implode(', ', COLUMNS) . ' FROM KINDS ORDER BY ID')->fetchAll(PDO::FETCH_NUM);
equal(5, count($rows), 'rows');
foreach (ROWS as $at => $expected) {
    foreach (COLUMNS as $column => $name) {
        // PDO has bytes as hexadecimal digits.
        $value = in_array($name, ['O', 'BB']) && $expected[$column] !== null
            ? strtoupper(bin2hex($expected[$column])) : $expected[$column];
        equal($value, $rows[$at][$column], "row $expected[0], $name");
    }
}

$insert = $db->prepare('INSERT INTO PARENT VALUES (:id, :name)');
$insert->execute(['id' => 1, 'name' => 'Zoë €😀']);
$insert->execute(['id' => '2', 'name' => 'second']);
equal(1, $insert->rowCount(), 'affected');
$select = $db->prepare('SELECT ID FROM PARENT WHERE NAME = ?');
$select->execute(['Zoë €😀']);
equal('1', $select->fetchColumn(), 'key');
$select->closeCursor();

$db->beginTransaction();
$db->exec("INSERT INTO PARENT VALUES (3, 'lost')");
$db->rollBack();
$db->beginTransaction();
equal(1, $db->exec("INSERT INTO PARENT VALUES (4, 'kept')"), 'inserted');
$db->commit();

foreach (['SELEC 1' => '42000', 'SELECT * FROM NOWHERE' => '42S02', "INSERT INTO PARENT VALUES (1, 'x')" => '23000'] as $sql => $state) {
    try {
        $db->exec($sql);
        throw new Exception("$sql did not fail");
    } catch (PDOException $error) {
        equal($state, $error->errorInfo[0], $sql);
    }
}

$long = str_repeat('aé€😀', 5000);
$db->exec('CREATE TABLE LONG_VALUES (T BLOB SUB_TYPE TEXT CHARACTER SET UTF8)');
$insert = $db->prepare('INSERT INTO LONG_VALUES VALUES (?)');
$insert->bindValue(1, $long, PDO::PARAM_LOB);
$insert->execute();
equal($long, $db->query('SELECT T FROM LONG_VALUES')->fetchColumn(), 'long text');
$null = $db->prepare('SELECT CAST(? AS INTEGER) FROM RDB$DATABASE');
$null->bindValue(1, null, PDO::PARAM_NULL);
$null->execute();
equal(null, $null->fetchColumn(), 'NULL');
echo "ok\n";
