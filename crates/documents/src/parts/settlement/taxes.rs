//! What a settlement does to tax: what is taken off may reduce that of the document, what is kept back is tax.

use super::allocating::is_from_us;
use super::credited::story::Story;
use super::relief::{OffLine, Relief, Taken};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use books::chart::Chart;
use books::cx::Cx;
use books::tax_facts::shown_by;
use rules::exchange::Home;
use rules::posting::{About, Line};
use rules::tax::facts::{TaxDuty, TaxFact, TaxOrigin};
use rules::tax::settlement::{Off, Portion, Settling, bare, kept_back};
use rules::tax::taken_off::{Taking, taken_on, worth};
use schema::tables::open_items;

/// What is settled, and what is taken off beside the money.
pub(crate) struct Told<'t> {
    /// The document that settles.
    pub(crate) source: RecordId,
    pub(crate) target: &'t open_items::Model,
    pub(crate) date: Day,
    pub(crate) taken: &'t Taken,
    /// 1 when the target is a debit.
    pub(crate) sign: i64,
}

impl Told<'_> {
    /// The lines of the settlement with what they tell of tax.
    pub(crate) async fn lines(&self, cx: &Cx<'_>, mut relief: Relief) -> Result<Relief> {
        let settings = &cx.business()?.settings;
        let reduces = [
            (relief.discount.take(), self.taken.discount, settings.discount_reduces_tax, TaxOrigin::Discount),
            (relief.write_off.take(), self.taken.write_off, settings.write_off_reduces_tax, TaxOrigin::WriteOff),
        ];
        let withheld = relief.withheld.take();
        if withheld.is_none() && reduces.iter().all(|(off, _, reduces, _)| off.is_none() || !reduces) {
            return Ok(relief);
        }
        cx.flush().await?;
        let mut story = Story::of(cx, self.target.document_id).await?;
        let settling = story.settling(cx, &self.target.currency, self.date)?;
        let others = story.takings.len();
        let mut off_lines = Vec::new();
        for (off, own, reduces, origin) in reduces {
            if let Some(off) = off.filter(|_| reduces) {
                let stands_on = relief.lines.get(off.place).ok_or_else(no_line)?.account();
                let home =
                    worth(own, (self.taken.settled, relief.target_base), settling.home_coin).map_err(too_large)?;
                let off_amount = Off { own, home };
                let (source, day) = (self.source, self.date);
                story.takings.push(Taking { source, origin, stands_on, day, until: None, off: off_amount });
                off_lines.push(off);
            }
        }
        // What it takes by itself; what others take beside it is followed up.
        let all = taken_on(self.date, &story.steps, &story.takings, &settling).map_err(too_large)?;
        for (place, facts) in all {
            let off = place.checked_sub(others).and_then(|place| off_lines.get(place));
            if let Some(off) = off {
                self.reduce(cx, &mut relief, off, facts).await?;
            }
        }
        if let Some(off) = withheld {
            self.keep_back(cx, &mut relief, &off, &settling).await?;
        }
        Ok(relief)
    }

    /// Puts the taxes off the accounts of tax: what is taken off is less by them.
    async fn reduce(&self, cx: &Cx<'_>, relief: &mut Relief, off: &OffLine, facts: Vec<TaxFact>) -> Result<()> {
        let (chart, home) = (cx.chart().await?, cx.business()?.home());
        let line = relief.lines.get_mut(off.place).ok_or_else(no_line)?;
        let (mut rest, mut bare, mut lines) = (line.amount(), Vec::new(), Vec::new());
        for fact in facts {
            let Some(account) = fact.account.filter(|_| fact.duty != TaxDuty::None) else {
                bare.push(TaxFact { account: None, ..fact });
                continue;
            };
            let tax = posted(&chart, home, account, fact)?;
            rest = rest.checked_sub(tax.amount()).ok_or_else(Error::too_large)?;
            lines.push(tax);
        }
        let less = Line::on(off.to.clone(), home.alone(rest), About::default());
        *line = less.map_err(|why| Error::internal(format!("what is taken off {why}")))?.telling(bare);
        relief.lines.extend(lines);
        Ok(())
    }

    /// What is kept back is tax, of the components that the document shows.
    async fn keep_back(&self, cx: &Cx<'_>, relief: &mut Relief, off: &OffLine, settling: &Settling) -> Result<()> {
        let (chart, taxes, home) = (cx.chart().await?, cx.taxes().await?, cx.business()?.home());
        if off.place >= relief.lines.len() {
            return Err(no_line());
        }
        // In its place stand the lines of the components.
        let line = relief.lines.remove(off.place);
        let from_us = is_from_us(self.target.kind, self.sign);
        // Of a note, what was kept back goes back.
        let goes_back = from_us != (self.sign > 0);
        let bare = bare(from_us, &self.target.currency, self.target.party_id.as_written(), line.account());
        let shown = shown_by(cx, self.target.document_id).await?;
        let amount = Off { own: self.taken.withheld, home: off.home };
        let whole = self.target.amount.size();
        let before = whole.checked_sub(self.target.open.size()).ok_or_else(Error::too_large)?;
        let portion = Portion { before, settled: self.taken.settled, whole };
        let facts = kept_back(&shown, amount, &portion, &bare, settling).map_err(too_large)?;
        let mut lines = Vec::new();
        for fact in facts {
            let fact = if goes_back { fact.reversed(self.date, self.date) } else { fact };
            let code = fact.code.and_then(|id| taxes.get(id));
            let component = code.and_then(|code| code.components.0.iter().find(|one| Some(one.id) == fact.component));
            let own =
                component.and_then(|one| if from_us { one.receivable_account_id } else { one.payable_account_id });
            let account = own.filter(|id| chart.account(*id).is_some()).or(fact.account);
            let account = account.ok_or_else(|| Error::internal("tax is kept back on no account"))?;
            lines.push(posted(&chart, home, account, TaxFact { account: Some(account), ..fact })?);
        }
        relief.lines.extend(lines);
        Ok(())
    }
}

/// The line of a tax, on its account.
fn posted(chart: &Chart, home: Home<'_>, account: RecordId, fact: TaxFact) -> Result<Line> {
    let to = chart.tax(account).map_err(|why| Error::internal(format!("the tax of a settlement {why}")))?;
    let line = fact.posted(to, home).map_err(|why| Error::internal(format!("the tax of a settlement {why}")))?;
    Ok(line.telling(vec![fact]))
}

fn no_line() -> Error {
    Error::internal("a line that there is not")
}

fn too_large(_: rules::tax::figures::TooLarge) -> Error {
    Error::too_large()
}
