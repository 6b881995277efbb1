//! The world's currencies (ISO 4217) and countries (ISO 3166-1, and Kosovo's XK).

use crate::error::Error;
use crate::money::{Amount, Money};
use crate::sown::{Fault, sown};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Display;

macro_rules! code {
    ($(#[$about:meta])* $name:ident, $known:expr, $pattern:literal, $words:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
        pub struct $name(String);

        impl $name {
            pub fn into_inner(self) -> String {
                self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let code = String::deserialize(deserializer)?;
                if $known(&code) { Ok(Self(code)) } else { Err(de::Error::custom($words)) }
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "pattern": $pattern})
            }
        }
    };
}

code!(
    /// A currency, by its code of ISO 4217.
    CurrencyCode, |code: &str| Currency::of(code).is_some(), "^[A-Z]{3}$", "must be a currency code of ISO 4217, such as EUR"
);
code!(
    /// A country, by its two letters of ISO 3166.
    CountryCode, is_country, "^[A-Z]{2}$", "must be a country code of ISO 3166, such as DE"
);

const WITH_DECIMALS: [(u32, &str); 4] = [
    (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
    (
        2,
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
    ),
    (3, "BHD IQD JOD KWD LYD OMR TND"),
    (4, "CLF UYW"),
];

/// A currency that there is. Whoever has one knows the decimals of its amounts: there is no amount in a currency that
/// nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Currency {
    decimals: u32,
}

impl Currency {
    /// The currency of a code; `None` for what is no currency.
    pub fn of(code: &str) -> Option<Self> {
        WITH_DECIMALS
            .iter()
            .find(|(_, codes)| listed(codes, code, 3))
            .map(|(decimals, _)| if sown(Fault::TwoDecimalsForAll) { 2 } else { *decimals })
            .map(|decimals| Self { decimals })
    }

    /// The currency of something that was judged when it came in, or stands in the books: `of` says what that is.
    pub fn known(code: &str, of: impl Display) -> Result<Self, Error> {
        Self::of(code).ok_or_else(|| Error::internal(format!("{of} is in {code:?}, which is no currency")))
    }

    /// An amount of it, as it is shown.
    pub const fn amount(self, money: Money) -> Amount {
        Amount { money, currency_decimals: self.decimals }
    }

    /// How many decimals its amounts have.
    pub const fn decimals(self) -> u32 {
        self.decimals
    }
}

/// Every currency and its decimal places.
pub fn all() -> impl Iterator<Item = (&'static str, u32)> {
    WITH_DECIMALS.iter().flat_map(|(decimals, codes)| codes.split(' ').map(move |code| (code, *decimals)))
}

const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";

pub fn is_country(code: &str) -> bool {
    listed(COUNTRIES, code, 2)
}

fn listed(codes: &str, code: &str, length: usize) -> bool {
    code.len() == length && codes.split(' ').any(|known| known == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currencies_have_their_own_decimals() {
        let cases = [
            ("EUR", Some(2)),
            ("JPY", Some(0)),
            ("KWD", Some(3)),
            ("CLF", Some(4)),
            ("eur", None),
            ("EU", None),
            ("", None),
        ];
        for (code, expected) in cases {
            assert_eq!(Currency::of(code).map(Currency::decimals), expected, "{code}");
        }
        let Err(Error::Internal(why)) = Currency::known("EUX", "line 2 of entry 7") else { panic!("nobody knows it") };
        assert!(why.contains("line 2 of entry 7") && why.contains("EUX"), "{why}");
        assert!(is_country("DE") && !is_country("UK") && !is_country("D") && !is_country(" "));
    }
}
