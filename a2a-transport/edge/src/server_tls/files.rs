//! Files of TLS, and their contents.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::error::ServerTlsError;

/// Files that the TLS of a server is made of.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// Certificate chains, each with its private key; at least one.
    pub(super) certificates: Vec<(PathBuf, PathBuf)>,
    pub(super) client_authorities: Option<(PathBuf, ClientAuth)>,
}

/// Request for certificates of clients.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ClientAuth {
    /// Clients may show a certificate. One that is not of a trusted authority is refused all the same.
    Optional,
    /// Clients without a certificate of a trusted authority are refused in the handshake.
    Required,
}

/// Contents of all files.
pub(super) struct Contents<'f> {
    pub(super) certificates: Vec<(Content<'f>, Content<'f>)>,
    pub(super) client_authorities: Option<(Content<'f>, ClientAuth)>,
}

/// Content of a file.
pub(super) struct Content<'f> {
    pub(super) file: &'f Path,
    pub(super) bytes: Vec<u8>,
}

pub(super) type Digest = [u8; 32];

impl Files {
    pub(super) fn new(chain: PathBuf, key: PathBuf) -> Self {
        Self {
            certificates: vec![(chain, key)],
            client_authorities: None,
        }
    }

    /// Reads all of them.
    pub(super) fn read(&self) -> Result<Contents<'_>, ServerTlsError> {
        let pairs = self.certificates.iter();
        let pairs = pairs.map(|(chain, key)| Ok((Content::read(chain)?, Content::read(key)?)));
        let authorities = self.client_authorities.as_ref();
        let authorities = authorities.map(|(file, auth)| Ok((Content::read(file)?, *auth)));
        Ok(Contents {
            certificates: pairs.collect::<Result<_, _>>()?,
            client_authorities: authorities.transpose()?,
        })
    }
}

impl Contents<'_> {
    /// Returns a digest of all bytes, by which a change is found: the time of a change says less.
    pub(super) fn digest(&self) -> Digest {
        let pairs = self
            .certificates
            .iter()
            .flat_map(|(chain, key)| [chain, key]);
        let authorities = self.client_authorities.iter().map(|(file, _)| file);
        let mut digest = Sha256::new();
        for content in pairs.chain(authorities) {
            digest.update(content.bytes.len().to_le_bytes());
            digest.update(&content.bytes);
        }
        digest.finalize().into()
    }
}

impl<'f> Content<'f> {
    fn read(file: &'f Path) -> Result<Self, ServerTlsError> {
        let mut bytes = Vec::new();
        let read =
            File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
        let too_large = || io::Error::other(format!("it is larger than {MAX_BYTES} bytes"));
        let read = read.and_then(|length| match length as u64 > MAX_BYTES {
            true => Err(too_large()),
            false => Ok(()),
        });
        match read {
            Ok(()) => Ok(Self { file, bytes }),
            Err(source) => Err(ServerTlsError::Unreadable {
                file: file.to_owned(),
                source,
            }),
        }
    }
}

/// Maximum size of a file: a hundred times what chains and bundles of authorities take.
const MAX_BYTES: u64 = 4 << 20;

impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (chain, _)) in self.certificates.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", chain.display())?;
        }
        Ok(())
    }
}
