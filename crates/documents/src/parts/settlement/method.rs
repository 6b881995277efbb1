//! How money moves, and how much of it settles something.

use crate::wire_enum;

wire_enum! {
    /// How money moves.
    pub enum PaymentMethod {
        Cash = "cash",
        #[default]
        BankTransfer = "bankTransfer",
        Card = "card",
        Cheque = "cheque",
        Online = "online",
        Other = "other",
    }
}

wire_enum! {
    /// How much of it settles something.
    pub enum AllocationStatus {
        #[default]
        Unallocated = "unallocated",
        PartiallyAllocated = "partiallyAllocated",
        Allocated = "allocated",
    }
}
