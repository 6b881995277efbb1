//! Each rule can be broken in a build of this suite, one at a time: at least one worked example turns red by it.

#![allow(clippy::print_stdout, reason = "a fault says how it was seen")]

use super::{WORKED, run};
use crate::harness::process::fresh_folder;
use crate::harness::server::DIALECTS;
use crate::harness::{Engine, Options, Server};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use words::sown::Fault;

/// The example that turns red.
#[expect(clippy::too_many_lines, reason = "a line a fault")]
const fn example(fault: Fault) -> &'static str {
    match fault {
        Fault::FeeTakesWhatIsKept => "1.1",
        Fault::WriteOffTakesWhatIsKept => "1.3",
        Fault::TaxIsClaimedAnywhere => "1.4",
        Fault::BillTakesWhatIsKept => "1.7",
        Fault::AdjustmentTakesWhatIsKept => "1.8",
        Fault::JournalTakesWhatIsKept => "1.9",
        Fault::CurrencyOfAccountForgotten => "1.5",
        Fault::PartyOfDebtForgotten => "1.6",
        Fault::RoundedLineByLine | Fault::InclusiveTakenForExclusive | Fault::LastCoinLost => "E8",
        Fault::CompoundOnNet => "E10",
        Fault::RecoverableForgotten => "E17",
        Fault::AnyTaxIsTaken => "2.11",
        Fault::ConvertedPieceByPiece => "2.10",
        Fault::DiscountKeepsItsTax => "2.8",
        Fault::DiscountOfWhatWasCredited => "2.8 credited",
        Fault::CreditKeepsTheDiscount => "2.8 all",
        Fault::GivenBackElsewhere => "2.8 both",
        Fault::CountsBeforeItIsWritten => "2.12 before",
        Fault::WaitsForItsFirstVersion => "2.12 earlier",
        Fault::NothingHidesItsAccount => "2.8 tiny",
        Fault::CarryNeverMoves => "J4",
        Fault::NothingIsOfNoDay => "3.7 given",
        Fault::RowIsItsFact => "2.12 again",
        Fault::GoodsCostLessThanNothing => "3.1 nothing",
        Fault::OpeningNeverCarried => "7.6",
        Fault::ClosedReturnChanges => "J4 closed",
        Fault::TaxOfAnyDay => "2.18",
        Fault::AnythingIsKeptBack => "2.4 bound",
        Fault::SettledIsNotReadBack => "E4a said",
        Fault::CreditStandsElsewhere => "2.3 moved",
        Fault::KeptBackOnTheOtherSide => "2.4 back",
        Fault::EveryComponentLeads => "2.2",
        Fault::ReverseChargeCountsTwice => "2.1",
        Fault::BoxOfSalesForAll => "2.14",
        Fault::OpeningIsTaxed => "2.5",
        Fault::CashCountsWhenInvoiced => "2.12",
        Fault::LapsedIsDue => "2.17",
        Fault::WriteOffTakesOffIncome => "2.9",
        Fault::KeptBackByItself => "2.4 parts",
        Fault::KeptBackAtARate => "2.4 abroad",
        Fault::OffBeyondAll => "2.8 beyond",
        Fault::AsGoodAsHome => "5.5 as good",
        Fault::DiscountJudgedOnce => "2.8 void",
        Fault::SharesWhatWasGivenBack => "2.8 later",
        Fault::NoteKeepsItsDiscount => "2.8 note",
        Fault::RefundTakesNothingOff | Fault::UnsaidForAnotherDay => "2.8 refund",
        Fault::LapsedWaitsForEver => "2.17 lapsed",
        Fault::SentBackIsComputedAnew => "5.4 draft",
        Fault::TakenBackTooSoon => "2.8 early",
        Fault::CarryForgotten => "2.6",
        Fault::LateCostForgotten => "3.1",
        Fault::CancelledNeverWas => "3.9 open",
        Fault::PieceLeavesDust => "4.10",
        Fault::ReturnAtTodaysCost => "4.5",
        Fault::BackBeforeItWent => "4.5 moved",
        Fault::NewestFirst => "3.5 later",
        Fault::OwnLayerForgotten => "3.3",
        Fault::ShortageCostsNothing => "3.10",
        Fault::HoleStaysOpen => "E12",
        Fault::MissingTakenForThere => "3.10 back",
        Fault::CountStandsStill | Fault::LastAdjustmentStandsStill => "3.7 counted",
        Fault::VoidComesAfterTheCount => "3.7 late",
        Fault::CountJudgesNothing | Fault::OvertakenAndAhead => "3.7 behind",
        Fault::StandardTakesWhatWasPaid | Fault::StandardMovesNothing => "3.4",
        Fault::WaitingKeepsItsCost => "3.10 waiting",
        Fault::BilledAtItsOwnPrice => "E14",
        Fault::ShortageJudgedAtTheEnd => "3.7",
        Fault::LandedByNumber => "3.5 layers",
        Fault::FreightWaitsWithNobody => "3.5 early",
        Fault::SnapshotNotDropped => "3.5 evening",
        Fault::ShareTakenTwice => "4.1",
        Fault::VoidKeepsItsShare => "4.4",
        Fault::EndedNeverTook => "6.9",
        Fault::InvoicedWhileAway => "4.10 first",
        Fault::DiscountOfOrderForgotten => "4.8",
        Fault::CreditAtTodaysRate => "4.3",
        Fault::CouponsComeLast => "4.6 coupon",
        Fault::CreditWithoutBound => "4.6",
        Fault::LineBoundByWhole => "4.6 excise",
        Fault::ComputedAsOfNow => "5.4 later",
        Fault::AnyWorthSettles => "4.9 worth",
        Fault::VoidSomeDay => "6.9 some day",
        Fault::SettledRateMoves => "4.9",
        Fault::OriginFallsBelow => "4.7",
        Fault::HalvesGoUp => "5.4",
        Fault::TwoDecimalsForAll => "5.3",
        Fault::RelievedAtTodaysRate => "E5",
        Fault::DiscountOnTheOtherSide => "E18",
        Fault::SoldAtWhatItBrings => "E19",
        Fault::YearEndTurned => "6.1",
        Fault::ClosedYearStaysOpen => "6.2",
        Fault::ClosingVoidLater => "6.2 closing",
        Fault::RevaluationStays => "E20",
        Fault::RevaluationVoidLater => "6.10",
        Fault::RevaluationNotRenewed => "6.7",
        Fault::SettlementIsOperating => "6.4",
        Fault::NonCashForgotten => "6.3",
        Fault::OpeningIsFlow => "6.8",
        Fault::AliasForgotten | Fault::AskedByOldName => "6.5",
        Fault::StatementInBase => "6.6",
        Fault::StageWithoutItsNotes | Fault::FollowersForgotten => "7.1",
        Fault::LineOfChainForgotten => "7.2",
        Fault::BeginsAtPurchasePrice => "7.3",
        Fault::BeginsWithoutAWord => "3.10 unsaid",
        Fault::ReturnFillsAnyHole => "3.10 own",
        Fault::OwedOnlyLater => "3.11 unnamed",
        Fault::SignLosesItsPlace => "3.7 turned",
        Fault::CountLosesItsPlace => "3.7 silent",
        Fault::CountsOfTheDayAreForgotten => "3.7 same",
        Fault::SaidTooLate => "3.10 said",
        Fault::NoteFallsBelow => "3.11 until",
        Fault::EarlyInvoiceForgotten => "3.11 early",
        Fault::ItemsAreAveraged => "7.4",
        Fault::KeeperOfTaxForgotten => "7.5",
    }
}

/// A server in which a file says what is sown.
struct Field {
    server: Server,
    file: PathBuf,
}

impl Field {
    fn new() -> Self {
        let folder = fresh_folder("sown");
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("fault");
        let environment = vec![("DUET_SOWN_FAULT".to_owned(), format!("@{}", file.display()))];
        let options = Options { environment, ..Options::default() };
        Self { server: Server::start_in(Engine::Sqlite, folder, options).expect("SQLite needs nothing"), file }
    }

    fn sow(&self, name: &str) {
        std::fs::write(&self.file, name).expect("a file");
    }
}

/// Why an example turns red, if it does. A server that breaks altogether is red as well.
fn red(server: &Server, number: &str, dialect: crate::harness::Dialect) -> Option<String> {
    let found = WORKED.examples.iter().find(|one| one.numbers.iter().any(|one| one == number));
    let example = found.unwrap_or_else(|| panic!("no example has the number {number}"));
    match catch_unwind(AssertUnwindSafe(|| run::hold(server, dialect, &WORKED, example))) {
        Ok(Ok(())) => None,
        Ok(Err(why)) => Some(why),
        Err(_) => Some(format!("{number} cannot be run")),
    }
}

/// A quarter of them, so that the quarters go side by side.
fn quarter(place: usize) {
    let field = Field::new();
    let mut unseen = Vec::new();
    for (turn, fault) in Fault::ALL.iter().copied().skip(place).step_by(4).enumerate() {
        field.sow(fault.name());
        let why = red(&field.server, example(fault), DIALECTS[turn % DIALECTS.len()]);
        println!("{}: {}", fault.name(), why.as_deref().unwrap_or("green"));
        if why.is_none() {
            unseen.push(fault);
        }
    }
    assert_eq!(unseen, [], "nobody would see these");
    // Nothing is red for another reason.
    field.sow("");
    let last = Fault::ALL.iter().copied().skip(place).step_by(4).map(example).next().expect("a fault");
    assert_eq!(red(&field.server, last, DIALECTS[0]), None);
}

#[test]
fn every_fault_turns_an_example_red_1() {
    quarter(0);
}

#[test]
fn every_fault_turns_an_example_red_2() {
    quarter(1);
}

#[test]
fn every_fault_turns_an_example_red_3() {
    quarter(2);
}

#[test]
fn every_fault_turns_an_example_red_4() {
    quarter(3);
}

/// In a release build there is no way to ask for one: what reads the environment is not compiled, and `sown` is a constant.
#[test]
fn a_release_build_has_no_faults() {
    let text = include_str!("../../crates/words/src/sown.rs");
    let file = syn::parse_file(text).unwrap();
    let functions: Vec<&syn::ItemFn> = file
        .items
        .iter()
        .filter_map(|item| if let syn::Item::Fn(function) = item { Some(function) } else { None })
        .collect();
    let built = |function: &syn::ItemFn| {
        let lists = function.attrs.iter().filter_map(|attribute| attribute.meta.require_list().ok());
        lists.filter(|list| list.path.is_ident("cfg")).map(|list| list.tokens.to_string()).collect::<Vec<_>>()
    };
    let shown: Vec<String> = functions
        .iter()
        .map(|one| {
            let constant = if one.sig.constness.is_some() { "const " } else { "" };
            format!("{constant}{} {:?}", one.sig.ident, built(one))
        })
        .collect();
    let debug = r#"["debug_assertions"]"#;
    let release = r#"["not (debug_assertions)"]"#;
    assert_eq!(shown, [format!("sown {debug}"), format!("const sown {release}"), format!("active {debug}")]);
    assert_eq!((text.matches("std::env").count(), text.matches("std::fs").count()), (1, 1));
    assert!(!include_str!("../../Cargo.toml").contains("debug-assertions"), "release builds have none");
}
