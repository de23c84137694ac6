//! Listing of tasks.

use a2a_client::{Client, Error};
use a2a_types::{ErrorKind, ListTasksRequest, ProtocolVersion, TaskState};

use crate::operations::{CommandAgent, assert_kind, clients, task};

const LISTING: &[ProtocolVersion] = &[ProtocolVersion::V0_3, ProtocolVersion::V1_0];

async fn ids(client: &Client, params: ListTasksRequest) -> Vec<String> {
    let list = client.list_tasks(params).await.unwrap();
    list.tasks
        .into_iter()
        .map(|task| String::from(task.id))
        .collect()
}

#[tokio::test]
async fn pages_follow_each_other_whatever_is_added() {
    for (protocol_version, client) in clients(CommandAgent::default(), LISTING).await {
        let mut made = Vec::new();
        for number in 0..7 {
            made.push(String::from(
                task(client.send(format!("echo {number}")).await.unwrap()).id,
            ));
        }
        let mut seen = Vec::new();
        let mut page_token = String::new();
        loop {
            let params = ListTasksRequest {
                page_size: Some(3),
                page_token,
                ..ListTasksRequest::default()
            };
            let page = client.list_tasks(params).await.unwrap();
            assert_eq!(page.page_size, 3, "{protocol_version}");
            assert!(
                page.tasks.len() <= 3 && page.tasks.iter().all(|task| task.artifacts.is_empty()),
                "{protocol_version}"
            );
            seen.extend(page.tasks.into_iter().map(|task| String::from(task.id)));
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
            // A newer task comes before every page that is still to be read.
            client.send("echo newer").await.unwrap();
        }
        let mine: Vec<_> = seen.iter().filter(|id| made.contains(id)).collect();
        assert_eq!(mine.len(), 7, "{protocol_version}: each is seen once");
    }
}

#[tokio::test]
async fn filters_select_matching_tasks() {
    for (protocol_version, client) in
        clients(CommandAgent::default(), &[ProtocolVersion::V1_0]).await
    {
        let asked = task(client.send("ask which?").await.unwrap());
        let done = task(client.send("echo x").await.unwrap());
        let of_context = ListTasksRequest {
            context_id: done.context_id.clone(),
            ..ListTasksRequest::default()
        };
        assert_eq!(
            ids(&client, of_context).await,
            [done.id.as_str()],
            "{protocol_version}"
        );
        let in_state = ListTasksRequest {
            status: Some(TaskState::InputRequired),
            ..ListTasksRequest::default()
        };
        assert_eq!(
            ids(&client, in_state).await,
            [asked.id.as_str()],
            "{protocol_version}"
        );
        let since = ListTasksRequest {
            status_timestamp_after: done.status.timestamp,
            ..ListTasksRequest::default()
        };
        assert!(
            ids(&client, since)
                .await
                .contains(&String::from(done.id.clone())),
            "{protocol_version}"
        );
        let with_artifacts = ListTasksRequest {
            include_artifacts: true,
            ..ListTasksRequest::default()
        };
        let list = client.list_tasks(with_artifacts).await.unwrap();
        assert_eq!(
            (list.total_size, list.page_size),
            (2, 50),
            "{protocol_version}"
        );
        let whole = list.tasks.iter().find(|task| task.id == done.id).unwrap();
        assert_eq!(whole.artifacts.len(), 1, "{protocol_version}");
    }
}

#[tokio::test]
async fn invalid_list_requests_are_refused() {
    for (_, client) in clients(CommandAgent::default(), LISTING).await {
        for page_size in [0, 101] {
            let params = ListTasksRequest {
                page_size: Some(page_size),
                ..ListTasksRequest::default()
            };
            assert_kind(client.list_tasks(params).await, ErrorKind::InvalidParams);
        }
        let params = ListTasksRequest {
            page_token: "nonsense".to_owned(),
            ..ListTasksRequest::default()
        };
        assert_kind(client.list_tasks(params).await, ErrorKind::InvalidParams);
    }
    for (_, client) in clients(
        CommandAgent::default(),
        &[ProtocolVersion::V0_1, ProtocolVersion::V0_2],
    )
    .await
    {
        let refused = client.list_tasks(ListTasksRequest::default()).await;
        assert!(
            matches!(refused, Err(Error::NotSupported { .. })),
            "{refused:?}"
        );
    }
}
