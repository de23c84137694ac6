//! Paths of the liveness and readiness probes.

/// Paths of the liveness and readiness probes.
///
/// Any peer may send a GET or HEAD, with any `Host` and without credentials: probes come from machines that
/// know an address and nothing else. The service answers them, even if there are too many connections.
///
/// The probes are made with [`Default`] or [`none`](Self::none), and their fields are set.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Probes {
    /// Path that answers 200 and `alive` for as long as it can answer at all; `/healthz` by default.
    pub alive: Option<String>,
    /// Path that answers 200 and `ready`, or 503 and the reason; `/readyz` by default.
    pub ready: Option<String>,
}

impl Default for Probes {
    fn default() -> Self {
        Self {
            alive: Some("/healthz".to_owned()),
            ready: Some("/readyz".to_owned()),
        }
    }
}

impl Probes {
    /// Returns probes without paths.
    pub fn none() -> Self {
        Self {
            alive: None,
            ready: None,
        }
    }

    /// Returns the probe at a path.
    pub fn at(&self, path: &str) -> Option<Probe> {
        let is = |place: &Option<String>| place.as_deref() == Some(path);
        match path {
            _ if is(&self.alive) => Some(Probe::Alive),
            _ if is(&self.ready) => Some(Probe::Ready),
            _ => None,
        }
    }
}

/// Kind of probe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Probe {
    /// Liveness: the process answers at all.
    Alive,
    /// Readiness: it can answer requests now.
    Ready,
}
