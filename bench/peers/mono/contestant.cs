// A contestant of `firearrow bench driver`: System.Data.Odbc, GetValues for every row. See bench/peers/README.md.

using System;
using System.Collections.Generic;
using System.Data.Odbc;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;

static class Contestant
{
    static int Main()
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        var job = (Dictionary<string, object>)new Json(Console.In.ReadLine()).Value();
        Answer(w => w.Text("ready", "System.Data.Odbc, Mono " + MonoVersion()));
        while (Console.In.ReadLine() != null)
        {
            try { Turn(job); }
            catch (Exception failed) { Answer(w => w.Text("error", failed.GetType().Name + ": " + failed.Message)); }
        }
        return 0;
    }

    static void Turn(Dictionary<string, object> job)
    {
        var columns = ((List<object>)job["columns"]).Cast<Dictionary<string, object>>().ToArray();
        var kinds = columns.Select(column => (string)column["kind"]).ToArray();
        var scales = columns.Select(column => column.ContainsKey("scale") ? (int)(double)column["scale"] : 0).ToArray();
        var fresh = ResetPeak();
        double cpu = Cpu(), connect, execute, drain, release;
        var clock = Stopwatch.StartNew();
        var sums = new ulong[kinds.Length];
        long rows = 0;
        using (var connection = new OdbcConnection((string)job["odbc"]))
        {
            connection.Open();
            connect = Lap(clock);
            using (var command = new OdbcCommand((string)job["sql"], connection) { CommandTimeout = 0 })
            using (var reader = command.ExecuteReader())
            {
                execute = Lap(clock);
                if (reader.FieldCount != kinds.Length)
                    throw new Exception(reader.FieldCount + " columns, not " + kinds.Length);
                var values = new object[kinds.Length];
                while (reader.Read())
                {
                    reader.GetValues(values);
                    for (var at = 0; at < values.Length; at++)
                        sums[at] += Hash.Of(values[at], kinds[at], scales[at]);
                    rows++;
                }
                drain = Lap(clock);
            }
        }
        release = Lap(clock);
        cpu = Cpu() - cpu;
        var peak = fresh ? Peak() : null;
        Answer(w => w.Number("rows", rows).List("hashes", sums.Select(sum => sum.ToString("x16")))
            .Number("connect_s", connect).Number("execute_s", execute).Number("drain_s", drain)
            .Number("release_s", release).Number("cpu_s", cpu).Raw("peak_rss_bytes", peak ?? "null"));
    }

    static double Lap(Stopwatch clock)
    {
        var seconds = clock.Elapsed.TotalSeconds;
        clock.Restart();
        return seconds;
    }

    [StructLayout(LayoutKind.Sequential)]
    struct TimeSpec { public long Seconds, Nanoseconds; }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    static extern int ClockGetTime(int clock, out TimeSpec time);

    /// Processor time of the process.
    static double Cpu()
    {
        TimeSpec time;
        ClockGetTime(2, out time);
        return time.Seconds + time.Nanoseconds / 1e9;
    }

    static bool ResetPeak()
    {
        try { File.WriteAllText("/proc/self/clear_refs", "5"); return true; }
        catch (Exception) { return false; }
    }

    static string Peak()
    {
        var line = File.ReadLines("/proc/self/status").First(text => text.StartsWith("VmHWM:"));
        return (long.Parse(line.Substring(6).Replace("kB", "").Trim()) * 1024).ToString();
    }

    static string MonoVersion()
    {
        var method = Type.GetType("Mono.Runtime")?.GetMethod("GetDisplayName",
            System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static);
        return ((string)method?.Invoke(null, null) ?? "").Split(' ')[0];
    }

    static void Answer(Action<Writer> fill)
    {
        var writer = new Writer();
        fill(writer);
        Console.Out.WriteLine(writer.Finish());
        Console.Out.Flush();
    }
}

/// The hash of a value: crates/bench/src/demo/checksum.rs.
static class Hash
{
    static readonly DateTime Epoch = new DateTime(1970, 1, 1);

    public static ulong Of(object value, string kind, int scale)
    {
        if (value is DBNull) return Mix(1);
        switch (kind)
        {
            case "int16": case "int32": case "int64": return Number(Convert.ToInt64(value), 0);
            case "decimal": return Decimal((decimal)value, scale);
            case "float32": return Mix((ulong)BitConverter.DoubleToInt64Bits((float)value) ^ 3UL << 60);
            case "float64": return Mix((ulong)BitConverter.DoubleToInt64Bits((double)value) ^ 3UL << 60);
            case "boolean": return Mix(((bool)value ? 1UL : 0) ^ 4UL << 60);
            case "timestamp": return Mix((ulong)(((DateTime)value - Epoch).Ticks / 10) ^ 5UL << 60);
            case "date": return Mix((ulong)(long)((DateTime)value - Epoch).TotalDays ^ 6UL << 60);
            case "time": return Mix((ulong)(((TimeSpan)value).Ticks / 10) ^ 8UL << 60);
            case "text": return Bytes(Encoding.UTF8.GetBytes((string)value), 7);
            case "binary": return Bytes((byte[])value, 9);
            default: throw new Exception("a column is " + kind);
        }
    }

    static ulong Number(long value, int scale)
    {
        return Wide((ulong)value, (ulong)(value >> 63), scale);
    }

    static ulong Wide(ulong low, ulong high, int scale)
    {
        return Mix(Mix(low) ^ high ^ (ulong)scale << 56 ^ 2);
    }

    static ulong Decimal(decimal value, int scale)
    {
        var bits = decimal.GetBits(value);
        var places = bits[3] >> 16 & 0xFF;
        if (places > scale)
            throw new Exception(value + " has more than " + scale + " digits after the point");
        var whole = new decimal(bits[0], bits[1], bits[2], false, 0);
        for (; places < scale; places++) whole *= 10;
        bits = decimal.GetBits(whole);
        ulong low = (uint)bits[0] | (ulong)(uint)bits[1] << 32, high = (uint)bits[2];
        if (value < 0)
        {
            low = ~low + 1;
            high = ~high + (low == 0 ? 1UL : 0);
        }
        return Wide(low, high, scale);
    }

    static ulong Bytes(byte[] value, ulong kind)
    {
        var hash = Mix((ulong)value.Length ^ kind << 60);
        var at = 0;
        for (; at + 8 <= value.Length; at += 8) hash = Mix(hash ^ BitConverter.ToUInt64(value, at));
        if (at == value.Length) return hash;
        ulong word = 0;
        for (var shift = 0; at < value.Length; at++, shift += 8) word |= (ulong)value[at] << shift;
        return Mix(hash ^ word);
    }

    static ulong Mix(ulong value)
    {
        unchecked
        {
            var z = value + 0x9e3779b97f4a7c15UL;
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9UL;
            z = (z ^ z >> 27) * 0x94d049bb133111ebUL;
            return z ^ z >> 31;
        }
    }
}

/// Writes one flat object.
class Writer
{
    readonly List<string> members = new List<string>();

    public Writer Raw(string name, string value) { members.Add(Quoted(name) + ":" + value); return this; }
    public Writer Text(string name, string value) { return Raw(name, Quoted(value)); }
    public Writer Number(string name, double value) { return Raw(name, value.ToString("R")); }
    public Writer List(string name, IEnumerable<string> values) { return Raw(name, "[" + string.Join(",", values.Select(Quoted)) + "]"); }
    public string Finish() { return "{" + string.Join(",", members) + "}"; }

    static string Quoted(string text)
    {
        var escaped = text.Select(c => c == '"' || c == '\\' ? "\\" + c : c < ' ' ? "\\u" + ((int)c).ToString("x4") : c.ToString());
        return "\"" + string.Concat(escaped) + "\"";
    }
}

/// Reads JSON; Mono's own readers are in packages that Debian does not install with System.Data.
class Json
{
    readonly string text;
    int at;

    public Json(string text) { this.text = text; }

    public object Value()
    {
        Skip();
        switch (text[at])
        {
            case '{': return Members('}', new Dictionary<string, object>(), (all, name) => all[name] = Value());
            case '[': return Members(']', new List<object>(), null);
            case '"': return Text();
            case 't': at += 4; return true;
            case 'f': at += 5; return false;
            case 'n': at += 4; return null;
            default:
                var start = at;
                while (at < text.Length && "+-.0123456789eE".IndexOf(text[at]) >= 0) at++;
                return double.Parse(text.Substring(start, at - start), CultureInfo.InvariantCulture);
        }
    }

    T Members<T>(char end, T all, Action<T, string> member)
    {
        for (at++, Skip(); text[at] != end; Skip())
        {
            if (text[at] == ',') { at++; continue; }
            if (member == null) { ((List<object>)(object)all).Add(Value()); continue; }
            var name = Text();
            Skip();
            at++;
            member(all, name);
        }
        at++;
        return all;
    }

    string Text()
    {
        var found = new StringBuilder();
        for (at++; text[at] != '"'; at++)
        {
            if (text[at] != '\\') { found.Append(text[at]); continue; }
            switch (text[++at])
            {
                case 'n': found.Append('\n'); break;
                case 't': found.Append('\t'); break;
                case 'r': found.Append('\r'); break;
                case 'b': found.Append('\b'); break;
                case 'f': found.Append('\f'); break;
                case 'u': found.Append((char)Convert.ToInt32(text.Substring(at + 1, 4), 16)); at += 4; break;
                default: found.Append(text[at]); break;
            }
        }
        at++;
        return found.ToString();
    }

    void Skip()
    {
        while (at < text.Length && char.IsWhiteSpace(text[at])) at++;
    }
}
