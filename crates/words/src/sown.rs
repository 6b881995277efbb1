//! Faults that are sown into the rules, one at a time: where a worked example does not turn red by one, nobody would see
//! it break.
//!
//! Only a build with debug assertions knows them; there a process takes the one that `DUET_SOWN_FAULT` names. In a release
//! build nothing asks for one: [`sown`] is a constant, and what hangs on it is not compiled.

macro_rules! faults {
    ($($(#[$about:meta])* $name:ident),+ $(,)?) => {
        /// How a rule can be broken.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fault {
            $($(#[$about])* $name),+
        }

        impl Fault {
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// What the environment calls it.
            #[cfg(debug_assertions)]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),+
                }
            }
        }
    };
}

faults! {
    /// A fee goes to an account that a sub-ledger keeps.
    FeeTakesWhatIsKept,
    /// A write-off goes there.
    WriteOffTakesWhatIsKept,
    /// Tax is claimed there.
    TaxIsClaimedAnywhere,
    /// A line of a bill goes there.
    BillTakesWhatIsKept,
    /// The other side of a stock adjustment goes there.
    AdjustmentTakesWhatIsKept,
    /// A journal goes there.
    JournalTakesWhatIsKept,
    /// An account in dollars takes euros.
    CurrencyOfAccountForgotten,
    /// A debt belongs to nobody.
    PartyOfDebtForgotten,
    /// Tax is rounded line by line, whatever the company says.
    RoundedLineByLine,
    /// A compound tax stands on the net alone.
    CompoundOnNet,
    /// All tax can be claimed.
    RecoverableForgotten,
    /// Whatever tax is stated is taken.
    AnyTaxIsTaken,
    /// The coins that rounding leaves are given to nobody.
    LastCoinLost,
    /// A document is converted amount by amount.
    ConvertedPieceByPiece,
    /// What is inside a price is taken for what comes upon it.
    InclusiveTakenForExclusive,
    /// A discount for paying early leaves the tax as it was.
    DiscountKeepsItsTax,
    /// It reduces the tax of what was credited as well.
    DiscountOfWhatWasCredited,
    /// What is credited takes off once more what a discount took.
    CreditKeepsTheDiscount,
    /// Tax on cash basis stands with the tax that is due from its first day.
    CarryNeverMoves,
    /// A row of tax is the fact that happens to tell it first on a day.
    RowIsItsFact,
    /// Goods may cost less than nothing.
    GoodsCostLessThanNothing,
    /// The tax of what was open before these books is due and never carried.
    OpeningNeverCarried,
    /// What settles changes a return of days that are closed.
    ClosedReturnChanges,
    /// Tax counts for any day.
    TaxOfAnyDay,
    /// Whatever is said is kept back.
    AnythingIsKeptBack,
    /// What a body says that is settled is not looked at.
    SettledIsNotReadBack,
    /// The tax of a credit stands where its code says by now.
    CreditStandsElsewhere,
    /// What is kept back of a note is taken for what a supplier was not paid.
    KeptBackOnTheOtherSide,
    /// The base of a line counts once for each component.
    EveryComponentLeads,
    /// A reverse charge counts its base on both sides.
    ReverseChargeCountsTwice,
    /// What is owed on a purchase stands in the box of sales.
    BoxOfSalesForAll,
    /// What was open before these books is taxed by them.
    OpeningIsTaxed,
    /// On cash basis all of a document counts at once.
    CashCountsWhenInvoiced,
    /// Tax that is written off without money is due all the same.
    LapsedIsDue,
    /// What lapsed waits for ever.
    LapsedWaitsForEver,
    /// What a discount takes off the tax of a document is judged when it is given, and never again.
    DiscountJudgedOnce,
    /// A later discount takes a share of what an earlier one took off and a credit gave back.
    SharesWhatWasGivenBack,
    /// What is said no more on the day on which it was said counts for another day than it did.
    UnsaidForAnotherDay,
    /// The discount of a note is judged when it is given, and never again.
    NoteKeepsItsDiscount,
    /// What a refund takes off a credit is nothing to the invoice that it credits.
    RefundTakesNothingOff,
    /// A draft that is sent back as it was read is computed as the company says by now.
    SentBackIsComputedAnew,
    /// A note that writes off takes off what was earned.
    WriteOffTakesOffIncome,
    /// The base of what is kept back is rounded settlement by settlement.
    KeptBackByItself,
    /// On cash basis what counts for a day before its document counts on that day.
    CountsBeforeItIsWritten,
    /// On cash basis tax waits until the first version of its document was written.
    WaitsForItsFirstVersion,
    /// What is given back stands on the account of what was taken off last, though that took no tax.
    NothingHidesItsAccount,
    /// What a credit gives back of a discount and a write-off stands where either did.
    GivenBackElsewhere,
    /// A fact is taken back before it counts.
    TakenBackTooSoon,
    /// A line that only moves tax says nothing of it.
    CarryForgotten,
    /// A receipt that costs more after all costs what it did.
    LateCostForgotten,
    /// What is cancelled later never was.
    CancelledNeverWas,
    /// A piece costs a rounded amount.
    PieceLeavesDust,
    /// What comes back costs what goods cost today.
    ReturnAtTodaysCost,
    /// What comes back may come back before it went.
    BackBeforeItWent,
    /// The newest layer goes first.
    NewestFirst,
    /// What goes back to a supplier goes from the oldest layer.
    OwnLayerForgotten,
    /// What is missing costs nothing until it comes.
    ShortageCostsNothing,
    /// What was missing is never corrected.
    HoleStaysOpen,
    /// What was missing and cost something else when it came is valued like what was there.
    MissingTakenForThere,
    /// What comes late for a time before a count leaves its difference as it was.
    CountStandsStill,
    /// What is remembered of when an item was adjusted last does not follow who adjusts it.
    LastAdjustmentStandsStill,
    /// What is missing behind a count that stays as it was is judged by nobody.
    CountJudgesNothing,
    /// What is void as of the day of a count is gone after it.
    VoidComesAfterTheCount,
    /// At standard cost the stock takes what was paid.
    StandardTakesWhatWasPaid,
    /// A new standard cost leaves what is there as it was.
    StandardMovesNothing,
    /// What waits for its invoice keeps its first cost.
    WaitingKeepsItsCost,
    /// A bill takes its own price off what waits.
    BilledAtItsOwnPrice,
    /// Whether goods are there is judged on the last day alone.
    ShortageJudgedAtTheEnd,
    /// What posts nothing is changed on a closed day.
    NothingIsOfNoDay,
    /// Freight is spread by number where it is by value.
    LandedByNumber,
    /// Freight that is billed before its goods waits with nobody.
    FreightWaitsWithNobody,
    /// A kept evening outlives what changed it.
    SnapshotNotDropped,
    /// What was taken of a line is still there.
    ShareTakenTwice,
    /// What was void keeps its share.
    VoidKeepsItsShare,
    /// What was void as of a later day took nothing until then.
    EndedNeverTook,
    /// What went back may be invoiced.
    InvoicedWhileAway,
    /// Invoices of an order take no discount of it.
    DiscountOfOrderForgotten,
    /// A credit has the exchange rate of its own day.
    CreditAtTodaysRate,
    /// What was taken off is credited after what it was taken off.
    CouponsComeLast,
    /// More than an invoice can be credited of it.
    CreditWithoutBound,
    /// Each line of a credit is bound by the whole invoice, whatever else was credited.
    LineBoundByWhole,
    /// A document is computed as its company says today, whenever it was made.
    ComputedAsOfNow,
    /// Money of another currency settles whatever it is said to.
    AnyWorthSettles,
    /// A document is void from a day that has not come.
    VoidSomeDay,
    /// A settled document changes its rate.
    SettledRateMoves,
    /// An origin falls below what is taken of it.
    OriginFallsBelow,
    /// Halves go up, also where they go to the even coin.
    HalvesGoUp,
    /// All currencies have two decimals.
    TwoDecimalsForAll,
    /// What is settled is relieved at the rate of the money.
    RelievedAtTodaysRate,
    /// What is taken off stands on the other side's account.
    DiscountOnTheOtherSide,
    /// What is kept back of a debt in the company's currency is worth what the rate of the money makes of it.
    KeptBackAtARate,
    /// What is taken off beyond what is left of a document takes more of it in one currency than in the other.
    OffBeyondAll,
    /// A currency that is worth as much as the company's is taken for it.
    AsGoodAsHome,
    /// Money that is sold abroad was carried at what it brings.
    SoldAtWhatItBrings,
    /// What a year earned goes to the wrong side.
    YearEndTurned,
    /// What closes a year is void on a day of the next.
    ClosingVoidLater,
    /// A closed year takes entries.
    ClosedYearStaysOpen,
    /// A revaluation is not taken back.
    RevaluationStays,
    /// A revaluation is void on a day on which nothing of it was left.
    RevaluationVoidLater,
    /// What comes late changes no revaluation.
    RevaluationNotRenewed,
    /// What settles a bill is operating, whatever was bought.
    SettlementIsOperating,
    /// Depreciation is no part of the indirect method.
    NonCashForgotten,
    /// What books begin with is a flow of money.
    OpeningIsFlow,
    /// A merged party stands for itself.
    AliasForgotten,
    /// What is asked by the name of a merged party is asked of nobody.
    AskedByOldName,
    /// A statement in dollars tells the base.
    StatementInBase,
    /// An order is done when it is delivered, whatever is not invoiced yet.
    StageWithoutItsNotes,
    /// What follows an order is not looked for.
    FollowersForgotten,
    /// Of what an order has, the last line is not looked at.
    LineOfChainForgotten,
    /// A story of stock begins at what an item is bought for, whatever its standard cost.
    BeginsAtPurchasePrice,
    /// The story of an item of which nobody said what it costs begins without a word of that.
    BeginsWithoutAWord,
    /// What comes back fills whatever is missing for the longest time.
    ReturnFillsAnyHole,
    /// What goes back to a supplier and names no receipt is owed only once its day is over.
    OwedOnlyLater,
    /// An adjustment that takes out what it put in before loses its place in the day.
    SignLosesItsPlace,
    /// A count that finds nothing has no place in its day.
    CountLosesItsPlace,
    /// A count that found nothing finds something ahead of what was moved before it.
    OvertakenAndAhead,
    /// What a count of the same day will find is judged as it was.
    CountsOfTheDayAreForgotten,
    /// What an item costs that went before anybody said it is never heard.
    SaidTooLate,
    /// A note may become smaller than what was invoiced of it until a later day.
    NoteFallsBelow,
    /// An invoice of an earlier day than the goods that it is of is forgotten behind an evening that was kept.
    EarlyInvoiceForgotten,
    /// Every item is judged as one at its average.
    ItemsAreAveraged,
    /// The chart forgets which accounts hold tax.
    KeeperOfTaxForgotten,
}

/// Whether this fault is sown in this process.
#[cfg(debug_assertions)]
pub fn sown(fault: Fault) -> bool {
    active() == Some(fault)
}

#[cfg(not(debug_assertions))]
pub const fn sown(_: Fault) -> bool {
    false
}

/// The fault that the environment names; after an `@` it names a file that does, so that one process may go through many.
#[cfg(debug_assertions)]
pub fn active() -> Option<Fault> {
    static NAMED: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let named = NAMED.get_or_init(|| std::env::var("DUET_SOWN_FAULT").ok()).as_deref()?;
    let of = |name: &str| Fault::ALL.iter().copied().find(|fault| fault.name() == name.trim());
    match named.strip_prefix('@') {
        Some(file) => of(&std::fs::read_to_string(file).ok()?),
        None => of(named),
    }
}
