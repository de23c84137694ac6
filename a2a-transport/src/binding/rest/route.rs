//! Routes: the operation of a method and a path, and back.

use std::borrow::Cow;

use a2a_types::reading::Mode;
use a2a_types::{Operation, ProtocolVersion};
use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Route of a request: the operation, and what its path names.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Route {
    /// The operation.
    pub operation: Operation,
    /// The protocol version: the paths of 0.3 begin with `/v1`.
    pub protocol_version: ProtocolVersion,
    /// The tenant, from paths of 1.0 that begin with one.
    pub tenant: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// The push notification config.
    pub config: Option<String>,
}

/// Reason for which a request has no route.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NoRoute {
    /// There is nothing at that path.
    Path,
    /// The path is known, and takes other methods: the value of an `Allow` header.
    Method(String),
}

/// Methods and path of an operation; the first method is the one that the client uses.
struct Row(Operation, &'static [Method], &'static str);

/// Specification 1.0 §5.3 and §11.3. Its text subscribes by POST and its proto by GET, so both do.
#[rustfmt::skip]
const ROUTES: &[Row] = &[
    Row(Operation::SendMessage, &[Method::POST], "message:send"),
    Row(Operation::SendStreamingMessage, &[Method::POST], "message:stream"),
    Row(Operation::ListTasks, &[Method::GET], "tasks"),
    Row(Operation::GetTask, &[Method::GET], "tasks/{task}"),
    Row(Operation::CancelTask, &[Method::POST], "tasks/{task}:cancel"),
    Row(Operation::SubscribeToTask, &[Method::POST, Method::GET], "tasks/{task}:subscribe"),
    Row(Operation::CreateTaskPushNotificationConfig, &[Method::POST], "tasks/{task}/pushNotificationConfigs"),
    Row(Operation::ListTaskPushNotificationConfigs, &[Method::GET], "tasks/{task}/pushNotificationConfigs"),
    Row(Operation::GetTaskPushNotificationConfig, &[Method::GET], "tasks/{task}/pushNotificationConfigs/{config}"),
    Row(Operation::DeleteTaskPushNotificationConfig, &[Method::DELETE], "tasks/{task}/pushNotificationConfigs/{config}"),
    Row(Operation::GetExtendedAgentCard, &[Method::GET], "extendedAgentCard"),
];

/// The verbs behind the id of a task.
const VERBS: [&str; 2] = [":cancel", ":subscribe"];

/// First segment of the paths of 0.3.
const PREFIX_0_3: &str = "v1";

/// Segments in 0.3 by their 1.0 name: its own card, a typo of its first proto, the name before 0.2.5.
const SEGMENTS_0_3: &[(&str, &str)] = &[
    ("card", "extendedAgentCard"),
    ("task", "tasks"),
    ("pushNotifications", "pushNotificationConfigs"),
];

impl Route {
    /// Finds the route of a request: `path` is what follows the URL of the agent, `version` the protocol
    /// version that the request names. A request that names none is treated as 0.3 (1.0 §3.6.2), which has no
    /// path of 1.0; a lenient reader goes by the path.
    pub fn find(
        method: &Method,
        path: &str,
        version: Option<ProtocolVersion>,
        mode: Mode,
    ) -> Result<Self, NoRoute> {
        let version = match mode {
            Mode::Strict => version.or(Some(ProtocolVersion::V0_3)),
            _ => version,
        };
        let segments: Vec<_> = path.trim_matches('/').split('/').collect();
        if segments
            .iter()
            .any(|segment| is_dots(&decode_plain(segment)))
        {
            return Err(NoRoute::Path);
        }
        let later =
            version.is_none_or(|protocol_version| protocol_version == ProtocolVersion::V1_0);
        let unprefixed = if later {
            ProtocolVersion::V1_0
        } else {
            ProtocolVersion::V0_3
        };
        if version != Some(ProtocolVersion::V1_0)
            && let [PREFIX_0_3, rest @ ..] = segments.as_slice()
        {
            let named: Vec<_> = rest.iter().copied().map(of_0_3).collect();
            let found = Self::at(method, &named, ProtocolVersion::V0_3);
            if found != Err(NoRoute::Path) {
                return found;
            }
        }
        if mode == Mode::Strict && !later {
            return Err(NoRoute::Path);
        }
        let plain = Self::at(method, &segments, unprefixed);
        if plain != Err(NoRoute::Path) || !later {
            return plain;
        }
        let [tenant, rest @ ..] = segments.as_slice() else {
            return plain;
        };
        let tenant = decode(tenant).filter(|tenant| !tenant.is_empty());
        Ok(Self {
            tenant: Some(tenant.ok_or(NoRoute::Path)?),
            ..Self::at(method, rest, ProtocolVersion::V1_0)?
        })
    }

    fn at(
        method: &Method,
        segments: &[&str],
        protocol_version: ProtocolVersion,
    ) -> Result<Self, NoRoute> {
        let mut allowed: Vec<&str> = Vec::new();
        for Row(operation, methods, template) in ROUTES {
            let Some((task, config)) = fit(template, segments) else {
                continue;
            };
            if methods.contains(method) {
                return Ok(Self {
                    operation: *operation,
                    protocol_version,
                    tenant: None,
                    task,
                    config,
                });
            }
            allowed.extend(methods.iter().map(Method::as_str));
        }
        match allowed.is_empty() {
            true => Err(NoRoute::Path),
            false => Err(NoRoute::Method(allowed.join(", "))),
        }
    }

    /// Returns the method and path of an operation in a protocol version, below the URL of the agent.
    pub(super) fn write(
        operation: Operation,
        protocol_version: ProtocolVersion,
        task: &str,
        config: &str,
    ) -> (Method, String) {
        let row = ROUTES.iter().find(|Row(known, ..)| *known == operation);
        let Row(_, methods, template) = row.expect("every operation has a row");
        let template = match (protocol_version, operation) {
            (ProtocolVersion::V1_0, _) => format!("/{template}"),
            (_, Operation::GetExtendedAgentCard) => format!("/{PREFIX_0_3}/card"),
            _ => format!("/{PREFIX_0_3}/{template}"),
        };
        let path = template
            .replace("{task}", &encode(task))
            .replace("{config}", &encode(config));
        (methods[0].clone(), path)
    }
}

/// Returns the ids in a path, or `None` if it does not match the template.
fn fit(template: &str, segments: &[&str]) -> Option<(Option<String>, Option<String>)> {
    let (mut task, mut config) = (None, None);
    let mut expected = template.split('/');
    for segment in segments {
        match expected.next()? {
            "{config}" => config = Some(decode(segment)?),
            form => match form.strip_prefix("{task}") {
                Some("") if VERBS.iter().any(|verb| segment.ends_with(verb)) => return None,
                Some(verb) => task = Some(decode(segment.strip_suffix(verb)?)?),
                None if form == decode_plain(segment) => {}
                None => return None,
            },
        }
    }
    let ids = [&task, &config];
    let named = ids.into_iter().flatten().all(|id| !id.is_empty());
    (expected.next().is_none() && named).then_some((task, config))
}

fn of_0_3(segment: &str) -> &str {
    let renamed = SEGMENTS_0_3.iter().find(|(old, _)| *old == segment);
    renamed.map_or(segment, |(_, new)| new)
}

fn decode(segment: &str) -> Option<String> {
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    Some(text.into_owned())
}

/// Decodes a segment: some clients encode the colon of `message:send`.
fn decode_plain(segment: &str) -> Cow<'_, str> {
    percent_decode_str(segment).decode_utf8_lossy()
}

/// Returns whether a segment means its folder or the one above (RFC 3986 §5.2.4), encoded or not: proxies
/// resolve it, so it names nothing.
pub(super) fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}

fn encode(id: &str) -> String {
    utf8_percent_encode(id, RESERVED).to_string()
}

/// Characters to encode: all but the unreserved ones of RFC 3986 §2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;
    use Operation::*;

    #[track_caller]
    fn check(
        verb: &str,
        path: &str,
        version: Option<ProtocolVersion>,
        expected: Result<&Route, NoRoute>,
    ) {
        let method = Method::from_bytes(verb.as_bytes()).unwrap();
        let found = Route::find(&method, path, version, Mode::Lenient);
        assert_eq!(
            found.as_ref(),
            expected.as_ref().map(|route| *route),
            "{verb} {path}"
        );
    }

    fn route(operation: Operation, protocol_version: ProtocolVersion) -> Route {
        Route {
            operation,
            protocol_version,
            tenant: None,
            task: None,
            config: None,
        }
    }

    fn on_task(operation: Operation, protocol_version: ProtocolVersion, task: &str) -> Route {
        Route {
            task: Some(task.to_owned()),
            ..route(operation, protocol_version)
        }
    }

    const V0_3: ProtocolVersion = ProtocolVersion::V0_3;
    const V1_0: ProtocolVersion = ProtocolVersion::V1_0;

    #[test]
    fn every_operation_is_found_where_it_is_written() {
        for &operation in Operation::ALL {
            for protocol_version in [V0_3, V1_0] {
                let (method, path) =
                    Route::write(operation, protocol_version, "t/1 :cancel", "c%:");
                let found = Route::find(&method, &path, None, Mode::Lenient).unwrap();
                assert_eq!(
                    (found.operation, found.protocol_version),
                    (operation, protocol_version),
                    "{path}"
                );
                let ids = [found.task, found.config];
                for (id, sent) in ids.into_iter().zip(["t/1 :cancel", "c%:"]) {
                    assert!(id.is_none_or(|id| id == sent), "{path}");
                }
            }
        }
    }

    #[test]
    fn paths_map_to_operations() {
        check("POST", "/message:send", None, Ok(&route(SendMessage, V1_0)));
        check(
            "POST",
            "/message%3Asend/",
            None,
            Ok(&route(SendMessage, V1_0)),
        );
        check(
            "POST",
            "/v1/message:send",
            None,
            Ok(&route(SendMessage, V0_3)),
        );
        check("GET", "/tasks/", None, Ok(&route(ListTasks, V1_0)));
        check(
            "GET",
            "/tasks/urn:x:1",
            None,
            Ok(&on_task(GetTask, V1_0, "urn:x:1")),
        );
        check(
            "GET",
            "/v1/card",
            None,
            Ok(&route(GetExtendedAgentCard, V0_3)),
        );
        for verb in ["GET", "POST"] {
            check(
                verb,
                "/v1/tasks/t:subscribe",
                None,
                Ok(&on_task(SubscribeToTask, V0_3, "t")),
            );
            check(
                verb,
                "/tasks/t:subscribe",
                None,
                Ok(&on_task(SubscribeToTask, V1_0, "t")),
            );
        }
        let create = on_task(CreateTaskPushNotificationConfig, V0_3, "t");
        for path in [
            "task/t/pushNotificationConfigs",
            "tasks/t/pushNotifications",
        ] {
            check("POST", &format!("/v1/{path}"), None, Ok(&create));
        }
    }

    #[test]
    fn tenant_in_path_is_read() {
        let of = |tenant: &str, route: Route| Route {
            tenant: Some(tenant.to_owned()),
            ..route
        };
        check(
            "POST",
            "/acme/message:send",
            None,
            Ok(&of("acme", route(SendMessage, V1_0))),
        );
        check(
            "GET",
            "/a%20b/tasks/t",
            None,
            Ok(&of("a b", on_task(GetTask, V1_0, "t"))),
        );
        // A caller that names version 1.0 may have a tenant of that name.
        check(
            "GET",
            "/v1/tasks",
            Some(V1_0),
            Ok(&of("v1", route(ListTasks, V1_0))),
        );
        check("GET", "/v1/tasks", None, Ok(&route(ListTasks, V0_3)));
        check("GET", "/tasks", Some(V0_3), Ok(&route(ListTasks, V0_3)));
        check("GET", "/acme/tasks", Some(V0_3), Err(NoRoute::Path));
    }

    #[test]
    fn unknown_path_and_wrong_method_are_refused() {
        let other = |allowed: &str| Err(NoRoute::Method(allowed.to_owned()));
        check("GET", "/", None, Err(NoRoute::Path));
        check("GET", "/tasks//", None, Ok(&route(ListTasks, V1_0)));
        check("GET", "/a/b/tasks", None, Err(NoRoute::Path));
        check("POST", "//message:send/x", None, Err(NoRoute::Path));
        check("GET", "/message:send", None, other("POST"));
        check("GET", "/tasks/t:cancel", None, other("POST"));
        check("PUT", "/tasks/t:subscribe", None, other("POST, GET"));
        check(
            "PATCH",
            "/tasks/t/pushNotificationConfigs",
            None,
            other("POST, GET"),
        );
        check("GET", "/tasks/%ff", None, Err(NoRoute::Path));
        check("GET", "/tasks/:cancel", None, Err(NoRoute::Path));
    }

    #[test]
    fn dot_segments_name_nothing() {
        for version in [None, Some(V0_3), Some(V1_0)] {
            for path in [
                "/../tasks",
                "/./tasks",
                "/%2e%2E/tasks/t",
                "/.%2e/tasks",
                "/tasks/..",
                "/tasks/%2e",
                "/v1/../tasks",
                "/v1/tasks/..",
                "/tasks/t/pushNotificationConfigs/..",
            ] {
                check("GET", path, version, Err(NoRoute::Path));
            }
        }
        let tenant = Route {
            tenant: Some("...".to_owned()),
            ..route(ListTasks, V1_0)
        };
        check("GET", "/.../tasks", None, Ok(&tenant));
    }

    #[test]
    fn strictly_a_path_of_1_0_needs_the_version() {
        let find = |path, version| Route::find(&Method::GET, path, version, Mode::Strict);
        assert_eq!(find("/tasks", None), Err(NoRoute::Path));
        assert_eq!(find("/tasks", Some(V0_3)), Err(NoRoute::Path));
        assert_eq!(find("/tasks", Some(V1_0)), Ok(route(ListTasks, V1_0)));
        assert_eq!(find("/v1/tasks", None), Ok(route(ListTasks, V0_3)));
    }
}
