"""A client on the official Python SDK, told what to do line by line: docs/reference/client-protocol.md.

    pip install 'a2a-sdk[http-server,signing]==1.3.0'
    a2a-conformance client --stdio 'python a2a_sdk_client.py' --protocol-version 1.0 --protocol-version 0.3

The SDK assembles no tasks and receives no push notifications: these are unimplemented.
"""

import asyncio
import json
import ssl
import sys
import uuid

import httpx
from a2a.client import (
    A2ACardResolver,
    A2AClientError,
    A2AClientTimeoutError,
    AuthInterceptor,
    ClientCallContext,
    ClientConfig,
    ClientFactory,
    CredentialService,
)
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import A2A_ERROR_REASONS, InternalError, JSONParseError
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from pydantic import ValidationError

MEMBERS = set(
    "id case op url protocol_version binding text parts metadata modes immediately detail task context references history "
    "extension config webhook list credentials patience_ms ca verify keys".split()
)
KINDS = A2A_ERROR_REASONS | {
    InternalError: "INTERNAL",
    JSONParseError: "JSON_PARSE",
    A2AClientError: "OTHER",
    A2AClientTimeoutError: "TIMEOUT",
}
MALFORMED = (ParseError, ValidationError, json.JSONDecodeError)
UNFINISHED = ("submitted", "working", "auth-required")


class Unimplemented(Exception):
    pass


class Credentials(CredentialService):
    def __init__(self, session, shown):
        self.session, self.shown = session, shown

    async def get_credentials(self, security_scheme_name, context):
        scheme = self.session.card.security_schemes[security_scheme_name]
        return self.shown.get("api_key" if scheme.HasField("api_key_security_scheme") else "bearer")


class Session:
    """What is kept between the instructions with one URL."""

    def __init__(self, ask):
        self.url = ask["url"]
        self.http = httpx.AsyncClient(verify=ssl.create_default_context(cadata=ask["ca"]) if "ca" in ask else True)
        self.card = None

    async def fetch(self, ask):
        if not self.card:
            self.card = await A2ACardResolver(self.http, self.url).get_agent_card(
                http_kwargs={"timeout": patience(ask)}, signature_verifier=verifier_of(ask)
            )
        return self.card

    async def client(self, ask, streaming=False):
        config = ClientConfig(streaming=streaming, httpx_client=self.http, supported_protocol_bindings=[ask["binding"]])
        shown = ask.get("credentials", {})
        if "user" in shown:  # the SDK knows no user and password
            raise Unimplemented
        interceptors = [AuthInterceptor(Credentials(self, shown))] if shown else []
        return ClientFactory(config).create(await self.fetch(ask), interceptors)


def patience(ask):
    return ask.get("patience_ms", 3000) / 1000


def how(ask):
    extensions = [ask["extension"]] if "extension" in ask else []
    parameters = ServiceParametersFactory.create([with_a2a_extensions(extensions)])
    return {"context": ClientCallContext(timeout=patience(ask), service_parameters=parameters)}


def verifier_of(ask):
    if not ask.get("verify"):
        return None
    try:
        import jwt
        from a2a.utils.signing import create_signature_verifier
    except ImportError:
        raise Unimplemented from None
    keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(ask["keys"]).keys}

    def key_of(kid, _jku):
        if kid not in keys:
            raise jwt.InvalidKeyError
        return keys[kid]

    return create_signature_verifier(key_of, [key.algorithm_name for key in keys.values()])


def webhook_of(ask):
    told = ask.get("config") or {"id": "config-1", "url": ask["webhook"]}
    return ParseDict(told, TaskPushNotificationConfig())


def send(client, ask, **settings):
    message = {
        "messageId": str(uuid.uuid4()),
        "role": "ROLE_USER",
        "parts": ask.get("parts", [{"text": ask.get("text", "")}]),
        "metadata": ask.get("metadata"),
        "taskId": ask.get("task"),
        "contextId": ask.get("context"),
        "referenceTaskIds": ask.get("references"),
        "extensions": [ask["extension"]] if "extension" in ask else None,
    }
    configuration = {
        "acceptedOutputModes": ask.get("modes"),
        "historyLength": ask.get("history"),
        "returnImmediately": ask.get("immediately"),
        **settings,
    }
    request = ParseDict({"message": message, "configuration": configuration}, SendMessageRequest())
    if "config" in ask or "webhook" in ask:
        request.configuration.task_push_notification_config.CopyFrom(webhook_of(ask))
    return client.send_message(request, **how(ask))


def content(ask, parts):
    text = "".join(part.text for part in parts)
    return {"text": text, "parts": [MessageToDict(part) for part in parts]} if ask.get("detail") else {"text": text}


def status_of(status):
    try:
        state = TaskState.Name(status.state).removeprefix("TASK_STATE_").lower().replace("_", "-")
    except ValueError:
        state = "unknown"
    return {"state": "unknown" if state == "unspecified" else state, **content({}, status.message.parts)}


def artifact_of(ask, artifact):
    return {"id": artifact.artifact_id, **content(ask, artifact.parts)}


def task_of(ask, task):
    artifacts = [artifact_of(ask, one) for one in task.artifacts]
    return {"id": task.id, "context": task.context_id, **status_of(task.status), "artifacts": artifacts}


def event_of(ask, event):
    if event.HasField("task"):
        return {"task": task_of(ask, event.task)}
    if event.HasField("message"):
        return {"message": {"id": event.message.message_id, **content(ask, event.message.parts)}}
    if event.HasField("status_update"):
        update = event.status_update
        return {"status": {"task": update.task_id, "context": update.context_id, **status_of(update.status)}}
    if event.HasField("artifact_update"):
        update = event.artifact_update
        place = {"append": update.append, "last": update.last_chunk}
        return {"artifact": {"task": update.task_id, **artifact_of(ask, update.artifact), **place}}
    return {}


def config_of(config):
    return {"id": config.id, "task": config.task_id, "url": config.url}


def card_of(card):
    return {"card": {"name": card.name, "streaming": card.capabilities.streaming}}


async def perform(session, ask, tell):
    op = ask["op"]
    if op == "fetch_card":
        return card_of(await session.fetch(ask))
    client = await session.client(ask, streaming=op in ("stream", "subscribe"))
    if op == "send_message":
        return event_of(ask, await anext(send(client, ask)))
    if op == "send_and_wait":
        answer = event_of(ask, await anext(send(client, ask, returnImmediately=True)))
        while "task" in answer and answer["task"]["state"] in UNFINISHED:
            await asyncio.sleep(0.1)
            of = GetTaskRequest(id=answer["task"]["id"])
            answer = {"task": task_of(ask, await client.get_task(of, **how(ask)))}
        return answer
    if op in ("stream", "subscribe"):
        of = SubscribeToTaskRequest(id=ask["task"]) if op == "subscribe" else None
        async for event in client.subscribe(of, **how(ask)) if of else send(client, ask):
            tell(event=event_of(ask, event))
        return None
    if op == "get_task":
        of = GetTaskRequest(id=ask["task"], history_length=ask.get("history"))
        return {"task": task_of(ask, await client.get_task(of, **how(ask)))}
    if op == "cancel_task":
        of = ParseDict({"id": ask["task"], "metadata": ask.get("metadata")}, CancelTaskRequest())
        return {"task": task_of(ask, await client.cancel_task(of, **how(ask)))}
    if op == "list_tasks":
        of, tasks = ParseDict(ask.get("list", {}), ListTasksRequest()), []
        while True:
            page = await client.list_tasks(of, **how(ask))
            tasks += [task_of(ask, task) for task in page.tasks]
            of.page_token = page.next_page_token
            if not of.page_token:
                return {"tasks": tasks}
    if op == "create_push_config":
        of = webhook_of(ask)
        of.task_id = ask["task"]
        return {"config": config_of(await client.create_task_push_notification_config(of, **how(ask)))}
    if op == "get_push_config":
        of = GetTaskPushNotificationConfigRequest(task_id=ask["task"], id="config-1")
        return {"config": config_of(await client.get_task_push_notification_config(of, **how(ask)))}
    if op == "list_push_configs":
        of, configs = ListTaskPushNotificationConfigsRequest(task_id=ask["task"]), []
        while True:
            page = await client.list_task_push_notification_configs(of, **how(ask))
            configs += [config_of(config) for config in page.configs]
            of.page_token = page.next_page_token
            if not of.page_token:
                return {"configs": configs}
    if op == "delete_push_config":
        of = DeleteTaskPushNotificationConfigRequest(task_id=ask["task"], id="config-1")
        await client.delete_task_push_notification_config(of, **how(ask))
        return {}
    if op == "extended_card":
        of = GetExtendedAgentCardRequest()
        session.card = await client.get_extended_agent_card(of, **how(ask), signature_verifier=verifier_of(ask))
        return card_of(session.card)
    raise Unimplemented


def failure(error):
    # The SDK raises NotImplementedError for what its compatibility layer leaves out of 0.3.
    if isinstance(error, (Unimplemented, NotImplementedError)):
        return {"kind": "UNIMPLEMENTED"}
    kind = KINDS.get(type(error)) or ("MALFORMED" if isinstance(error, MALFORMED) else type(error).__name__)
    return {"kind": kind, "message": str(error)}


async def main():
    session = None
    while line := await asyncio.to_thread(sys.stdin.readline):
        ask = json.loads(line)

        def tell(**said):
            print(json.dumps({"id": ask["id"], **said}), flush=True)

        try:
            if ask.keys() - MEMBERS or ask.get("binding") == "GRPC" or ask.get("protocol_version", "1.0") not in ("1.0", "0.3"):
                raise Unimplemented
            if not session or session.url != ask["url"]:
                session = Session(ask)
            result = await perform(session, ask, tell)
            tell(done=True) if result is None else tell(result=result)
        except Exception as error:
            tell(error=failure(error))


asyncio.run(main())
