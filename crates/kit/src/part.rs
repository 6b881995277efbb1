//! What one of several operations came to.

use crate::error::{Code, Error};
use crate::operation::ReplyKind;
use serde::{Deserialize, Serialize};

/// What one of several operations came to, in no dialect's words. It is kept for a repetition like any answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    /// What the caller calls it.
    pub id: Option<String>,
    pub came_to: CameTo,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum CameTo {
    Done { kind: ReplyKind, json: String },
    Failed(Failed),
}

impl CameTo {
    /// How long what it answers is.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Done { json, .. } => json.len(),
            Self::Failed(_) => 0,
        }
    }
}

/// How one of several operations failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Failed {
    code: String,
    pub title: String,
    pub errors: Vec<(String, Vec<String>)>,
}

impl Failed {
    pub fn of(error: Error) -> Self {
        let (code, title) = (error.code().to_string(), error.title());
        Self {
            code,
            title,
            errors: error.into_fields().iter().map(|(name, said)| (name.clone(), said.clone())).collect(),
        }
    }

    pub fn code(&self) -> Code {
        Code::ALL.iter().copied().find(|code| code.as_str() == self.code).unwrap_or(Code::Internal)
    }
}
