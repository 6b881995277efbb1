//! Money that is received with an invoice.

use super::MoneyAsked;
use super::allocating::AllocationAsked;
use super::method::PaymentMethod;
use crate::document::{self, Draft, Head};
use crate::error::{Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::Money;
use crate::receipt::Receipts;
use books::cx::Cx;
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::{DocumentStatus, documents};

/// Money that is received with an invoice.
pub(crate) async fn receive(
    cx: &Cx<'_>,
    invoice: &documents::Model,
    (account, amount, reference): (RecordId, Money, Option<String>),
) -> Result<()> {
    cx.require(ResourceKey::Receipts, Action::Create)?;
    let content: serde_json::Value = invoice.kept()?;
    let exchange_rate = serde_json::from_value(content["asked"]["exchange_rate"].clone()).map_err(Error::internal)?;
    let draft = Draft {
        head: Head {
            date: invoice.date,
            status: Some(DocumentStatus::Posted),
            number: None,
            series: None,
            reference: reference.or_else(|| invoice.number.clone()),
            narration: None,
            external_id: None,
            tags: Vec::new(),
        },
        asked: MoneyAsked {
            party: cx.aliases()?.of_document(invoice),
            account,
            amount,
            currency: Some(invoice.currency.clone()),
            exchange_rate,
            method: PaymentMethod::Cash,
            allocations: vec![AllocationAsked {
                target: invoice.id,
                target_type: None,
                amount,
                source_amount: None,
                discount: Money::ZERO,
                write_off: Money::ZERO,
                write_off_account: None,
                withheld: Money::ZERO,
                date: None,
            }],
            ..MoneyAsked::default()
        },
    };
    document::create::<Receipts>(cx, &draft).await.map(|_| ()).map_err(|error| match error {
        Error::Validation(faults) => {
            let mut under = FieldErrors::default();
            for (field, messages) in faults.iter() {
                for message in messages {
                    under.add(format!("cashReceipt.{}", field.trim_start_matches("allocations[0].")), message.clone());
                }
            }
            under.into()
        }
        other => other,
    })
}
