import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/** A contestant of `firearrow bench driver`: Jaybird, typed getters for every cell. See bench/peers/README.md. */
final class Contestant {
    private record Column(String name, String kind, int scale) {}

    private record Job(String sql, Column[] columns, String host, int port, String database, String user,
                       String password, boolean encrypted, boolean compressed) {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        JsonObject asked = JsonParser.parseString(input.readLine()).getAsJsonObject();
        Job job = new Gson().fromJson(asked, Job.class);
        if (job.host.isEmpty()) {
            answer(Map.of("error", "Jaybird reads from servers only here"));
            return;
        }
        try {
            var driver = DriverManager.getDriver("jdbc:firebirdsql://h/x");
            answer(Map.of("ready", "Jaybird " + driver.getMajorVersion() + "." + driver.getMinorVersion() + ", Java "
                + Runtime.version().feature()));
        } catch (SQLException failed) {
            answer(Map.of("error", failed.toString()));
            return;
        }
        while (input.readLine() != null) {
            try {
                answer(turn(job));
            } catch (Exception failed) {
                answer(Map.of("error", String.valueOf(failed)));
            }
        }
    }

    private static Map<String, Object> turn(Job job) throws Exception {
        boolean isFresh = resetPeak();
        Map<String, Object> done = new LinkedHashMap<>();
        long[] sums = new long[job.columns.length];
        long rows = 0;
        long cpu = processor();
        long[] last = {System.nanoTime()};
        Properties properties = new Properties();
        properties.setProperty("user", job.user);
        properties.setProperty("password", job.password);
        properties.setProperty("charSet", "UTF-8");
        properties.setProperty("wireCrypt", job.encrypted ? "ENABLED" : "DISABLED");
        properties.setProperty("wireCompression", String.valueOf(job.compressed));
        String host = job.host.contains(":") ? "[" + job.host + "]" : job.host;
        String url = "jdbc:firebirdsql://" + host + ":" + job.port + "/" + job.database;
        try (Connection connection = DriverManager.getConnection(url, properties)) {
            connection.setAutoCommit(false);
            connection.setReadOnly(true);
            lap(done, "connect_s", last);
            try (var statement = connection.createStatement(); ResultSet row = statement.executeQuery(job.sql)) {
                lap(done, "execute_s", last);
                if (row.getMetaData().getColumnCount() != job.columns.length) {
                    throw new IllegalStateException("other columns");
                }
                while (row.next()) {
                    for (int at = 0; at < sums.length; at++) {
                        sums[at] += hash(row, at + 1, job.columns[at]);
                    }
                    rows++;
                }
                lap(done, "drain_s", last);
            }
            connection.commit();
        }
        lap(done, "release_s", last);
        done.put("cpu_s", (processor() - cpu) / 1e9);
        done.put("peak_rss_bytes", isFresh ? peak() : null);
        done.put("rows", rows);
        String[] hashes = new String[sums.length];
        for (int at = 0; at < sums.length; at++) {
            hashes[at] = String.format("%016x", sums[at]);
        }
        done.put("hashes", hashes);
        return done;
    }

    private static void lap(Map<String, Object> done, String name, long[] last) {
        long now = System.nanoTime();
        done.put(name, (now - last[0]) / 1e9);
        last[0] = now;
    }

    private static long processor() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static boolean resetPeak() {
        try {
            Files.writeString(Path.of("/proc/self/clear_refs"), "5");
            return true;
        } catch (Exception forbidden) {
            return false;
        }
    }

    private static Long peak() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.substring(6).replace("kB", "").trim()) * 1024;
            }
        }
        return null;
    }

    /** The hash of a value: crates/bench/src/demo/checksum.rs. */
    private static long hash(ResultSet row, int at, Column column) throws SQLException {
        switch (column.kind) {
            case "int16", "int32", "int64" -> {
                long value = row.getLong(at);
                return row.wasNull() ? NULL : number(value, value >> 63, 0);
            }
            case "float32", "float64" -> {
                double value = column.kind.equals("float32") ? row.getFloat(at) : row.getDouble(at);
                return row.wasNull() ? NULL : mix(Double.doubleToRawLongBits(value) ^ 3L << 60);
            }
            case "boolean" -> {
                boolean value = row.getBoolean(at);
                return row.wasNull() ? NULL : mix((value ? 1 : 0) ^ 4L << 60);
            }
            case "decimal" -> {
                BigDecimal value = row.getBigDecimal(at);
                return value == null ? NULL : decimal(value, column.scale);
            }
            case "timestamp" -> {
                LocalDateTime value = row.getObject(at, LocalDateTime.class);
                return value == null ? NULL
                    : mix(value.toEpochSecond(ZoneOffset.UTC) * 1_000_000 + value.getNano() / 1000 ^ 5L << 60);
            }
            case "date" -> {
                LocalDate value = row.getObject(at, LocalDate.class);
                return value == null ? NULL : mix(value.toEpochDay() ^ 6L << 60);
            }
            case "text" -> {
                String value = row.getString(at);
                return value == null ? NULL : bytes(value.getBytes(StandardCharsets.UTF_8), 7);
            }
            case "binary" -> {
                byte[] value = row.getBytes(at);
                return value == null ? NULL : bytes(value, 9);
            }
            default -> throw new SQLException("column " + column.name + " is " + column.kind + ", which is not hashed");
        }
    }

    private static final long NULL = 0x910a2dec89025cc1L;

    private static long number(long low, long high, int scale) {
        return mix(mix(low) ^ high ^ (long) scale << 56 ^ 2);
    }

    private static long decimal(BigDecimal value, int scale) {
        // Fails if digits would be lost.
        BigDecimal scaled = value.setScale(scale);
        BigInteger whole = scaled.unscaledValue();
        return number(whole.longValue(), whole.shiftRight(64).longValue(), scale);
    }

    private static long bytes(byte[] value, long kind) {
        ByteBuffer buffer = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
        long hash = mix(value.length ^ kind << 60);
        while (buffer.remaining() >= 8) {
            hash = mix(hash ^ buffer.getLong());
        }
        if (!buffer.hasRemaining()) {
            return hash;
        }
        long word = 0;
        for (int shift = 0; buffer.hasRemaining(); shift += 8) {
            word |= (buffer.get() & 0xFFL) << shift;
        }
        return mix(hash ^ word);
    }

    private static long mix(long value) {
        long z = value + 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    private static void answer(Map<String, ?> line) {
        System.out.println(new Gson().toJson(line));
    }
}
