//! Charts as SVG.

use crate::figures::{ContestantFigures, TableFigures};
use crate::record::{Chart, Mark, OURS};
use crate::statistics::Spread;
use crate::{Error, Result, unit};
use plotters::coord::Shift;
use plotters::prelude::*;

/// The colours of a chart. Contestants differ in lightness as well, so that they can be told apart without colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) background: RGBColor,
    text: RGBColor,
    faint: RGBColor,
    /// Firearrow's.
    ours: RGBColor,
    others: [RGBColor; 7],
}

/// Dark on white.
pub(crate) const LIGHT: Theme = Theme {
    background: RGBColor(0xff, 0xff, 0xff),
    text: RGBColor(0x1f, 0x23, 0x28),
    faint: RGBColor(0xd0, 0xd7, 0xde),
    ours: RGBColor(0xd9, 0x48, 0x01),
    others: [
        RGBColor(0x2b, 0x6c, 0xb0),
        RGBColor(0x8a, 0x94, 0xa3),
        RGBColor(0x2f, 0x85, 0x5a),
        RGBColor(0x80, 0x5a, 0xd5),
        RGBColor(0xb7, 0x79, 0x1f),
        RGBColor(0x31, 0x97, 0x95),
        RGBColor(0x4a, 0x55, 0x68),
    ],
};

/// Light on black.
pub(crate) const DARK: Theme = Theme {
    background: RGBColor(0x16, 0x1b, 0x22),
    text: RGBColor(0xe6, 0xed, 0xf3),
    faint: RGBColor(0x3d, 0x44, 0x4d),
    ours: RGBColor(0xff, 0x8c, 0x42),
    others: [
        RGBColor(0x6c, 0xb0, 0xf5),
        RGBColor(0x9a, 0xa4, 0xb2),
        RGBColor(0x68, 0xc9, 0x8c),
        RGBColor(0xb9, 0x9b, 0xf5),
        RGBColor(0xe0, 0xb1, 0x5a),
        RGBColor(0x6f, 0xd3, 0xd1),
        RGBColor(0xc3, 0xcc, 0xd8),
    ],
};

const WIDTH: u32 = 460;
/// Nobody looks at more bars; the table has them all.
const MOST_CASES: usize = 200;
const FONT: &str = "sans-serif";
/// Plotters draws text at four fifths of this size.
const TEXT: u32 = 15;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws a chart of a table; `None` if no contestant has the value.
pub(crate) fn draw(table: &TableFigures<'_>, chart: &Chart, theme: Theme) -> Result<Option<String>> {
    let contestants = table.contestants();
    let colour =
        |name: &str| match contestants.iter().filter(|each| **each != OURS).position(|each| *each == name) {
            None => theme.ours,
            Some(at) => theme.others[at % theme.others.len()],
        };
    let mut svg = String::new();
    let drawn = match chart.mark {
        Mark::Bars => bars(&mut svg, table, chart, theme, &colour),
        Mark::Lines => lines(&mut svg, table, chart, theme, &colour),
    };
    match drawn {
        Ok(true) => Ok(Some(svg)),
        Ok(false) => Ok(None),
        Err(error) => Err(Error::Chart { title: chart.title.clone(), text: error.to_string() }),
    }
}

/// A heading for each case, and below it a bar for each contestant with its name and its value: no legend is needed,
/// and long names have room on a phone, too.
fn bars(
    svg: &mut String,
    table: &TableFigures<'_>,
    chart: &Chart,
    theme: Theme,
    colour: &dyn Fn(&str) -> RGBColor,
) -> Result<bool, Box<dyn std::error::Error>> {
    const CASE: i32 = 24;
    const BAR: i32 = 22;
    const LEFT: i32 = 170;
    const RIGHT: i32 = 80;
    let value = |contestant: &ContestantFigures<'_>| contestant.values.get(chart.y.as_str()).copied();
    let cases: Vec<(&str, Vec<(&str, Spread)>)> = table
        .cases
        .iter()
        .map(|case| {
            let bars = case.contestants.iter();
            (case.name, bars.filter_map(|each| Some((each.name, value(each)?))).collect::<Vec<_>>())
        })
        .filter(|(_, bars)| !bars.is_empty())
        .take(MOST_CASES)
        .collect();
    let all = || cases.iter().flat_map(|(_, bars)| bars.iter().map(|(_, spread)| *spread));
    let Some(longest) = all().map(|spread| spread.median).max_by(f64::total_cmp) else { return Ok(false) };
    let height = cases.iter().map(|(_, bars)| CASE + BAR * bars.len() as i32 + 6).sum::<i32>() + 8;
    let root = SVGBackend::with_string(svg, (WIDTH, height.unsigned_abs())).into_drawing_area();
    root.fill(&theme.background)?;
    let room = WIDTH.cast_signed() - LEFT - RIGHT;
    let mut y = 4;
    for (name, bars) in &cases {
        text(&root, &shortened(name, CASE_LETTERS), (4, y + 4), theme.text, true)?;
        y += CASE;
        for (contestant, spread) in bars {
            let long = if longest > 0.0 { spread.median / longest * f64::from(room) } else { 0.0 };
            let end = LEFT + (long.round() as i32).max(2);
            text(&root, &shortened(contestant, NAME_LETTERS), (12, y + 3), theme.text, false)?;
            root.draw(&Rectangle::new([(LEFT, y + 2), (end, y + BAR - 4)], colour(contestant).filled()))?;
            text(&root, &unit::show(&chart.y, spread.median), (end + 6, y + 3), theme.text, false)?;
            y += BAR;
        }
        y += 6;
    }
    root.present()?;
    drop(root);
    Ok(true)
}

/// Letters of a contestant's name that fit beside a bar, and of a case's name above the bars.
const NAME_LETTERS: usize = 21;
const CASE_LETTERS: usize = 48;

fn shortened(name: &str, most: usize) -> String {
    match name.chars().count() {
        count if count <= most => name.to_owned(),
        _ => name.chars().take(most - 1).chain(['…']).collect(),
    }
}

fn text(area: &Area<'_>, text: &str, at: (i32, i32), colour: RGBColor, is_bold: bool) -> Drawn {
    let font = (FONT, TEXT).into_font();
    let font = if is_bold { font.style(FontStyle::Bold) } else { font };
    area.draw(&Text::new(printable(text), at, font.color(&colour)))?;
    Ok(())
}

/// SVG has no control characters.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A point of a line: where it is, and its spread.
type Point = (f64, Spread);

fn lines(
    svg: &mut String,
    table: &TableFigures<'_>,
    chart: &Chart,
    theme: Theme,
    colour: &dyn Fn(&str) -> RGBColor,
) -> Result<bool, Box<dyn std::error::Error>> {
    const ROW: i32 = 20;
    const PLOT: i32 = 266;
    let Some(x) = chart.x.as_deref() else { return Ok(false) };
    // Doublings, so that the axis has round sizes.
    let place = |value: f64| if chart.is_logarithmic { value.log2() } else { value };
    let along = |name: &str| -> Vec<Point> {
        let points = table.cases.iter().filter_map(|case| {
            let values = &case.contestant(name)?.values;
            Some((place(values.get(x)?.median), *values.get(chart.y.as_str())?))
        });
        let points = points.filter(|(at, _)| at.is_finite());
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let all: Vec<(&str, Vec<Point>)> = table
        .contestants()
        .into_iter()
        .map(|name| (name, along(name)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let points = || all.iter().flat_map(|(_, points)| points.iter().copied());
    let Some(last) = points().map(|point| point.0).max_by(f64::total_cmp) else { return Ok(false) };
    let first = points().map(|point| point.0).min_by(f64::total_cmp).unwrap_or(0.0);
    let highest = points().map(|point| point.1.max).max_by(f64::total_cmp).unwrap_or(1.0).max(1e-12);
    // A line that hardly moves must look like that, so the axis begins at 0.
    let margin = if last > first { (last - first) * 0.03 } else { last.abs().max(1.0) * 0.1 };
    let x_range = (first - margin).max(0.0).min(first)..last + margin;

    let is_calculated = |name: &str| chart.calculated.iter().any(|calculated| calculated == name);
    let places = legend(all.iter().map(|(name, _)| *name), ROW);
    let room = places.last().map_or(0, |(_, y)| y + ROW + 4);
    let root = SVGBackend::with_string(svg, (WIDTH, (PLOT + room).unsigned_abs())).into_drawing_area();
    root.fill(&theme.background)?;
    let (legend, plot) = root.split_vertically(room);
    for (name, (x, y)) in all.iter().map(|(name, _)| name).zip(&places) {
        let middle = y + 13;
        let rest = if is_calculated(name) { 8 } else { 0 };
        legend.draw(&Rectangle::new(
            [(*x, middle - 2), (x + 18 - rest - rest / 4, middle + 1)],
            colour(name).filled(),
        ))?;
        if rest > 0 {
            legend.draw(&Rectangle::new(
                [(x + 18 - rest, middle - 2), (x + 18, middle + 1)],
                colour(name).filled(),
            ))?;
        }
        text(&legend, name, (x + 24, y + 6), theme.text, false)?;
    }
    let mut axes = ChartBuilder::on(&plot)
        .margin(6)
        .margin_right(16)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x_range.clone(), 0.0..highest * 1.08)?;
    let style = |size: u32| (FONT, size).into_font().color(&theme.text);
    axes.configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(theme.faint)
        .axis_style(theme.faint)
        .label_style(style(TEXT - 1))
        .axis_desc_style(style(TEXT))
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|value| match chart.is_logarithmic {
            true => unit::show(x, value.exp2()),
            false => unit::tick(x, *value, last),
        })
        .y_label_formatter(&|value| unit::tick(&chart.y, *value, highest))
        .x_desc(printable(&unit::title(x)))
        .draw()?;
    let at = chart.at.as_ref().map(|(value, meaning)| (place(*value), meaning));
    if let Some((value, meaning)) = at.filter(|(value, _)| x_range.contains(value)) {
        axes.draw_series(LineSeries::new([(value, 0.0), (value, highest * 1.08)], theme.text.mix(0.6)))?;
        let label = Text::new(printable(meaning), (6, 0), style(TEXT - 1));
        axes.draw_series([EmptyElement::at((value, highest * 1.06)) + label])?;
    }
    for (name, points) in &all {
        let line = ShapeStyle { color: colour(name).to_rgba(), filled: true, stroke_width: 2 };
        let medians = points.iter().map(|(x, spread)| (*x, spread.median));
        if is_calculated(name) {
            axes.draw_series(DashedLineSeries::new(medians, 6, 5, line))?;
            continue;
        }
        axes.draw_series(LineSeries::new(medians, line))?;
        axes.draw_series(points.iter().map(|(x, Spread { median, min, max })| {
            ErrorBar::new_vertical(*x, *min, *median, *max, line, 6)
        }))?;
    }
    drop(axes);
    root.present()?;
    Ok(true)
}

/// Where the names of a legend begin: side by side as far as there is room.
fn legend<'a>(names: impl Iterator<Item = &'a str>, row: i32) -> Vec<(i32, i32)> {
    const LEFT: i32 = 12;
    let (mut x, mut y) = (LEFT, 0);
    let place = |name: &str| {
        let long = 44 + name.chars().count() as i32 * 7;
        if x > LEFT && x + long > WIDTH.cast_signed() {
            (x, y) = (LEFT, y + row);
        }
        let place = (x, y);
        x += long;
        place
    };
    names.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, tests::record};

    #[test]
    fn bars_are_as_long_as_their_values() {
        let record = record();
        let figures = Figures::of(&record);
        let svg = draw(&figures.tables[0], &figures.tables[0].head.charts[0], LIGHT).unwrap().unwrap();
        let widths: Vec<u32> = svg
            .lines()
            .filter(|line| line.starts_with("<rect") && line.contains("height=\"16\""))
            .map(|line| line.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(widths, [105, 210, 18], "{svg}");
        assert!(svg.contains("rival") && svg.contains("6.00 s"), "{svg}");
    }

    #[test]
    fn a_chart_without_values_is_none() {
        let record = record();
        let figures = Figures::of(&record);
        let chart = Chart { y: "nothing_s".into(), ..Chart::default() };
        assert!(draw(&figures.tables[0], &chart, DARK).unwrap().is_none());
    }

    #[test]
    fn legends_have_as_many_rows_as_they_need() {
        let names = ["firearrow", "rival", "a rival with a long name, calculated", "one more"];
        let places = legend(names.into_iter(), 20);
        assert_eq!(places[0], (12, 0));
        assert!(places[1].1 == 0 && places[1].0 > 100, "{places:?}");
        assert_eq!(places[2], (12, 20));
        assert!(places.iter().zip(names).all(|((x, _), name)| x + 24 + name.len() as i32 * 7 <= 460));
    }

    #[test]
    fn what_is_calculated_is_drawn_with_dashes_along_doublings() {
        let mut record = record();
        record.samples.retain(|sample| sample.contestant == "rival");
        for (at, sample) in record.samples.iter_mut().enumerate() {
            sample.case = format!("case {at}");
            sample.values.insert("size_bytes".into(), f64::from(1 << at) * 1024.0 * 1024.0 * 1024.0);
        }
        let chart = Chart { is_logarithmic: true, ..Chart::lines("t", "wall_s", "size_bytes") };
        let figures = Figures::of(&record);
        let measured = draw(&figures.tables[0], &chart, LIGHT).unwrap().unwrap();
        let chart = Chart { calculated: vec!["rival".into()], ..chart };
        let calculated = draw(&figures.tables[0], &chart, LIGHT).unwrap().unwrap();
        assert!(calculated.matches("<polyline").count() > measured.matches("<polyline").count());
        assert!(calculated.contains("2.00 GiB") && calculated.contains("8.00 GiB"), "{calculated}");
    }

    #[test]
    fn lines_run_along_a_value() {
        let mut record = record();
        for (at, sample) in record.samples.iter_mut().enumerate() {
            sample.case = format!("case {}", at / 2);
            sample.values.insert("size_bytes".into(), (at / 2) as f64 * 1e9);
        }
        let figures = Figures::of(&record);
        let chart = Chart {
            mark: Mark::Lines,
            y: "wall_s".into(),
            x: Some("size_bytes".into()),
            at: Some((3e9, "the cache".into())),
            ..Chart::default()
        };
        let svg = draw(&figures.tables[0], &chart, LIGHT).unwrap().unwrap();
        assert!(svg.contains("the cache") && svg.contains("\nsize\n"), "{svg}");
        assert!(svg.matches("<polyline").count() >= 3, "{svg}");
        let elsewhere = Chart { at: Some((1e15, "too far".into())), ..chart };
        assert!(!draw(&figures.tables[0], &elsewhere, LIGHT).unwrap().unwrap().contains("too far"));
    }
}
