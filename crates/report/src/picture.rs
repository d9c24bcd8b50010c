//! The charts of a report as PNG files.

use crate::figures::Figures;
use crate::page::escape;
use crate::plain::shortened;
use crate::record::Record;
use crate::{Error, Result, chart};
use plotters::style::RGBColor;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// A chart as a picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// A name for its file, without an ending: the numbers of record, table and chart, benchmark and table.
    pub name: String,
    /// The PNG file, with two pixels for each one of the page.
    pub png: Vec<u8>,
}

const SCALE: f32 = 2.0;

/// Makes a picture of each chart of the records, in light colours.
///
/// # Errors
/// [`Error::Chart`], also if the system has no font.
pub fn pictures(records: &[Record]) -> Result<Vec<Picture>> {
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    if options.fontdb.is_empty() {
        let text = "the system has no fonts: install some, such as fonts-dejavu-core".to_owned();
        return Err(Error::Chart { title: "any".to_owned(), text });
    }
    // Without fontconfig nothing maps sans-serif to a font, so choose one here.
    let known = options.fontdb.faces().find_map(|face| {
        let name = &face.families.first()?.0;
        name.contains("Sans").then(|| name.clone())
    });
    if let Some(name) = known {
        options.fontdb_mut().set_sans_serif_family(name);
    }
    let mut pictures = Vec::new();
    for (number, record) in records.iter().enumerate() {
        for (place, table) in Figures::of(record).tables.iter().enumerate() {
            for (at, wanted) in table.head.charts.iter().enumerate() {
                let Some(svg) = chart::draw(table, wanted, chart::LIGHT)? else { continue };
                // The numbers make it unique, whatever the names are.
                let name = format!(
                    "{}-{}-{}-{}-{}",
                    number + 1,
                    place + 1,
                    at + 1,
                    record.head.benchmark,
                    table.head.id
                );
                let failed = |text: String| Error::Chart { title: wanted.title.clone(), text };
                let svg = titled(&svg, &chart::title(wanted));
                pictures.push(Picture { name: file_name(&name), png: png(&svg, &options).map_err(failed)? });
            }
        }
    }
    Ok(pictures)
}

/// The chart below its title, which the page writes itself.
fn titled(svg: &str, title: &str) -> String {
    const ROOM: u32 = 30;
    let number = |name: &str| svg.split_once(name)?.1.split('"').next()?.parse::<u32>().ok();
    let (width, height) = (number("width=\"").unwrap_or(0), number("height=\"").unwrap_or(0) + ROOM);
    let RGBColor(red, green, blue) = chart::LIGHT.background;
    let title = shortened(title, 80);
    // So many characters fit at the largest size.
    let size = 14 * 52 / title.chars().count().max(52);
    let title = escape(&title);
    format!(
        "<svg width=\"{width}\" height=\"{height}\" xmlns=\"http://www.w3.org/2000/svg\">\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#{red:02x}{green:02x}{blue:02x}\"/>\
         <text x=\"4\" y=\"20\" font-family=\"sans-serif\" font-weight=\"bold\" font-size=\"{size}\">{title}</text>\
         <g transform=\"translate(0 {ROOM})\">{svg}</g></svg>"
    )
}

fn png(svg: &str, options: &Options<'_>) -> Result<Vec<u8>, String> {
    let tree = Tree::from_str(svg, options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("it has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("it has no size")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

const LONGEST_NAME: usize = 60;

/// Letters, digits and hyphens: the names of tables come from files.
fn file_name(name: &str) -> String {
    name.chars()
        .take(LONGEST_NAME)
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::record;

    #[test]
    fn pictures_show_the_charts() {
        let mut record = record();
        record.tables[0].id = "../T".into();
        for sample in &mut record.samples {
            sample.table = "../T".into();
        }
        let pictures = pictures(&[record]).unwrap();
        assert_eq!(pictures.len(), 1);
        assert_eq!(pictures[0].name, "1-1-1-demo----t");
        let picture = Pixmap::decode_png(&pictures[0].png).unwrap();
        assert_eq!(picture.width(), 920);
        // White, the two colours of the bars, and text.
        let colours: std::collections::BTreeSet<u32> = picture
            .pixels()
            .iter()
            .map(|pixel| u32::from_be_bytes([0, pixel.red(), pixel.green(), pixel.blue()]))
            .collect();
        assert!(colours.contains(&0xff_ffff) && colours.contains(&0xd9_4801), "{colours:x?}");
        assert!(colours.contains(&0x2b_6cb0) && colours.len() > 10, "{colours:x?}");
    }
}
