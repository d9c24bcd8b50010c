//! One HTML page, without anything outside it.

use crate::figures::Figures;
use crate::plain::plain;
use crate::record::Record;
use crate::tables::{circumstances, how_to_read, notes, rows, titles, warnings};
use crate::{Error, Result, chart};

const STYLE: &str = include_str!("page.css");

/// Makes a page of records: charts, tables and circumstances, in light or dark as the reader's system wants it. It works from
/// the file system, and needs neither scripts nor a network.
///
/// # Errors
/// [`Error::Nothing`] without records, [`Error::Chart`].
pub fn html(title: &str, records: &[Record]) -> Result<String> {
    if records.is_empty() {
        return Err(Error::Nothing("a report needs at least one record".to_owned()));
    }
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n",
        title = escape(title)
    );
    if records.len() > 1 {
        page += &contents(records);
    }
    for (at, record) in records.iter().enumerate() {
        let is_same = records.len() == 1 && record.head.title == title;
        page += &section(at, record, !is_same)?;
    }
    page += "</main>\n</body>\n</html>\n";
    Ok(page)
}

fn contents(records: &[Record]) -> String {
    let item = |(at, record): (usize, &Record)| {
        format!("<li><a href=\"#r{at}\">{}</a></li>\n", escape(&record.head.title))
    };
    let items: String = records.iter().enumerate().map(item).collect();
    format!("<nav><ul>\n{items}</ul></nav>\n")
}

fn section(number: usize, record: &Record, with_title: bool) -> Result<String> {
    let mut text = format!("<section id=\"r{number}\">\n");
    if with_title {
        text += &format!("<h2>{}</h2>\n", escape(&record.head.title));
    }
    let figures = Figures::of(record);
    for warning in warnings(&figures) {
        text += &format!("<p class=\"warning\">{}</p>\n", escape(&warning));
    }
    for table in &figures.tables {
        text += &format!("<h3>{}</h3>\n", escape(&table.head.title));
        let mut charts = String::new();
        for chart in &table.head.charts {
            charts += &figure(&chart::title(chart), |theme| chart::draw(table, chart, theme))?;
        }
        if !charts.is_empty() {
            text += &format!("<div class=\"charts\">\n{charts}</div>\n");
        }
        text += "<div class=\"table\"><table>\n<thead><tr><th></th>";
        for title in titles(table) {
            text += &format!("<th>{}</th>", escape(&title));
        }
        text += "</tr></thead>\n<tbody>\n";
        let mut last = None;
        for row in rows(table) {
            // A case is a heading of its own: long names must not push the figures out of a narrow window.
            if last != Some(row.case) {
                let columns = row.cells.len() + 1;
                text +=
                    &format!("<tr><th class=\"case\" colspan=\"{columns}\">{}</th></tr>\n", escape(row.case));
                last = Some(row.case);
            }
            text += &format!("<tr><th>{}</th>", escape(&row.contestant));
            for cell in &row.cells {
                text += &format!("<td>{}</td>", escape(cell));
            }
            text += "</tr>\n";
        }
        text += "</tbody></table></div>\n";
        for note in notes(table) {
            text += &format!("<p class=\"note\">{}</p>\n", escape(&note));
        }
    }
    let checks = record.end.iter().flat_map(|end| &end.checks);
    for check in checks {
        text += &format!("<p class=\"note\">Checked: {}</p>\n", escape(check));
    }
    text += &format!("<p class=\"how\">{}</p>\n", escape(&how_to_read(&figures)));
    text += "<details><summary>What was measured where</summary>\n<dl>\n";
    for (name, value) in circumstances(record) {
        text += &format!("<dt>{}</dt><dd>{}</dd>\n", escape(&name), escape(&value));
    }
    Ok(text + "</dl>\n</details>\n</section>\n")
}

/// The chart in both themes, of which the page shows one; nothing if nobody has the value.
fn figure(title: &str, draw: impl Fn(chart::Theme) -> Result<Option<String>>) -> Result<String> {
    let (Some(light), Some(dark)) = (draw(chart::LIGHT)?, draw(chart::DARK)?) else {
        return Ok(String::new());
    };
    let title = escape(title);
    let inline = |svg: &str, class: &str| {
        let fit = format!("<svg class=\"{class}\" role=\"img\" aria-label=\"{title}\" ");
        svg.replacen("<svg ", &fit, 1)
    };
    Ok(format!(
        "<figure><figcaption>{title}</figcaption>\n{}{}</figure>\n",
        inline(&light, "light"),
        inline(&dark, "dark")
    ))
}

pub(crate) fn escape(text: &str) -> String {
    plain(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::record;

    #[test]
    fn a_page_stands_alone() {
        let page = html("A report", &[record(), record()]).unwrap();
        assert!(page.contains("Reading &lt;rows&gt;") && page.contains("A note &amp; more."), "{page}");
        assert!(!page.contains("Reading <rows>"));
        for outside in ["<script", "href=\"http", "src=", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("<svg class=\"light\"").count(), 2);
        assert_eq!(page.matches("<svg class=\"dark\"").count(), 2);
        assert!(page.contains("href=\"#r1\"") && page.contains("id=\"r1\""));
    }

    #[test]
    fn what_turns_text_does_not_reach_the_page() {
        let mut record = record();
        record.head.title = "a\u{202e}b\u{1b}[2J".into();
        record.samples[0].contestant = "r\u{2066}ival".into();
        let page = html("x\u{202e}", &[record]).unwrap();
        assert!(page.contains("<h2>ab[2J</h2>"), "{page}");
        assert!(!page.contains(['\u{202e}', '\u{1b}', '\u{2066}']));
        assert!(page.contains("Time, less is better"), "{page}");
    }

    #[test]
    fn parts_are_marked_and_nothing_is_refused() {
        let mut part = record();
        part.end = None;
        assert!(html("x", &[part]).unwrap().contains("class=\"warning\">The run was interrupted"));
        assert!(matches!(html("x", &[]), Err(Error::Nothing(_))));
    }
}
