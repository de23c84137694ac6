"""An agent on the official Python SDK that keeps the behaviour contract: a2a-conformance/docs/behaviour-contract.md.

    pip install 'a2a-sdk[http-server]==1.3.0' uvicorn httpx
    python a2a_sdk_agent.py 9701
"""

import asyncio
import sys
import uuid

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.server.tasks.base_push_notification_sender import BasePushNotificationSender
from a2a.server.tasks.inmemory_push_notification_config_store import (
    InMemoryPushNotificationConfigStore,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from google.protobuf import json_format
from starlette.applications import Starlette

PORT = int(sys.argv[1])
URL = f"http://127.0.0.1:{PORT}"
BINDINGS = [("JSONRPC", URL + "/"), ("HTTP+JSON", URL + "/rest")]


class Orders(AgentExecutor):
    """Does what the first word of a message says."""

    def __init__(self):
        self.waiting = {}

    async def execute(self, context, queue):
        text = context.get_user_input()
        order, _, rest = text.partition(" ")
        if order == "reply" and not context.current_task:
            message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_AGENT, parts=[Part(text=rest)])
            message.context_id = context.context_id
            await queue.enqueue_event(message)
            return
        task = TaskUpdater(queue, context.task_id, context.context_id)
        if context.current_task:
            await task.add_artifact([Part(text=text)], name="answer", last_chunk=True)
            await task.complete()
            return
        submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        new = Task(id=context.task_id, context_id=context.context_id, status=submitted, history=[context.message])
        await queue.enqueue_event(new)
        if await self.order(task, context, order, rest):
            await task.complete()

    async def order(self, task, context, order, rest):
        """Returns whether the task is to be completed."""

        async def artifact(name, *parts):
            await task.add_artifact(list(parts), name=name, last_chunk=True)

        said = task.new_agent_message([Part(text=rest)])
        if order == "chunks":
            await self.chunks(task, *(int(word) for word in rest.split()))
        elif order == "artifacts":
            for number in range(1, int(rest) + 1):
                await artifact(str(number), Part(text=str(number)))
        elif order == "parts":
            await artifact("parts", *context.message.parts)
        elif order == "data":
            await artifact("data", json_format.ParseDict({"data": {"answer": 42}}, Part()))
        elif order == "file":
            await artifact("file", Part(raw=b"hello", filename="hello.txt", media_type="text/plain"))
        elif order == "link":
            await artifact("link", Part(url=rest))
        elif order == "say":
            await task.start_work(said)
        elif order in ("ask", "auth", "fail", "reject"):
            ends = {"ask": task.requires_input, "auth": task.requires_auth, "fail": task.failed, "reject": task.reject}
            await ends[order](said)
            return False
        elif order == "crash":
            raise RuntimeError("the message asks for it")
        elif order == "wait":
            await task.start_work()
            await self.waiting.setdefault(context.task_id, asyncio.Event()).wait()
            return False
        else:
            await artifact("echo", Part(text=rest if order == "echo" else context.get_user_input()))
        return True

    async def chunks(self, task, count=1, pause=1):
        artifact = str(uuid.uuid4())
        await task.start_work()
        for number in range(1, count + 1):
            if number > 1:
                await asyncio.sleep(pause / 1000)
            parts = [Part(text=f"{number} ")]
            marks = {"append": number > 1, "last_chunk": number == count}
            await task.add_artifact(parts, artifact_id=artifact, name="chunks", **marks)

    async def cancel(self, context, queue):
        if waiting := self.waiting.get(context.task_id):
            waiting.set()
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


async def any_url(_):
    return True


CARD = AgentCard(
    name="Contract",
    description="Keeps the behaviour contract",
    version="1.0.0",
    supported_interfaces=[
        AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
        for version in ("1.0", "0.3")
        for binding, url in BINDINGS
    ],
    capabilities=AgentCapabilities(streaming=True, push_notifications=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="orders", name="Orders", description="Does each order", tags=["test"])],
)
CONFIGS = InMemoryPushNotificationConfigStore()
HANDLER = DefaultRequestHandlerV2(
    Orders(),
    InMemoryTaskStore(),
    CARD,
    push_config_store=CONFIGS,
    push_sender=BasePushNotificationSender(httpx.AsyncClient(), CONFIGS),
    push_url_validator=any_url,
)
ROUTES = [
    *create_agent_card_routes(CARD),
    *create_jsonrpc_routes(HANDLER, "/", enable_v0_3_compat=True),
    *create_rest_routes(HANDLER, path_prefix="/rest", enable_v0_3_compat=True),
]
uvicorn.run(Starlette(routes=ROUTES), host="127.0.0.1", port=PORT, log_level="error")
