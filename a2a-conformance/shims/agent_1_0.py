#!/usr/bin/env python3
"""An A2A 1.0 agent that says back what it is told, by JSON-RPC: `agent_1_0.py PORT`. Standard library only."""
import json, sys, uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URL, TASKS, DONE = f"http://127.0.0.1:{sys.argv[1]}/", {}, "TASK_STATE_COMPLETED"
CARD = {"name": "Parrot", "description": "Says it again", "version": "1.0.0", "capabilities": {},
        "supportedInterfaces": [{"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "again", "name": "Again", "description": "Says it again", "tags": ["text"]}]}

class Refusal(Exception):
    """Why something is refused: the code, what to say, and the reason of A2A if it has one."""

def need(holds, problem):
    if not holds: raise Refusal(-32602, problem)

def find(params):
    need(isinstance(params.get("id"), str) and params["id"], "id has to be a text")
    if params["id"] not in TASKS: raise Refusal(-32001, "there is no such task", "TASK_NOT_FOUND")
    return TASKS[params["id"]]

def send(params):
    message = params["message"]
    need(message.get("role") in ("ROLE_USER", 1), "message.role has to be ROLE_USER")
    need(message.get("messageId") and message.get("parts"), "a message has messageId and parts")
    for part in message["parts"]:
        (kind,) = {"text", "raw", "url", "data"} & part.keys()
        need(kind == "data" or isinstance(part[kind], str), "message.parts: a text was expected")
    if message.get("taskId"):
        find({"id": message["taskId"]})
        raise Refusal(-32004, "that task has ended", "UNSUPPORTED_OPERATION")
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    task = {"id": str(uuid.uuid4()), "contextId": message.get("contextId") or str(uuid.uuid4()),
            "status": {"state": DONE, "timestamp": now},
            "artifacts": [{"artifactId": "again", "parts": message["parts"]}]}
    TASKS[task["id"]] = task
    return {"task": task}

def listed(params):
    size, start, status = params.get("pageSize", 50), int(params.get("pageToken") or 0), params.get("status", DONE)
    need(size in range(1, 101) and status.startswith("TASK_STATE_"), "pageSize is 1 to 100, status the name of a state")
    after = datetime.fromisoformat(params.get("statusTimestampAfter", "1970-01-01T00:00:00Z"))
    tasks = [task for task in reversed(TASKS.values()) if params.get("contextId") in (None, task["contextId"])
             and status == DONE and datetime.fromisoformat(task["status"]["timestamp"]) >= after]
    left_out = set() if params.get("includeArtifacts") else {"artifacts"}
    page = [{name: task[name] for name in task.keys() - left_out} for task in tasks[start:start + size]]
    rest = str(start + size) if start + size < len(tasks) else ""
    return {"tasks": page, "nextPageToken": rest, "pageSize": size, "totalSize": len(tasks)}

def refuse(code, problem, reason, check=lambda params: None):
    def refusing(params):
        check(params)
        raise Refusal(code, problem, reason)
    return refusing

METHODS = {"SendMessage": send, "GetTask": find, "ListTasks": listed,
           "CancelTask": refuse(-32002, "that task has ended", "TASK_NOT_CANCELABLE", find)}
for name in ("SendStreamingMessage", "SubscribeToTask", "GetExtendedAgentCard"):
    METHODS[name] = refuse(-32004, "this agent does not do that", "UNSUPPORTED_OPERATION")
for name in ("Create", "Get", "Delete"):
    METHODS[f"{name}TaskPushNotificationConfig"] = refuse(-32003, "nobody is told", "PUSH_NOTIFICATION_NOT_SUPPORTED")
METHODS["ListTaskPushNotificationConfigs"] = METHODS["GetTaskPushNotificationConfig"]

def answer(request, version):
    """What a request is answered by: its result."""
    if request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
        raise Refusal(-32600, "that is no request")
    if version.split(".")[:2] != ["1", "0"]: raise Refusal(-32009, "1.0 is spoken here", "VERSION_NOT_SUPPORTED")
    if request["method"] not in METHODS: raise Refusal(-32601, "there is no such method")
    params = request.get("params", {})
    need(isinstance(params, dict), "params have to be an object")
    for asked in (params, params.get("configuration") or {}):
        need(asked.get("historyLength", 0) in range(2**31), "historyLength is 0 or more")
    try: return METHODS[request["method"]](params)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Refusal(-32602, f"a member is wrong: {error!r}")

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(*((200, CARD) if self.path == "/.well-known/agent-card.json" else (404, {})))

    def do_POST(self):
        said = {"jsonrpc": "2.0", "id": None}
        version = self.headers.get("A2A-Version") or self.path.partition("A2A-Version=")[2] or "0.3"
        try:
            try: request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            except (ValueError, RecursionError): raise Refusal(-32700, "that is not JSON")
            if not isinstance(request, dict): raise Refusal(-32600, "a request is an object")
            said["id"] = request.get("id")
            said["result"] = answer(request, version)
        except Refusal as refusal:
            code, message, *reasons = refusal.args
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": "a2a-protocol.org"}
            said["error"] = {"code": code, "message": message, "data": [info | {"reason": one} for one in reasons]}
        self.reply(200, said)

    def log_message(self, *_): pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
