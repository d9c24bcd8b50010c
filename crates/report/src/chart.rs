//! Charts as SVG.

use crate::figures::{ContestantFigures, TableFigures};
use crate::plain::{plain, shortened};
use crate::record::{Chart, Mark};
use crate::statistics::Spread;
use crate::{Error, Result, unit};
use plotters::coord::Shift;
use plotters::prelude::*;

/// The colours of a chart. They differ in lightness too, for readers who cannot see the hues.
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
/// Nobody looks at more; the table has them all.
const MOST_BARS: usize = 200;
const MOST_LINES: usize = 28;
const MOST_POINTS: usize = 2000;
/// Of more points the marks would hide the line.
const MOST_MARKS: usize = 40;
const FONT: &str = "sans-serif";
/// Plotters draws text at four fifths of this size.
const TEXT: u32 = 15;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The title, with which values are the better ones.
pub(crate) fn title(chart: &Chart) -> String {
    match unit::Better::of(&chart.y) {
        Some(better) => format!("{}, {}", chart.title, better.text()),
        None => chart.title.clone(),
    }
}

/// Draws a chart of a table; `None` if no contestant has the value.
pub(crate) fn draw(table: &TableFigures<'_>, chart: &Chart, theme: Theme) -> Result<Option<String>> {
    let contestants = table.contestants();
    let colour = |name: &str| match contestants
        .iter()
        .filter(|each| **each != table.reference)
        .position(|each| *each == name)
    {
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
    let mut cases: Vec<(&str, Vec<(&str, Spread)>)> = table
        .cases
        .iter()
        .map(|case| {
            let bars = case.contestants.iter();
            (case.name, bars.filter_map(|each| Some((each.name, value(each)?))).collect::<Vec<_>>())
        })
        .filter(|(_, bars)| !bars.is_empty())
        .collect();
    let left_out = cut(&mut cases, MOST_BARS);
    let all = || cases.iter().flat_map(|(_, bars)| bars.iter().map(|(_, spread)| *spread));
    let Some(longest) = all().map(|spread| spread.median).max_by(f64::total_cmp) else { return Ok(false) };
    let height = cases.iter().map(|(_, bars)| CASE + BAR * bars.len() as i32 + 6).sum::<i32>() + 8;
    let height = if left_out > 0 { height + CASE } else { height };
    let root = SVGBackend::with_string(svg, (WIDTH, height.unsigned_abs())).into_drawing_area();
    root.fill(&theme.background)?;
    let room = WIDTH.cast_signed() - LEFT - RIGHT;
    let mut y = 4;
    for (name, bars) in &cases {
        text(&root, &shortened(name, LONGEST), (4, y + 4), theme.text, true)?;
        y += CASE;
        for (contestant, spread) in bars {
            let long = if longest > 0.0 { spread.median / longest * f64::from(room) } else { 0.0 };
            let end = LEFT + (long.round() as i32).max(2);
            text(&root, &shortened(contestant, 21), (12, y + 3), theme.text, false)?;
            root.draw(&Rectangle::new([(LEFT, y + 2), (end, y + BAR - 4)], colour(contestant).filled()))?;
            text(&root, &unit::show(&chart.y, spread.median), (end + 6, y + 3), theme.text, false)?;
            y += BAR;
        }
        y += 6;
    }
    if left_out > 0 {
        text(&root, &format!("… and {left_out} more"), (4, y + 4), theme.text, false)?;
    }
    root.present()?;
    drop(root);
    Ok(true)
}

/// Keeps the first bars, and returns how many are left out.
fn cut<T>(cases: &mut Vec<(&str, Vec<T>)>, most: usize) -> usize {
    let mut room = most;
    let mut left_out = 0;
    for (_, bars) in cases.iter_mut() {
        left_out += bars.len().saturating_sub(room);
        bars.truncate(room);
        room -= bars.len();
    }
    cases.retain(|(_, bars)| !bars.is_empty());
    left_out
}

/// What fits beside each other in a line of text.
const LONGEST: usize = 50;

fn text(area: &Area<'_>, text: &str, at: (i32, i32), colour: RGBColor, is_bold: bool) -> Drawn {
    let font = (FONT, TEXT).into_font();
    let font = if is_bold { font.style(FontStyle::Bold) } else { font };
    area.draw(&Text::new(printable(text), at, font.color(&colour)))?;
    Ok(())
}

fn printable(text: &str) -> String {
    plain(&shortened(text, 80)).into_owned()
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
        let every = points.len().div_ceil(MOST_POINTS).max(1);
        points.into_iter().step_by(every).collect::<Vec<Point>>()
    };
    let contestants = table.contestants();
    let all: Vec<(&str, Vec<Point>)> = contestants
        .iter()
        .take(MOST_LINES)
        .map(|name| (*name, along(name)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let left_out = contestants.len().saturating_sub(MOST_LINES);
    let shape =
        |name: &str| SHAPES[contestants.iter().position(|each| *each == name).unwrap_or(0) % SHAPES.len()];
    let points = || all.iter().flat_map(|(_, points)| points.iter().copied());
    let Some(last) = points().map(|point| point.0).max_by(f64::total_cmp) else { return Ok(false) };
    let first = points().map(|point| point.0).min_by(f64::total_cmp).unwrap_or(0.0);
    let highest = points().map(|point| point.1.max).fold(0.0, f64::max);
    // A line that hardly moves must look like that, so the axis has 0.
    let lowest = points().map(|point| point.1.min).fold(0.0, f64::min);
    let highest = highest.max(lowest + 1e-12);
    let top = highest + (highest - lowest) * 0.08;
    // Places that are next to each other are one place.
    let is_wide = last - first > (last.abs() + first.abs()) * 1e-9;
    let margin = if is_wide { (last - first) * 0.03 } else { last.abs().max(1.0) * 0.1 };
    let x_range = (first - margin).max(0.0).min(first)..last + margin;

    let is_calculated = |name: &str| chart.calculated.iter().any(|calculated| calculated == name);
    let names = || all.iter().map(|(name, _)| shortened(name, LONGEST));
    let more = (left_out > 0).then(|| format!("… and {left_out} more"));
    let places = legend(names().chain(more.iter().map(|more| more.into())), ROW);
    let room = places.last().map_or(0, |(_, y)| y + ROW + 4);
    let root = SVGBackend::with_string(svg, (WIDTH, (PLOT + room).unsigned_abs())).into_drawing_area();
    root.fill(&theme.background)?;
    let (legend, plot) = root.split_vertically(room);
    for ((name, _), (x, y)) in all.iter().zip(&places) {
        let middle = y + 13;
        // Two dashes, or a line with its mark, as in the plot.
        let dashes: &[(i32, i32)] = if is_calculated(name) { &[(0, 8), (10, 18)] } else { &[(0, 18)] };
        for (from, to) in dashes {
            let ends = [(x + from, middle - 2), (x + to, middle + 1)];
            legend.draw(&Rectangle::new(ends, colour(name).filled()))?;
        }
        if !is_calculated(name) {
            let corners = shape(name).iter().map(|(right, down)| (x + 9 + right, middle + down));
            legend.draw(&Polygon::new(corners.collect::<Vec<_>>(), colour(name).filled()))?;
        }
        text(&legend, &shortened(name, LONGEST), (x + 24, y + 6), theme.text, false)?;
    }
    if let Some((more, (x, y))) = more.as_ref().zip(places.last()) {
        text(&legend, more, (x + 24, y + 6), theme.text, false)?;
    }
    let mut axes = ChartBuilder::on(&plot)
        .margin(6)
        // Half of the last number on the axis.
        .margin_right(30)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x_range.clone(), lowest..top)?;
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
            false => unit::tick(x, *value, last.abs()),
        })
        .y_label_formatter(&|value| unit::tick(&chart.y, *value, highest.max(-lowest)))
        .x_desc(printable(&unit::title(x)))
        .draw()?;
    let at = chart.at.as_ref().map(|(value, meaning)| (place(*value), meaning));
    if let Some((value, meaning)) = at.filter(|(value, _)| x_range.contains(value)) {
        axes.draw_series(LineSeries::new([(value, lowest), (value, top)], theme.text.mix(0.6)))?;
        let label = Text::new(printable(meaning), (value, lowest + (top - lowest) * 0.98), style(TEXT - 1));
        axes.draw_series([label])?;
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
        if points.len() <= MOST_MARKS {
            let mark = |point: &Point| {
                EmptyElement::at((point.0, point.1.median)) + Polygon::new(shape(name).to_vec(), line)
            };
            axes.draw_series(points.iter().map(mark))?;
        }
    }
    drop(axes);
    root.present()?;
    Ok(true)
}

/// The marks of points, around them. There are not as many as colours: together they tell 28 lines apart.
const SHAPES: [&[(i32, i32)]; 4] = [
    &[(-4, -2), (-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2)],
    &[(0, -5), (5, 4), (-5, 4)],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, -6), (6, 0), (0, 6), (-6, 0)],
];

/// Where the names of a legend begin: side by side as far as there is room.
fn legend<T: AsRef<str>>(names: impl Iterator<Item = T>, row: i32) -> Vec<(i32, i32)> {
    const LEFT: i32 = 12;
    let (mut x, mut y) = (LEFT, 0);
    let place = |name: T| {
        let long = 44 + name.as_ref().chars().count() as i32 * 7;
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
    use crate::record::OURS;
    use crate::record::SampleLine;

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
    fn titles_say_what_is_better() {
        assert_eq!(title(&Chart::bars("Time", "wall_s")), "Time, less is better");
        assert_eq!(title(&Chart::bars("Speed", "rows_per_s")), "Speed, more is better");
        assert_eq!(title(&Chart::bars("Size", "size_bytes")), "Size");
    }

    #[test]
    fn any_values_can_be_drawn() {
        let values = [0.0, -1.0, -1e299, 1e299, 5e-324, -5e-324, 1.0, 1.0 + f64::EPSILON, 1e15, -1e-12];
        for one in values {
            for other in values {
                let mut record = record();
                record.samples.truncate(2);
                for (sample, value) in record.samples.iter_mut().zip([one, other]) {
                    sample.case = format!("{value}");
                    sample.contestant = OURS.into();
                    sample.values = [("y".to_owned(), value), ("x".to_owned(), other)].into();
                }
                record.samples[0].values.insert("x".into(), one);
                let figures = Figures::of(&record);
                for chart in [Chart::bars("t", "y"), Chart::lines("t", "y", "x")] {
                    let svg = draw(&figures.tables[0], &chart, LIGHT).unwrap().unwrap();
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{one} {other}: {svg}");
                }
            }
        }
    }

    #[test]
    fn charts_have_a_limit_and_say_so() {
        let mut record = record();
        let sample = SampleLine { case: "one".into(), ..record.samples[0].clone() };
        record.samples = (0..20_000)
            .map(|at| SampleLine { contestant: format!("rival {at}"), ..sample.clone() })
            .collect();
        let figures = Figures::of(&record);
        let svg = draw(&figures.tables[0], &Chart::bars("t", "wall_s"), LIGHT).unwrap().unwrap();
        assert!(svg.contains("… and 19800 more") && svg.len() < 200_000, "{}", svg.len());
        let svg = draw(&figures.tables[0], &Chart::lines("t", "wall_s", "rows"), LIGHT).unwrap().unwrap();
        assert!(svg.contains("… and 19972 more") && svg.len() < 200_000, "{}", svg.len());
    }

    #[test]
    fn lines_differ_in_colour_or_in_mark() {
        let of = |at: usize| (at % LIGHT.others.len(), (at + 1) % SHAPES.len());
        let all: std::collections::HashSet<_> = (0..MOST_LINES).map(of).collect();
        assert_eq!(all.len(), MOST_LINES);
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
