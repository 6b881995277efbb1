//! Recovery codes: ten, for whoever lost their authenticator. Each is good once, in place of a code of it.

use super::{PLAIN, random_letters};
use crate::error::Result;
use crate::ids::UserId;
use crate::texts::hex;
use ring::hmac;
use sea_orm::ActiveValue::Set;
use sea_orm::PaginatorTrait;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "recovery_codes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// Keyed. A code is random and long, so one round is enough.
    #[sea_orm(primary_key, auto_increment = false)]
    pub digest: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

const COUNT: usize = 10;
/// Five bits each.
const LETTERS: usize = 16;

/// The letters of a code as somebody typed it, where it can be one.
fn plain(typed: &str) -> Option<String> {
    let letters: String =
        typed.chars().filter(|letter| *letter != '-' && !letter.is_whitespace()).collect::<String>().to_lowercase();
    let fits = letters.len() == LETTERS && letters.bytes().all(|letter| PLAIN.contains(&letter));
    fits.then_some(letters)
}

/// What is kept of a code, where the text can be one.
pub fn digest(key: &hmac::Key, user: UserId, typed: &str) -> Option<String> {
    let letters = plain(typed)?;
    Some(hex(hmac::sign(key, format!("recovery\0{user}\0{letters}").as_bytes()).as_ref()))
}

/// New codes, in place of those before. They are shown once.
pub async fn renew(connection: &impl ConnectionTrait, key: &hmac::Key, user: UserId) -> Result<Vec<String>> {
    forget(connection, user).await?;
    let mut codes = Vec::new();
    let mut rows = Vec::new();
    while codes.len() < COUNT {
        let letters = random_letters(PLAIN, LETTERS)?;
        let code = [&letters[..4], &letters[4..8], &letters[8..12], &letters[12..]].join("-");
        let Some(digest) = digest(key, user, &code) else { continue };
        rows.push(ActiveModel { user_id: Set(user), digest: Set(digest) });
        codes.push(code);
    }
    Entity::insert_many(rows).exec_without_returning(connection).await?;
    Ok(codes)
}

/// Uses a code up. Whether there was one is answered.
pub async fn spend(connection: &impl ConnectionTrait, user: UserId, digest: &str) -> Result<bool> {
    Ok(Entity::delete_by_id((user, digest.to_owned())).exec(connection).await?.rows_affected == 1)
}

/// Whether there is such a code.
pub async fn is_good(connection: &impl ConnectionTrait, user: UserId, digest: &str) -> Result<bool> {
    Ok(Entity::find_by_id((user, digest.to_owned())).one(connection).await?.is_some())
}

pub async fn left(connection: &impl ConnectionTrait, user: UserId) -> Result<u64> {
    Ok(Entity::find().filter(Column::UserId.eq(user)).count(connection).await?)
}

pub async fn forget(connection: &impl ConnectionTrait, user: UserId) -> Result<()> {
    Entity::delete_many().filter(Column::UserId.eq(user)).exec(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_taken_as_people_type_it_and_is_its_owners_alone() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"key");
        let of = |user: u128, typed: &str| digest(&key, UserId(Uuid::from_u128(user)), typed);
        let good = of(1, "abcd-efgh-jkmn-pqrs");
        assert!(good.is_some());
        assert_eq!(good, of(1, " ABCD efgh jkmnPQRS "));
        assert_ne!(good, of(2, "abcd-efgh-jkmn-pqrs"));
        for wrong in ["", "492039", "abcd-efgh-jkmn-pqr", "abcd-efgh-jkmn-pqr1", "abcd-efgh-jkmn-pqrst"] {
            assert_eq!(of(1, wrong), None, "{wrong}");
        }
    }
}
