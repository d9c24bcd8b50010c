//! Report pages in a browser: headless Chromium, where it is installed.

use firearrow_report::{Chart, End, OURS, Record, SampleLine, TableHead, html};
use firearrow_testkit::{Skip, Target, matrix};
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use tiny_skia::Pixmap;

/// Everything that pages have, with names as long as they come.
fn records() -> Vec<Record> {
    let mut environment = Map::new();
    environment.insert(
        "cpu".into(),
        json!("A processor with a name that manufacturers have made rather long @ 2.20GHz"),
    );
    environment.insert("word".into(), json!("x".repeat(200)));
    let mut record = Record::new("demo", "Bars, lines and names of every length", environment);
    let columns = [
        "wall_s",
        "roundtrips",
        "logical_send_packets",
        "logical_recv_packets",
        "physical_send_bytes",
        "peak_rss_bytes",
        "client_cpu_s",
        "server_cpu_s",
        "new_orders_per_min",
    ];
    record.tables.push(TableHead {
        id: "bars".into(),
        title: "Reading: SELECT A_COLUMN_WITH_A_LONG_NAME, ANOTHER_COLUMN FROM A_TABLE_WITH_A_LONG_NAME"
            .into(),
        notes: vec![
            "A note that is long enough to need more than one line in a window that is as narrow as a phone."
                .into(),
        ],
        columns: columns.map(str::to_owned).into(),
        charts: vec![Chart::bars("Elapsed time", "wall_s"), Chart::bars("Processor time", "client_cpu_s")],
    });
    record.tables.push(TableHead {
        id: "lines".into(),
        title: "Operations by size".into(),
        notes: vec![],
        columns: vec!["operations_per_s".into(), "size_bytes".into()],
        charts: vec![Chart {
            is_logarithmic: true,
            at: Some((1e9, "size = cache".into())),
            calculated: vec!["uniform, two hard disks".into()],
            ..Chart::lines("Operations per second", "operations_per_s", "size_bytes")
        }],
    });
    let mut add = |table: &str, case: &str, who: &str, at: usize, values: &[(&str, f64)]| {
        let values: BTreeMap<String, f64> =
            values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        record.samples.push(SampleLine::new(table, case, who, at, values));
    };
    for at in 0..5 {
        for (who, factor) in
            [(OURS, 1.0), ("a rival whose name does not fit beside a bar", 3.0), ("libfbclient", 1.4)]
        {
            for case in [
                "T_WIDE",
                "a case with a title of several words that tells exactly what was done, and how often",
            ] {
                let time = factor * (1.0 + at as f64 / 10.0);
                let values: Vec<_> = columns.iter().map(|name| (*name, time * 1_234_567.0)).collect();
                let values: Vec<_> =
                    values.into_iter().chain([("wall_s", time), ("client_cpu_s", time / 3.0)]).collect();
                add("bars", case, who, at, &values);
            }
        }
    }
    for size in 0..12 {
        for (who, rate) in
            [("home", 900.0), ("uniform", 700.0), ("home, SSD", 890.0), ("uniform, two hard disks", 90.0)]
        {
            let values = [
                ("operations_per_s", rate / f64::from(size + 1)),
                ("size_bytes", 4e8 * f64::from(1 << size)),
            ];
            add("lines", &format!("{size} warehouses"), who, 0, &values);
        }
    }
    record.end = Some(End {
        complete: false,
        missing: vec!["a rival: /usr/lib/x86_64-linux-gnu/a_library_with_a_long_name_that_has_no_place_to_break.so.2: not found".into()],
        checks: vec!["rows and checksums".into()],
    });
    let mut other = record.clone();
    other.end = None;
    vec![record, other]
}

/// A page that shows another one in a frame of this width, since windows have a smallest width, and says how it fits.
fn framed(page: &str, width: u32, height: u32) -> String {
    let text = serde_json::to_string(page).unwrap().replace("</", "<\\/");
    format!(
        r#"<!DOCTYPE html><html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<style>body {{ margin: 0 }} iframe {{ border: 0; display: block }}</style></head><body>
<iframe id="frame" width="{width}" height="{height}"></iframe><pre id="found" hidden></pre><script>
const frame = document.getElementById('frame');
frame.onload = () => {{
  const page = frame.contentDocument, view = frame.contentWindow;
  const shown = [...page.querySelectorAll('svg')].filter(svg => svg.getClientRects().length > 0);
  document.getElementById('found').textContent = JSON.stringify({{
    inner: view.innerWidth, scroll: page.documentElement.scrollWidth,
    back: view.getComputedStyle(page.body).backgroundColor,
    charts: shown.length, widest: Math.max(...shown.map(svg => svg.getBoundingClientRect().right)),
    smallest: Math.min(...shown.map(svg => svg.getBoundingClientRect().width)),
  }});
}};
frame.srcdoc = {text};
</script></body></html>"#
    )
}

/// Runs Chromium on a page; what it prints.
fn chromium(page: &Path, is_dark: bool, size: (u32, u32), more: &str) -> String {
    let profile = page.with_extension("profile");
    let output = Command::new("timeout")
        .args(["120", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", if is_dark { 0 } else { 1 }))
        .arg(format!("--window-size={},{}", size.0, size.1))
        .args([more, &format!("file://{}", page.display())])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Fewer colours than this are no page with charts.
const FEWEST_COLOURS: usize = 8;

matrix!(
    [embedded_5_0],
    fn pages_fit_their_windows_in_light_and_dark(target: &Target) -> Result<(), Skip> {
        if Command::new("chromium").arg("--version").output().is_err() {
            let reason = "no chromium: install it".to_owned();
            return Err(Skip { name: target.to_string(), reason });
        }
        let records = records();
        let page = html("Everything that pages have", &records).unwrap();
        // To look at: FIREARROW_SCREENSHOTS keeps the pictures.
        let kept = std::env::var_os("FIREARROW_SCREENSHOTS");
        let folder = tempfile::tempdir().unwrap();
        for (name, width) in [("wide", 1280), ("narrow", 390)] {
            for (scheme, is_dark) in [("light", false), ("dark", true)] {
                let size = (width.max(500), 2400);
                let file = folder.path().join(format!("{name}-{scheme}.html"));
                fs::write(&file, framed(&page, width, size.1)).unwrap();
                let dom = chromium(&file, is_dark, size, "--dump-dom");
                let found = dom.split("<pre id=\"found\" hidden=\"\">").nth(1).expect("the page was read");
                let found: serde_json::Value =
                    serde_json::from_str(found.split("</pre>").next().unwrap_or_default()).unwrap();
                let number = |name: &str| found[name].as_f64().unwrap_or(f64::NAN);
                assert_eq!(number("inner"), f64::from(width), "{found}");
                assert!(number("scroll") <= number("inner"), "{name}, {scheme}: {found}");
                // One theme of each chart, within the window, and large enough to be read.
                assert_eq!(number("charts"), 6.0, "{found}");
                assert!(number("widest") <= f64::from(width) && number("smallest") > 300.0, "{found}");
                let back = if is_dark { "rgb(22, 27, 34)" } else { "rgb(255, 255, 255)" };
                assert_eq!(found["back"], back, "{name}, {scheme}");
                let picture = file.with_extension("png");
                chromium(&file, is_dark, size, &format!("--screenshot={}", picture.display()));
                let pixels = Pixmap::load_png(&picture).unwrap();
                let mut colours: Vec<[u8; 4]> = pixels
                    .pixels()
                    .iter()
                    .map(|pixel| [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()])
                    .collect();
                colours.sort_unstable();
                colours.dedup();
                assert!(colours.len() >= FEWEST_COLOURS, "{name}, {scheme}: {} colours", colours.len());
                if let Some(kept) = &kept {
                    fs::copy(&picture, Path::new(kept).join(format!("{name}-{scheme}.png"))).unwrap();
                }
            }
        }
        Ok(())
    }
);
