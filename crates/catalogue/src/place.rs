//! Where the books of a tenant are, and how it stands: as texts of the catalogue.

use std::fmt;

/// Where the books of a tenant are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file of its folder, on the one machine that serves it.
    Folder,
    /// In a database of its own, whose address is among its secrets.
    Address,
    /// In a database of a cluster that the configuration names.
    Cluster { cluster: String, database: String },
}

impl Place {
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "folder" => Some(Self::Folder),
            None if text == "address" => Some(Self::Address),
            Some(("cluster", rest)) => {
                let (cluster, database) = rest.split_once('/')?;
                Some(Self::Cluster { cluster: cluster.to_owned(), database: database.to_owned() })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder => f.write_str("folder"),
            Self::Address => f.write_str("address"),
            Self::Cluster { cluster, database } => write!(f, "cluster:{cluster}/{database}"),
        }
    }
}

/// How a tenant stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Active,
    /// Its books are copied to another place: they are read, and not written.
    Moving,
    /// Its books are in two places for a moment: whoever asks waits.
    Switching,
    /// It is not served, by somebody's decision.
    Suspended,
    /// It is being taken out: nobody is answered there any more.
    Removing,
}

impl State {
    pub const ALL: [Self; 5] = [Self::Active, Self::Moving, Self::Switching, Self::Suspended, Self::Removing];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Moving => "moving",
            Self::Switching => "switching",
            Self::Suspended => "suspended",
            Self::Removing => "removing",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == text)
    }
}
