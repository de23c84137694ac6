"""A client on the official Python SDK for 0.3, told what to do line by line: docs/reference/client-protocol.md.

    pip install 'a2a-sdk[http-server]==0.3.26'
    a2a-conformance client --stdio 'python a2a_sdk_0_3_client.py' --protocol-version 0.3
"""

import asyncio
import json
import ssl
import sys
import uuid

import httpx
from a2a.client import (
    A2ACardResolver,
    A2AClientHTTPError,
    A2AClientJSONError,
    A2AClientTimeoutError,
    AuthInterceptor,
    ClientCallContext,
    ClientConfig,
    ClientFactory,
    CredentialService,
)
from a2a.client.errors import A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    GetTaskPushNotificationConfigParams,
    Message,
    MessageSendConfiguration,
    Part,
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    Role,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskStatusUpdateEvent,
    TextPart,
)
from google.protobuf.json_format import ParseError
from pydantic import ValidationError

MEMBERS = set(
    "id case op url protocol_version binding text parts metadata modes immediately detail task context references history "
    "extension config webhook credentials patience_ms ca".split()
)
KINDS = {
    -32700: "JSON_PARSE",
    -32600: "INVALID_REQUEST",
    -32601: "METHOD_NOT_FOUND",
    -32602: "INVALID_PARAMS",
    -32603: "INTERNAL",
    -32001: "TASK_NOT_FOUND",
    -32002: "TASK_NOT_CANCELABLE",
    -32003: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    -32004: "UNSUPPORTED_OPERATION",
    -32005: "CONTENT_TYPE_NOT_SUPPORTED",
    -32006: "INVALID_AGENT_RESPONSE",
    -32007: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
}
# By HTTP+JSON all that the SDK tells of an error is its status.
STATUSES = {
    404: "TASK_NOT_FOUND",
    409: "TASK_NOT_CANCELABLE",
    415: "CONTENT_TYPE_NOT_SUPPORTED",
    500: "INTERNAL",
}
WAITING = ("submitted", "working")


class Unimplemented(Exception):
    pass


class Credentials(CredentialService):
    def __init__(self, session, shown):
        self.session, self.shown = session, shown

    async def get_credentials(self, security_scheme_name, context):
        scheme = self.session.card.security_schemes[security_scheme_name].root
        return self.shown.get("api_key" if scheme.type == "apiKey" else "bearer")


class Session:
    """What is kept between the instructions with one URL."""

    def __init__(self, ask):
        self.url = ask["url"]
        self.http = httpx.AsyncClient(verify=ssl.create_default_context(cadata=ask["ca"]) if "ca" in ask else True)
        self.card = None

    async def fetch(self, ask):
        if not self.card:
            resolver = A2ACardResolver(self.http, self.url)
            self.card = await resolver.get_agent_card(http_kwargs={"timeout": patience(ask)})
        return self.card

    async def client(self, ask, streaming=False):
        config = ClientConfig(
            streaming=streaming,
            httpx_client=self.http,
            supported_transports=[ask["binding"]],
            use_client_preference=True,
            push_notification_configs=[webhook_of(ask)] if "config" in ask or "webhook" in ask else [],
        )
        shown = ask.get("credentials", {})
        # The transport for HTTP+JSON calls no interceptors, and none knows user and password.
        if shown and (ask["binding"] != "JSONRPC" or "user" in shown):
            raise Unimplemented
        interceptors = [AuthInterceptor(Credentials(self, shown))] if shown else []
        return ClientFactory(config).create(await self.fetch(ask), interceptors=interceptors)


def patience(ask):
    return ask.get("patience_ms", 3000) / 1000


def how(ask):
    context = ClientCallContext(state={"http_kwargs": {"timeout": patience(ask)}})
    return {"context": context, "extensions": [ask["extension"]] if "extension" in ask else None}


def part_of(told):
    """A part of 0.3, of one in the format of 1.0."""
    metadata = told.get("metadata")
    if "text" in told:
        return Part(root=TextPart(text=told["text"], metadata=metadata))
    if "data" in told:
        return Part(root=DataPart(data=told["data"], metadata=metadata))
    about = {"name": told.get("filename"), "mime_type": told.get("mediaType")}
    file = FileWithBytes(bytes=told["raw"], **about) if "raw" in told else FileWithUri(uri=told["url"], **about)
    return Part(root=FilePart(file=file, metadata=metadata))


def webhook_of(ask):
    told = ask.get("config") or {"id": "config-1", "url": ask["webhook"]}
    shown = told.get("authentication")
    if shown:
        shown = PushNotificationAuthenticationInfo(schemes=[shown["scheme"]], credentials=shown.get("credentials"))
    return PushNotificationConfig(id=told.get("id"), url=told["url"], token=told.get("token"), authentication=shown)


def send(client, ask, **settings):
    if "modes" in ask:
        settings["accepted_output_modes"] = ask["modes"]
    if "history" in ask:
        settings["history_length"] = ask["history"]
    if ask.get("immediately"):
        settings["blocking"] = False
    message = Message(
        message_id=str(uuid.uuid4()),
        role=Role.user,
        parts=[part_of(told) for told in ask.get("parts", [{"text": ask.get("text", "")}])],
        metadata=ask.get("metadata"),
        task_id=ask.get("task"),
        context_id=ask.get("context"),
        reference_task_ids=ask.get("references"),
        extensions=[ask["extension"]] if "extension" in ask else None,
    )
    return client.send_message(message, configuration=MessageSendConfiguration(**settings), **how(ask))


def content(ask, parts):
    text = "".join(part.root.text for part in parts if part.root.kind == "text")
    return {"text": text, "parts": [told(part.root) for part in parts]} if ask.get("detail") else {"text": text}


def told(part):
    """A part in the format of 1.0."""
    known = {"metadata": part.metadata}
    if part.kind == "file":
        file = part.file
        where = {"raw": file.bytes} if isinstance(file, FileWithBytes) else {"url": file.uri}
        known |= {**where, "filename": file.name, "mediaType": file.mime_type}
    else:
        known[part.kind] = part.text if part.kind == "text" else part.data
    return {name: value for name, value in known.items() if value is not None}


def status_of(status):
    text = content({}, status.message.parts)["text"] if status.message else ""
    return {"state": status.state.value, "text": text}


def artifact_of(ask, artifact):
    return {"id": artifact.artifact_id, **content(ask, artifact.parts)}


def task_of(ask, task):
    artifacts = [artifact_of(ask, one) for one in task.artifacts or []]
    return {"task": {"id": task.id, "context": task.context_id, **status_of(task.status), "artifacts": artifacts}}


def answer_of(ask, event):
    if isinstance(event, Message):
        return {"message": {"id": event.message_id, **content(ask, event.parts)}}
    return task_of(ask, event[0])


def event_of(ask, event):
    update = None if isinstance(event, Message) else event[1]
    if not update:
        return answer_of(ask, event)
    if isinstance(update, TaskStatusUpdateEvent):
        return {"status": {"task": update.task_id, "context": update.context_id, **status_of(update.status)}}
    place = {"append": bool(update.append), "last": bool(update.last_chunk)}
    return {"artifact": {"task": update.task_id, **artifact_of(ask, update.artifact), **place}}


def config_of(config):
    webhook = config.push_notification_config
    return {"config": {"id": webhook.id, "task": config.task_id, "url": webhook.url}}


async def perform(session, ask, tell):
    op = ask["op"]
    if op == "fetch_card":
        card = await session.fetch(ask)
        return {"card": {"name": card.name, "streaming": bool(card.capabilities.streaming)}}
    client = await session.client(ask, streaming=op in ("stream", "subscribe", "assemble"))
    if op == "send_message":
        return answer_of(ask, await anext(send(client, ask)))
    if op == "send_and_wait":
        event = await anext(send(client, ask, blocking=False))
        if isinstance(event, Message):
            return answer_of(ask, event)
        task = event[0]
        while task.status.state.value in (*WAITING, "auth-required"):
            await asyncio.sleep(0.1)
            task = await client.get_task(TaskQueryParams(id=task.id), **how(ask))
        return task_of(ask, task)
    if op == "assemble":
        async for event in send(client, ask):
            last = event
        return answer_of(ask, last)
    if op in ("stream", "subscribe"):
        of = TaskIdParams(id=ask["task"]) if op == "subscribe" else None
        async for event in client.resubscribe(of, **how(ask)) if of else send(client, ask):
            tell(event=event_of(ask, event))
        return None
    if op == "get_task":
        of = TaskQueryParams(id=ask["task"], history_length=ask.get("history"))
        return task_of(ask, await client.get_task(of, **how(ask)))
    if op == "cancel_task":
        return task_of(ask, await client.cancel_task(TaskIdParams(id=ask["task"]), **how(ask)))
    if op == "create_push_config":
        config = TaskPushNotificationConfig(task_id=ask["task"], push_notification_config=webhook_of(ask))
        return config_of(await client.set_task_callback(config, **how(ask)))
    if op == "get_push_config":
        of = GetTaskPushNotificationConfigParams(id=ask["task"], push_notification_config_id="config-1")
        return config_of(await client.get_task_callback(of, **how(ask)))
    if op == "extended_card":
        session.card = await client.get_card(**how(ask))
        return {"card": {"name": session.card.name, "streaming": bool(session.card.capabilities.streaming)}}
    raise Unimplemented


def failure(error):
    if isinstance(error, Unimplemented):
        return {"kind": "UNIMPLEMENTED"}
    if isinstance(error, A2AClientJSONRPCError):
        return {"kind": KINDS.get(error.error.code, "OTHER"), "message": error.error.message}
    kind = type(error).__name__
    if isinstance(error, A2AClientTimeoutError):
        kind = "TIMEOUT"
    elif isinstance(error, A2AClientHTTPError):
        kind = STATUSES.get(error.status_code, f"HTTP_{error.status_code}")
    elif isinstance(error, (A2AClientJSONError, ValidationError, ParseError)):
        kind = "MALFORMED"
    return {"kind": kind, "message": str(error)}


async def main():
    session = None
    while line := await asyncio.to_thread(sys.stdin.readline):
        ask = json.loads(line)

        def tell(**said):
            print(json.dumps({"id": ask["id"], **said}), flush=True)

        try:
            if ask.keys() - MEMBERS or ask.get("binding") == "GRPC" or ask.get("protocol_version", "0.3") != "0.3":
                raise Unimplemented
            if not session or session.url != ask["url"]:
                session = Session(ask)
            result = await perform(session, ask, tell)
            tell(result=result) if result else tell(done=True)
        except Exception as error:
            tell(error=failure(error))


asyncio.run(main())
