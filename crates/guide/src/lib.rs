//! The guide: Markdown that reads well where the sources are looked at, and becomes pages of the server.
//!
//! Owns: the pages, their order, and how a link reads in both places. Refuses: HTML within the Markdown, and every fact of
//! its own about the server; the suites run what the pages tell people to type.

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

/// A page, by the name of its file; the first has none and leads to all others.
pub struct Page {
    pub name: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

macro_rules! pages {
    ($($name:literal: $title:literal),* $(,)?) => {
        /// In the order in which they are read.
        pub const PAGES: &[Page] = &[
            Page { name: "", title: "Guide", text: include_str!("../pages/README.md") },
            $(Page { name: $name, title: $title, text: include_str!(concat!("../pages/", $name, ".md")) },)*
        ];
    };
}

pages! {
    "start": "The first five minutes",
    "api": "The API",
    "accounting": "What posts where",
    "operating": "Operating a server",
    "available": "High availability",
    "distributing": "On many machines",
    "migrating": "Coming from elsewhere",
    "promises": "What you can rely on",
    "releases": "Releases",
    "architecture": "How it is built",
    "contributing": "How to change it",
}

/// A picture that pages show: a PNG, below `pictures`.
pub struct Picture {
    pub name: &'static str,
    pub bytes: &'static [u8],
}

macro_rules! pictures {
    ($($name:literal),* $(,)?) => {
        pub const PICTURES: &[Picture] =
            &[$(Picture { name: $name, bytes: include_bytes!(concat!("../pages/pictures/", $name)) }),*];
    };
}

pictures!["home.png", "invoice.png", "report.png", "phone.png"];

/// What works on a page that is served: it names this server, and what is to be typed can be taken along.
pub const SCRIPT: &str = include_str!("guide.js");

/// How the pages name a server: as somebody does who has just started one.
pub const SERVER: &str = "http://127.0.0.1:5000";

/// A page as HTML, with the ways to those before and after it. `base` is where the first one is served.
pub fn html(page: &Page, base: &str) -> String {
    let (text, sections) = body(page.text, base);
    let place = PAGES.iter().position(|one| one.name == page.name);
    let beside = |place: Option<usize>, word: &str, relation: &str| {
        let other = PAGES.get(place?)?;
        let (path, title) = (path(base, other.name), escape(other.title));
        Some(format!("<a rel=\"{relation}\" href=\"{path}\"><small>{word}</small> {title}</a>\n"))
    };
    let before = beside(place.and_then(|place| place.checked_sub(1)), "Before this", "prev").unwrap_or_default();
    let after = beside(place.map(|place| place + 1), "Read on", "next").unwrap_or_default();
    format!(
        "<div class=\"guide\">\n<main>\n{text}\
         <nav class=\"beside-pages\" aria-label=\"Before and after\">\n{before}{after}</nav>\n</main>\n{}</div>",
        contents(&sections)
    )
}

fn path(base: &str, name: &str) -> String {
    if name.is_empty() { base.to_owned() } else { format!("{base}/{name}") }
}

/// What stands on a page, beside it.
fn contents(sections: &[Section]) -> String {
    let entry = |section: &Section| format!("<li><a href=\"#{}\">{}</a></li>\n", section.id, escape(&section.title));
    let entries: String = sections.iter().filter(|one| one.level == HeadingLevel::H2).map(entry).collect();
    // A page of one section needs no list of them.
    if sections.iter().filter(|one| one.level == HeadingLevel::H2).count() < 2 {
        return String::new();
    }
    format!("<nav class=\"contents\" aria-label=\"On this page\">\n<p>On this page</p>\n<ul>\n{entries}</ul>\n</nav>\n")
}

struct Section {
    level: HeadingLevel,
    id: String,
    title: String,
}

/// A text as HTML, and its headings.
fn body(text: &str, base: &str) -> (String, Vec<Section>) {
    let events: Vec<Event> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut sections = sections(&events);
    let mut ids = sections.iter().map(|section| CowStr::from(section.id.clone())).collect::<Vec<_>>().into_iter();
    let (mut open, mut written) = (Vec::new(), None);
    let served = events.into_iter().map(|event| match event {
        // A heading has the name that a link on a forge would use.
        Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
            Event::Start(Tag::Heading { level, id: ids.next(), classes, attrs })
        }
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let here = lead(&dest_url, base);
            open.push(here.is_some());
            // An address that stands there by itself is the one of this server.
            written = here.clone().filter(|_| link_type == LinkType::Autolink);
            match here {
                Some(here) => Event::Start(Tag::Link { link_type, dest_url: here.into(), title, id }),
                // The sources are not served: their place stands there, and leads nowhere.
                None => Event::InlineHtml(format!("<span class=\"source\" title=\"{}\">", escape(&dest_url)).into()),
            }
        }
        Event::End(TagEnd::Link) => match open.pop() {
            Some(false) => Event::InlineHtml("</span>".into()),
            _ => Event::End(TagEnd::Link),
        },
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = dest_url
                .strip_prefix("pictures/")
                .map_or(dest_url.clone(), |name| CowStr::from(format!("{base}/pictures/{name}")));
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        Event::Text(text) => Event::Text(written.take().map_or(text, CowStr::from)),
        // Nothing in a page is HTML but what is made here.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut made = String::with_capacity(text.len() * 2);
    html::push_html(&mut made, served);
    // Above a column of names stands nothing, which is no heading.
    let made = made.replace("<th></th>", "<td></td>").replace("<th>", "<th scope=\"col\">");
    // What is wide is moved by itself, also by who has no mouse.
    let made = made.replace("<pre>", "<pre tabindex=\"0\">");
    let made =
        made.replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>").replace("</table>", "</table></div>");
    sections.retain(|section| section.level != HeadingLevel::H1);
    (made, sections)
}

/// Where a link of a page leads when it is served; nothing where it leads into the sources.
fn lead(link: &str, base: &str) -> Option<String> {
    if let Some(rest) = link.strip_prefix(SERVER) {
        return Some(if rest.is_empty() { "/".to_owned() } else { rest.to_owned() });
    }
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let (file, place) = link.split_once('#').map_or((link, ""), |(file, place)| (file, place));
    let name = file.strip_suffix(".md").filter(|name| !name.contains('/'))?;
    let name = if name == "README" { "" } else { name };
    let place = if place.is_empty() { String::new() } else { format!("#{place}") };
    Some(path(base, name) + &place)
}

fn sections(events: &[Event]) -> Vec<Section> {
    let (mut found, mut used): (Vec<Section>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
    let mut open: Option<(HeadingLevel, String)> = None;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => open = Some((*level, String::new())),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, title)) = &mut open {
                    title.push_str(text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, title)) = open.take() {
                    let id = anchor(&title);
                    let times = used.entry(id.clone()).or_default();
                    let id = if *times == 0 { id } else { format!("{id}-{times}") };
                    *times += 1;
                    found.push(Section { level, id, title });
                }
            }
            _ => {}
        }
    }
    found
}

/// The name of a heading, as forges make it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Every link of a Markdown text, as it stands there.
pub fn links(text: &str) -> Vec<String> {
    let of = |event| match event {
        Event::Start(Tag::Link { link_type, dest_url, .. }) if link_type != LinkType::Email => {
            Some(dest_url.to_string())
        }
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    };
    Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(of).collect()
}

/// The names that links may have within a text, by the same rule as the pages.
pub fn anchors(text: &str) -> Vec<String> {
    let events: Vec<Event> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    sections(&events).into_iter().map(|section| section.id).collect()
}

/// A block between fences: the words behind the fence, and what stands in it.
pub struct Block {
    pub kind: String,
    pub text: String,
}

/// The fenced blocks of a text, in their order.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut within = false;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(kind))) => {
                found.push(Block { kind: kind.to_string(), text: String::new() });
                within = true;
            }
            Event::End(TagEnd::CodeBlock) => within = false,
            Event::Text(text) if within => {
                if let Some(block) = found.last_mut() {
                    block.text.push_str(&text);
                }
            }
            _ => {}
        }
    }
    found
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_its_page_and_the_sources_are_not_served() {
        for (link, here) in [
            ("api.md", Some("/docs/api")),
            ("api.md#paging", Some("/docs/api#paging")),
            ("README.md", Some("/docs")),
            ("#paging", Some("#paging")),
            ("http://127.0.0.1:5000/errors", Some("/errors")),
            ("http://127.0.0.1:5000", Some("/")),
            ("../../../SECURITY.md", None),
            ("../../../config/appsettings.json", None),
        ] {
            assert_eq!(lead(link, "/docs").as_deref(), here, "{link}");
        }
        let (made, _) = body("[the map](../../x.md \"t\") and [more](api.md)", "/docs");
        assert_eq!(
            made,
            "<p><span class=\"source\" title=\"../../x.md\">the map</span> and <a href=\"/docs/api\">more</a></p>\n"
        );
    }

    #[test]
    fn an_address_of_the_server_is_that_of_this_one() {
        let (made, _) = body("<http://127.0.0.1:5000/errors> and [codes](http://127.0.0.1:5000/errors)", "/docs");
        assert_eq!(made, "<p><a href=\"/errors\">/errors</a> and <a href=\"/errors\">codes</a></p>\n");
    }

    #[test]
    fn what_is_html_in_a_page_is_shown_and_not_believed() {
        let (made, _) = body("<script>x</script>\n\nand <b>this</b>", "/docs");
        assert!(!made.contains("<script") && !made.contains("<b>"), "{made}");
    }

    #[test]
    fn headings_are_named_as_forges_name_them_and_never_twice() {
        let (made, sections) = body("# T\n## `ETag`, and If-Match\n## Money\n## Money\n", "/docs");
        let ids: Vec<&str> = sections.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["etag-and-if-match", "money", "money-1"]);
        assert!(ids.iter().all(|id| made.contains(&format!("<h2 id=\"{id}\">"))), "{made}");
    }

    #[test]
    fn every_page_leads_to_the_one_before_and_the_one_after() {
        for (place, page) in PAGES.iter().enumerate() {
            let shown = html(page, "/docs");
            for (other, relation) in [(place.checked_sub(1), "prev"), (Some(place + 1), "next")] {
                let Some(other) = other.and_then(|place| PAGES.get(place)) else { continue };
                let link = format!("<a rel=\"{relation}\" href=\"{}\">", path("/docs", other.name));
                assert!(shown.contains(&link), "{} and {}", page.name, other.name);
            }
            assert!(page.text.starts_with("# "), "{} begins with its title", page.name);
        }
    }

    #[test]
    fn blocks_are_told_in_their_order_with_their_kind() {
        let found = blocks("```sh\ncurl a\ncurl b\n```\ntext\n\n```text\nx\n```\n");
        let found: Vec<_> = found.iter().map(|one| (one.kind.as_str(), one.text.as_str())).collect();
        assert_eq!(found, [("sh", "curl a\ncurl b\n"), ("text", "x\n")]);
    }
}
