"""An agent on the official Python SDK for 0.3 that keeps the behaviour contract: docs/behaviour-contract.md.

    pip install 'a2a-sdk[http-server]==0.3.26' uvicorn
    python a2a_sdk_0_3_agent.py 9703
"""

import asyncio
import base64
import sys
import uuid

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
    TextPart,
)

PORT = int(sys.argv[1])
URL = f"http://127.0.0.1:{PORT}"
REST = "/rest"


def text_part(text):
    return Part(root=TextPart(text=text))


class Orders(AgentExecutor):
    """Does what the first word of a message says."""

    async def execute(self, context, queue):
        text = context.get_user_input()
        order, _, rest = text.partition(" ")
        if order == "reply" and not context.current_task:
            message = Message(message_id=str(uuid.uuid4()), role=Role.agent, parts=[text_part(rest)])
            message.context_id = context.context_id
            await queue.enqueue_event(message)
            return
        task = TaskUpdater(queue, context.task_id, context.context_id)
        if context.current_task:
            await task.add_artifact([text_part(text)], name="answer", last_chunk=True)
            await task.complete()
            return
        submitted = TaskStatus(state=TaskState.submitted)
        new = Task(id=context.task_id, context_id=context.context_id, status=submitted, history=[context.message])
        await queue.enqueue_event(new)
        if await self.order(task, context, order, rest):
            await task.complete()

    async def order(self, task, context, order, rest):
        """Returns whether the task is to be completed."""

        async def artifact(name, *parts):
            await task.add_artifact(list(parts), name=name, last_chunk=True)

        async def file(content):
            await artifact(order, Part(root=FilePart(file=content)))

        said = task.new_agent_message([text_part(rest)])
        if order == "chunks":
            await self.chunks(task, *(int(word) for word in rest.split()))
        elif order == "artifacts":
            for number in range(1, int(rest) + 1):
                await artifact(str(number), text_part(str(number)))
        elif order == "parts":
            await artifact("parts", *context.message.parts)
        elif order == "data":
            await artifact("data", Part(root=DataPart(data={"answer": 42})))
        elif order == "file":
            content = base64.b64encode(b"hello").decode()
            await file(FileWithBytes(bytes=content, name="hello.txt", mime_type="text/plain"))
        elif order == "link":
            await file(FileWithUri(uri=rest))
        elif order == "say":
            await task.start_work(said)
        elif order == "ask":
            await task.requires_input(said, final=True)
            return False
        elif order == "auth":
            await task.requires_auth(said, final=True)
            return False
        elif order in ("fail", "reject"):
            await {"fail": task.failed, "reject": task.reject}[order](said)
            return False
        elif order == "crash":
            raise RuntimeError("the message asks for it")
        elif order == "wait":
            await task.start_work()
            await asyncio.Event().wait()  # until the SDK cancels this coroutine, after the call of `cancel`
        else:
            await artifact("echo", text_part(rest if order == "echo" else context.get_user_input()))
        return True

    async def chunks(self, task, count=1, pause=1):
        artifact = str(uuid.uuid4())
        await task.start_work()
        for number in range(1, count + 1):
            if number > 1:
                await asyncio.sleep(pause / 1000)
            marks = {"append": number > 1, "last_chunk": number == count}
            await task.add_artifact([text_part(f"{number} ")], artifact_id=artifact, name="chunks", **marks)

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


CARD = AgentCard(
    name="Contract",
    description="Keeps the behaviour contract",
    version="1.0.0",
    protocol_version="0.3.0",
    url=URL + "/",
    preferred_transport="JSONRPC",
    additional_interfaces=[
        AgentInterface(transport="JSONRPC", url=URL + "/"),
        AgentInterface(transport="HTTP+JSON", url=URL + REST),
    ],
    capabilities=AgentCapabilities(streaming=True, push_notifications=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="orders", name="Orders", description="Does each order", tags=["test"])],
)
CONFIGS = InMemoryPushNotificationConfigStore()
HANDLER = DefaultRequestHandler(
    Orders(),
    InMemoryTaskStore(),
    push_config_store=CONFIGS,
    push_sender=BasePushNotificationSender(httpx.AsyncClient(), CONFIGS),
)
APP = A2ARESTFastAPIApplication(CARD, HANDLER).build(rpc_url=REST)
A2AStarletteApplication(CARD, HANDLER).add_routes_to_app(APP)
uvicorn.run(APP, host="127.0.0.1", port=PORT, log_level="error")
