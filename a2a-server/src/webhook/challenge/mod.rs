//! Challenge: a receiver proves that it wants to be called.

use a2a_transport::webhook::CHALLENGE;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::exchange::{Answer, get};
use super::outcome::Reason;
use super::refusal::Refusal;
use super::sender::{MAX_ATTEMPT_TIME, WebhookSender};

impl WebhookSender {
    /// Asks a webhook to repeat a random text before any notification is sent to it; only the owner
    /// of the webhook can make it do so. 0.1 expects this of agents when a webhook is registered.
    pub(crate) async fn challenge(&self, url: &str) -> Result<(), Refusal> {
        match self.repeats(url).await {
            Ok(true) => Ok(()),
            Err(Reason::Refused(refusal)) => Err(refusal),
            Ok(false) | Err(_) => Err(Refusal::Unverified),
        }
    }

    async fn repeats(&self, url: &str) -> Result<bool, Reason> {
        let mut target = self.policy.check(url)?;
        let token = Uuid::new_v4().simple().to_string();
        target.url.query_pairs_mut().append_pair(CHALLENGE, &token);
        let deadline = Instant::now() + MAX_ATTEMPT_TIME;
        let repeats = timeout_at(deadline, async {
            let slot = self.slots.take(&target.host).await;
            let _slot = slot.ok_or(Reason::Busy)?;
            let mut answer = self.connector.ask(&target, get()).await?;
            let repeated = is_text(&answer)
                && answer
                    .body(MAX_ANSWER)
                    .await
                    .is_some_and(|body| body.trim_ascii() == token.as_bytes());
            Ok(repeated)
        });
        repeats.await.unwrap_or(Err(Reason::Timeout))
    }
}

fn is_text(answer: &Answer) -> bool {
    let response = &answer.response;
    let media_type = response.headers().get(CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|text| text.split(';').next());
    response.status() == StatusCode::OK
        && essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/plain"))
}

/// Maximum bytes of an answer that should contain nothing but the token.
const MAX_ANSWER: usize = 4096;

#[cfg(test)]
mod tests;
