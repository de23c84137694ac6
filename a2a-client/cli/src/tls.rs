//! Options of a server that speaks TLS.

use std::path::PathBuf;

use a2a_server::{ClientAuth, ServerTls};
use clap::{Args, ValueEnum};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// Certificates of the server, and of its callers.
#[derive(Args)]
#[command(next_help_heading = "TLS")]
pub(crate) struct TlsArgs {
    /// Speak TLS with this certificate chain (PEM, the server's own certificate first). May be repeated, each with
    /// its key, for several host names. The files are read again when they change, and on SIGHUP.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Vec<PathBuf>,
    /// Private key of the certificate (PEM, not encrypted).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Vec<PathBuf>,
    /// Request client certificates of the authorities in this file (PEM).
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_key"])]
    client_ca: Option<PathBuf>,
    /// Refuse callers without a client certificate, or let them in.
    #[arg(
        long,
        value_enum,
        default_value = "required",
        requires = "client_ca",
        value_name = "WHICH"
    )]
    client_cert: ClientCert,
}

/// Request for certificates of callers.
#[derive(Clone, Copy, ValueEnum)]
enum ClientCert {
    /// They may show one.
    Optional,
    /// They are refused without one.
    Required,
}

impl TlsArgs {
    /// Returns whether callers must show a certificate; `None` if none is requested.
    pub(crate) fn client_auth(&self) -> Option<ClientAuth> {
        self.client_ca.as_ref()?;
        Some(match self.client_cert {
            ClientCert::Optional => ClientAuth::Optional,
            ClientCert::Required => ClientAuth::Required,
        })
    }

    /// Reads the files; `None` if the server is to speak in the clear.
    pub(crate) fn load(&self) -> Result<Option<ServerTls>, Failure> {
        let (certificates, keys) = (self.tls_cert.len(), self.tls_key.len());
        if certificates != keys {
            return Err(Failure::usage(format!(
                "there are {certificates} --tls-cert and {keys} --tls-key: expected a key for each certificate, in the same order"
            )));
        }
        let mut pairs = self.tls_cert.iter().zip(&self.tls_key);
        let Some((chain, key)) = pairs.next() else {
            return Ok(None);
        };
        let mut builder = ServerTls::builder(chain, key);
        for (chain, key) in pairs {
            builder = builder.certificate(chain, key);
        }
        if let (Some(authorities), Some(client_auth)) = (&self.client_ca, self.client_auth()) {
            builder = builder.client_authorities(authorities, client_auth);
        }
        builder.build().map(Some).map_err(Failure::machine("TLS"))
    }
}

/// Returns a future that reads the files of TLS again on each SIGHUP, and never ends. Signals count from this
/// call on. Without TLS, SIGHUP ends the process as usual.
pub(crate) fn reload_on_hangup(tls: Option<ServerTls>) -> impl Future<Output = ()> {
    #[cfg(unix)]
    let hangups = tls.and_then(|tls| Some((tls, signal(SignalKind::hangup()).ok()?)));
    #[cfg(not(unix))]
    drop(tls);
    async move {
        #[cfg(unix)]
        if let Some((tls, mut hangups)) = hangups {
            while hangups.recv().await.is_some() {
                let tls = tls.clone();
                // The failure is logged.
                let _ = tokio::task::spawn_blocking(move || tls.reload()).await;
            }
        }
        std::future::pending().await
    }
}
