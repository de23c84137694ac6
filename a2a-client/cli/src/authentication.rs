//! Options that say who may call an agent that is served.

use std::path::PathBuf;

use a2a_auth::{
    AnyOf, ApiKeys, BasicUsers, ClientCertificate, ConfigError, JwtBearer, RateLimits, Requirement,
};
use a2a_server::ClientAuth;
use clap::Args;

/// Credentials that callers of a served agent need; if there are several, any one of them is enough.
#[derive(Args)]
#[command(next_help_heading = "Credentials that callers need")]
pub(crate) struct AuthenticationArgs {
    /// Accept the API keys in this file, in the header `X-API-Key`: in each line a key and the name of its owner.
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// Accept the names and passwords in this file, as `htpasswd -B` writes it (HTTP Basic).
    #[arg(long, value_name = "FILE")]
    basic: Option<PathBuf>,
    /// Accept the JSON Web Tokens of this OpenID Connect or OAuth issuer.
    #[arg(long, value_name = "URL", requires = "jwt_audience")]
    jwt_issuer: Option<String>,
    /// Name that tokens have for this agent, in `aud`.
    #[arg(long, value_name = "NAME", requires = "jwt_issuer")]
    jwt_audience: Option<String>,
    /// Number of proxies between callers and this server, each of which adds its peer's address to `X-Forwarded-For`:
    /// wrong credentials are limited by the address that they have seen.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    behind_proxies: usize,
}

impl AuthenticationArgs {
    /// Returns the authenticator; `None` if callers need no credentials. A certificate that TLS requires is needed in
    /// addition to other credentials, and a certificate that TLS only requests is an alternative to them.
    pub(crate) fn authenticator(
        &self,
        certificates: Option<ClientAuth>,
    ) -> Result<Option<RateLimits<AnyOf>>, ConfigError> {
        let mut requirements: Vec<Requirement> = Vec::new();
        if let (Some(issuer), Some(audience)) = (&self.jwt_issuer, &self.jwt_audience) {
            requirements.push(("jwt", JwtBearer::discover(issuer, audience)?).into());
        }
        if let Some(file) = &self.api_key_file {
            let keys = ApiKeys::header("X-API-Key")?.file(file)?;
            requirements.push(("apiKey", keys).into());
        }
        if let Some(file) = &self.basic {
            requirements.push(("basic", BasicUsers::file(file)?).into());
        }
        let certificate = || (CERTIFICATE, ClientCertificate::new());
        let needs_others = !requirements.is_empty();
        match certificates {
            Some(ClientAuth::Required) if needs_others => {
                let with_certificate = |requirement: Requirement| {
                    requirement.and(CERTIFICATE, ClientCertificate::new())
                };
                requirements = requirements.into_iter().map(with_certificate).collect();
            }
            Some(ClientAuth::Optional) if !needs_others => {
                let any = AnyOf::new(certificate()).or_anonymous();
                return Ok(Some(self.limited(any)));
            }
            Some(_) => requirements.push(certificate().into()),
            None => {}
        }
        let mut requirements = requirements.into_iter();
        let any = requirements.next().map(AnyOf::new);
        let any = any.map(|first| requirements.fold(first, AnyOf::or));
        Ok(any.map(|any| self.limited(any)))
    }

    fn limited(&self, any: AnyOf) -> RateLimits<AnyOf> {
        RateLimits::new(any).behind_proxies(self.behind_proxies)
    }
}

/// Name of the scheme of certificates on the card.
const CERTIFICATE: &str = "certificate";
