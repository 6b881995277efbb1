//! A report as comma-separated values, safe to open in a spreadsheet.

use super::sheet::{Cell, Row, Sheet};

/// Row by row, those below a row after it, each with its depth and type before its values.
pub(super) fn written(sheet: &Sheet) -> String {
    let mut text = head(sheet);
    write_rows(&mut text, &sheet.rows);
    text
}

pub(super) fn head(sheet: &Sheet) -> String {
    let mut text = String::new();
    let own = ["level", "type", "label"].into_iter().map(str::to_owned);
    line(&mut text, own.chain(sheet.columns.iter().map(|column| defused(&column.label))));
    text
}

pub(super) fn write_rows(text: &mut String, rows: &[Row]) {
    for row in rows {
        let own = [row.level.to_string(), row.r#type.to_string(), defused(&row.label)];
        line(text, own.into_iter().chain(row.values.iter().map(cell)));
        write_rows(text, &row.children);
    }
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            text.push(',');
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            text.push('"');
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(&cell);
        }
    }
    text.push_str("\r\n");
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Amount(amount) => amount.money.with_decimals(amount.currency_decimals),
        Cell::Quantity(quantity) => quantity.to_string(),
        Cell::Price(price) => price.to_string(),
        Cell::Percent(percent) => percent.to_string(),
        Cell::Count(count) => count.to_string(),
        Cell::Day(day) => day.to_string(),
        Cell::Text(text) => defused(text),
        Cell::Nothing => String::new(),
    }
}

/// A text that a spreadsheet would take for a formula is shown as what it is.
fn defused(text: &str) -> String {
    // Where a semicolon separates, what stands behind it begins a cell; and signs of a full width are signs.
    let begins = text.strip_prefix(';').unwrap_or(text);
    let is_formula = begins.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    if is_formula { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::sheet::{Column, Own, RowType};
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_defused() {
        let below = Row {
            key: "b".into(),
            r#type: RowType::Account,
            label: "=HYPERLINK(\"x\")".into(),
            level: 1,
            values: vec![Cell::Text("+49 40, Hamburg".into())],
            ..Row::default()
        };
        let sheet = Sheet {
            columns: vec![Column::of("amount", "Amount, in EUR")],
            rows: vec![Row {
                label: "Café \"Süd\"".into(),
                values: vec![Own(2).cell(-1_234_500)],
                children: vec![below],
                ..Row::default()
            }],
            ..Sheet::default()
        };
        let wanted = "level,type,label,\"Amount, in EUR\"\r\n0,section,\"Café \"\"Süd\"\"\",-123.45\r\n\
                      1,account,\"'=HYPERLINK(\"\"x\"\")\",\"'+49 40, Hamburg\"\r\n";
        assert_eq!(written(&sheet), wanted);
        for text in [";=1", "＝1", "@SUM(1)"] {
            assert_eq!(defused(text), format!("'{text}"));
        }
        assert_eq!(defused("a;=1"), "a;=1");
    }
}
