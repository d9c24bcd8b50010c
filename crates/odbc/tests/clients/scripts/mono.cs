// System.Data.Odbc: wide functions, SQLGetData for every value, time limits of commands.

using System;
using System.Data;
using System.Data.Odbc;
using System.Diagnostics;
using System.Linq;

static class Client
{
    static readonly int Major = int.Parse(Environment.GetEnvironmentVariable("FIREBIRD_MAJOR"));

    static int Main(string[] arguments)
    {
        using (var connection = new OdbcConnection("DSN=fb"))
        {
            connection.Open();
            switch (arguments[0])
            {
                case "read": Read(connection); break;
                case "write": Write(connection); break;
                case "errors": Errors(connection); break;
                default: return 2;
            }
        }
        Console.WriteLine("ok");
        return 0;
    }

    static void Equal(object expected, object found, string what = "")
    {
        var same = expected is byte[] ? ((byte[])expected).SequenceEqual((byte[])found) : Equals(expected, found);
        if (!same)
            throw new Exception($"{what}: {expected} ({expected?.GetType()}) expected, {found} ({found?.GetType()}) found");
    }

    static OdbcCommand Command(OdbcConnection connection, string sql, params object[] values)
    {
        var command = new OdbcCommand(sql, connection);
        foreach (var value in values)
            command.Parameters.AddWithValue("", value);
        return command;
    }

    static void Read(OdbcConnection connection)
    {
        Equal(Major, int.Parse(connection.ServerVersion.Split('.')[0]), "version");
        Equal("libfirearrowodbc.so", connection.Driver, "driver");
        var null_ = DBNull.Value;
        var rows = new[]
        {
            new object[] {
                1, (short)7, -70000, 1234567890123L, 12.34m, -1234.5678m, 0.5f, 3.141592653589793, true,
                new DateTime(2024, 2, 29), new TimeSpan(23, 59, 58), new DateTime(2024, 2, 29, 1, 2, 3).AddTicks(4567000),
                "ab   ", "Zoë €😀", new byte[] { 0, 0xFF, 0x10, 0x80 }, "long text é😀", new byte[] { 0, 1, 0xFF } },
            new object[] {
                2, short.MaxValue, int.MaxValue, long.MaxValue, 21474836.47m, 922337203685477.5807m, float.MaxValue,
                double.MaxValue, false, new DateTime(9999, 12, 31), new TimeSpan(23, 59, 59),
                new DateTime(9999, 12, 31, 23, 59, 59).AddTicks(9999000), "äääää", new string('ß', 40),
                new byte[] { 0xFF, 0xFF, 0xFF, 0xFF }, "b", new byte[] { 0xFF } },
            new object[] {
                3, short.MinValue, int.MinValue, long.MinValue, -21474836.48m, -922337203685477.5808m, float.MinValue,
                double.MinValue, false, DateTime.MinValue, TimeSpan.Zero, DateTime.MinValue, "z    ", " z ",
                new byte[] { 0 }, " ", new byte[] { 0 } },
            new object[] { 4 }.Concat(Enumerable.Repeat((object)null_, 16)).ToArray(),
            new object[] {
                5, (short)0, 0, 0L, 0m, 0m, 0f, 0.0, false, new DateTime(2000, 1, 1), new TimeSpan(12, 0, 0),
                new DateTime(2000, 1, 1, 12, 0, 0), "     ", "", new byte[0], "", new byte[0] },
        };
        using (var reader = Command(connection, "SELECT * FROM KINDS ORDER BY ID").ExecuteReader())
        {
            Equal(17, reader.FieldCount);
            foreach (var row in rows)
            {
                Equal(true, reader.Read(), "a row");
                var values = new object[17];
                Equal(17, reader.GetValues(values));
                for (var i = 0; i < 17; i++)
                    Equal(row[i], values[i], $"row {row[0]}, {reader.GetName(i)}");
            }
            Equal(false, reader.Read(), "the end");
        }

        var table = new DataTable();
        using (var reader = Command(connection, "SELECT * FROM KINDS ORDER BY ID DESC").ExecuteReader())
            table.Load(reader);
        Equal(5, table.Rows.Count, "rows");
        Equal(typeof(decimal), table.Columns["N18"].DataType);
        Equal(typeof(DateTime), table.Columns["TS"].DataType);
        Equal(typeof(byte[]), table.Columns["BB"].DataType);
        Equal("Zoë €😀", table.Rows[4]["V"]);
        Equal(null_, table.Rows[1]["BT"]);

        var adapter = new OdbcDataAdapter("SELECT ID, V FROM KINDS WHERE ID < 3 ORDER BY ID", connection);
        var filled = new DataTable();
        Equal(2, adapter.Fill(filled), "filled");
        Equal(40, ((string)filled.Rows[1][1]).Length);

        // Parts of long values.
        var text = string.Concat(Enumerable.Repeat("aé€😀", 5000));
        using (var command = Command(connection, "SELECT CAST(? AS BLOB SUB_TYPE TEXT CHARACTER SET UTF8) FROM RDB$DATABASE", text))
            Equal(text, command.ExecuteScalar(), "long text");
        Equal(2L, Command(connection, "SELECT 1 + 1").ExecuteScalar(), "without FROM");
        Equal("ABC", Command(connection, "SELECT {fn UCASE('abc')} FROM RDB$DATABASE").ExecuteScalar());
    }

    static void Write(OdbcConnection connection)
    {
        Equal(1, Command(connection, "INSERT INTO PARENT VALUES (?, ?)", 1, "Zoë €😀").ExecuteNonQuery(), "inserted");
        using (var transaction = connection.BeginTransaction())
        {
            var command = Command(connection, "INSERT INTO PARENT VALUES (?, ?)", 2, "lost");
            command.Transaction = transaction;
            Equal(1, command.ExecuteNonQuery());
            transaction.Rollback();
        }
        using (var transaction = connection.BeginTransaction(IsolationLevel.Serializable))
        {
            var command = Command(connection, "INSERT INTO PARENT VALUES (?, ?)", 3, "kept");
            command.Transaction = transaction;
            Equal(1, command.ExecuteNonQuery());
            transaction.Commit();
        }
        Equal(2L, Command(connection, "SELECT COUNT(*) FROM PARENT").ExecuteScalar(), "rows");
        Equal(0, Command(connection, "DELETE FROM PARENT WHERE ID = 99").ExecuteNonQuery(), "deleted");

        Command(connection, @"CREATE TABLE COPY (I32 INTEGER, I64 BIGINT, N NUMERIC(18, 4), F DOUBLE PRECISION, B BOOLEAN,
            TS TIMESTAMP, V VARCHAR(40) CHARACTER SET UTF8, O VARCHAR(8) CHARACTER SET OCTETS)").ExecuteNonQuery();
        var rows = new[]
        {
            new object[] { 1, 2L, 3.5m, 0.1, true, new DateTime(2024, 2, 29, 1, 2, 3), "é😀", new byte[] { 0, 255 } },
            new object[] { -1, long.MinValue, -99999999999999.9999m, 1e300, false, new DateTime(1, 1, 1), "", new byte[0] },
        };
        var insert = Command(connection, "INSERT INTO COPY VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows[0]);
        insert.Prepare();
        foreach (var row in rows)
        {
            for (var i = 0; i < row.Length; i++)
                insert.Parameters[i].Value = row[i];
            Equal(1, insert.ExecuteNonQuery());
        }
        for (var i = 0; i < rows[0].Length; i++)
            insert.Parameters[i].Value = DBNull.Value;
        Equal(1, insert.ExecuteNonQuery(), "NULLs");
        using (var reader = Command(connection, "SELECT * FROM COPY").ExecuteReader())
        {
            foreach (var row in rows)
            {
                reader.Read();
                for (var i = 0; i < row.Length; i++)
                    Equal(row[i], reader.GetValue(i), reader.GetName(i));
            }
            reader.Read();
            for (var i = 0; i < 8; i++)
                Equal(true, reader.IsDBNull(i), reader.GetName(i));
        }

        var call = new OdbcCommand("{call DIVIDE(?, ?)}", connection) { CommandType = CommandType.StoredProcedure };
        call.Parameters.AddWithValue("A", 17);
        call.Parameters.AddWithValue("B", 5);
        using (var reader = call.ExecuteReader())
        {
            reader.Read();
            Equal(3, reader.GetInt32(0));
            Equal(2, reader.GetInt32(1));
        }
    }

    static void Fails(OdbcConnection connection, string state, string text, string sql)
    {
        try
        {
            Command(connection, sql).ExecuteScalar();
        }
        catch (OdbcException error)
        {
            Equal(state, error.Errors[0].SQLState, sql);
            if (!error.Message.Contains(text))
                throw new Exception($"no {text} in {error.Message}");
            return;
        }
        throw new Exception($"{sql} did not fail");
    }

    static void Errors(OdbcConnection connection)
    {
        Fails(connection, "42000", "SELEC", "SELEC 1");
        Fails(connection, "42S02", "NÖWHERE", "SELECT * FROM \"NÖWHERE\"");
        Fails(connection, "42S22", "NOTHING", "SELECT NOTHING FROM KINDS");
        Fails(connection, "23000", "PARENT_KEY", "EXECUTE BLOCK AS BEGIN INSERT INTO PARENT VALUES (1, 'a'); INSERT INTO PARENT VALUES (1, 'b'); END");
        var slow = Command(connection, "SELECT COUNT(*) FROM RDB$FIELDS A, RDB$FIELDS B, RDB$FIELDS C, RDB$FIELDS D, RDB$FIELDS E");
        slow.CommandTimeout = 1;
        var watch = Stopwatch.StartNew();
        try
        {
            slow.ExecuteScalar();
            throw new Exception("the time limit was ignored");
        }
        catch (OdbcException error)
        {
            Equal("HYT00", error.Errors[0].SQLState);
        }
        if (watch.Elapsed.TotalSeconds > 5)
            throw new Exception($"it took {watch.Elapsed}");
        Equal(ConnectionState.Open, connection.State);
        using (var reader = Command(connection, "SELECT ID FROM KINDS").ExecuteReader())
            Equal(true, reader.Read());
    }
}
