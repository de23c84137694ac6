#!/usr/bin/env python3
"""An A2A 1.0 agent that says back what it is told, by JSON-RPC: `agent.py PORT`. Standard library only."""
import json, sys, uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URL, TASKS = f"http://127.0.0.1:{sys.argv[1]}/", {}
CARD = {"name": "Parrot", "description": "Says it again", "version": "1.0.0", "capabilities": {},
        "supportedInterfaces": [{"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "again", "name": "Again", "description": "Says it again", "tags": ["text"]}]}

class Refusal(Exception):
    def __init__(self, code, message, reason=None):
        self.error = {"code": code, "message": message}
        if reason:
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": "a2a-protocol.org"}
            self.error["data"] = [info | {"reason": reason}]

def need(holds, problem):
    if not holds: raise Refusal(-32602, problem)

def count(params, name, low, high):
    value = params.get(name)
    need(value is None or type(value) is int and low <= value <= high, f"{name} has to be {low} to {high}")
    return value

def shown(task, length=None, artifacts=True):
    history = task["history"] if length is None else task["history"][-length:] if length else []
    return {k: v for k, v in (task | {"history": history}).items() if v and (artifacts or k != "artifacts")}

def find(params):
    need(isinstance(params.get("id"), str) and params["id"], "id has to be a text")
    if params["id"] not in TASKS: raise Refusal(-32001, "no such task", "TASK_NOT_FOUND")
    return TASKS[params["id"]]

def send(params):
    message, configuration = params.get("message"), params.get("configuration") or {}
    need(isinstance(message, dict), "message has to be an object")
    need(message.get("role") in ("ROLE_USER", 1), "message.role has to be ROLE_USER")
    need(message.get("messageId") or message.get("message_id"), "message.messageId is missing")
    parts = message.get("parts")
    need(isinstance(parts, list) and parts, "message.parts has to be a list that is not empty")
    for part in parts:
        kinds = {"text", "raw", "url", "data"} & set(part if isinstance(part, dict) else ())
        need(len(kinds) == 1, "a part of message.parts needs one of text, raw, url, data")
        need(kinds == {"data"} or isinstance(part[next(iter(kinds))], str), "message.parts: text expected")
    if message.get("taskId"):
        find({"id": message["taskId"]})
        raise Refusal(-32004, "that task has ended", "UNSUPPORTED_OPERATION")
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    task = {"id": str(uuid.uuid4()), "contextId": message.get("contextId") or str(uuid.uuid4()),
            "status": {"state": "TASK_STATE_COMPLETED", "timestamp": now},
            "artifacts": [{"artifactId": "again", "parts": parts}], "history": []}
    TASKS[task["id"]] = task
    return {"task": shown(task, count(configuration, "historyLength", 0, 10**9))}

def cancel(params):
    find(params)
    raise Refusal(-32002, "that task has ended", "TASK_NOT_CANCELABLE")

def listed(params):
    size, length = count(params, "pageSize", 1, 100) or 50, count(params, "historyLength", 0, 10**9)
    start = params.get("pageToken") or "0"
    need(isinstance(start, str) and start.isdigit(), "pageToken is none of ours")
    need(str(params.get("status") or "TASK_STATE_").startswith("TASK_STATE_"), "status is no state")
    after = params.get("statusTimestampAfter") or "0"
    need(after == "0" or after[:4].isdigit(), "statusTimestampAfter is no time")
    fits = lambda task: (params.get("contextId") in (None, task["contextId"]) and task["status"]["timestamp"] >= after
                         and params.get("status") in (None, task["status"]["state"]))
    tasks = sorted(filter(fits, list(TASKS.values())), key=lambda task: task["status"]["timestamp"], reverse=True)
    end = int(start) + size
    page = [shown(task, length, params.get("includeArtifacts")) for task in tasks[int(start):end]]
    return {"tasks": page, "nextPageToken": str(end) if end < len(tasks) else "", "pageSize": size, "totalSize": len(tasks)}

def refuse(code, reason):
    def refusing(params): raise Refusal(code, "this agent does not offer that", reason)
    return refusing

METHODS = {"SendMessage": send, "GetTask": lambda p: shown(find(p), count(p, "historyLength", 0, 10**9)),
           "CancelTask": cancel, "ListTasks": listed}
METHODS |= dict.fromkeys(["SendStreamingMessage", "SubscribeToTask", "GetExtendedAgentCard"], refuse(-32004, "UNSUPPORTED_OPERATION"))
METHODS |= {f"{verb}TaskPushNotificationConfig": refuse(-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED") for verb in ("Create", "Get", "Delete")}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body, status=200):
        body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        known = self.path == "/.well-known/agent-card.json"
        self.answer(CARD if known else {}, 200 if known else 404)

    def do_POST(self):
        key, body = None, self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            try: request = json.loads(body)
            except (ValueError, RecursionError): raise Refusal(-32700, "that is no JSON")
            if not isinstance(request, dict): raise Refusal(-32600, "a request is an object")
            key, method, params = request.get("id"), request.get("method"), request.get("params", {})
            if request.get("jsonrpc") != "2.0" or not isinstance(method, str): raise Refusal(-32600, "that is no request")
            version = self.headers.get("A2A-Version") or (self.path.partition("A2A-Version=")[2] or "0.3")
            if version.split(".")[:2] != ["1", "0"]: raise Refusal(-32009, "1.0 is spoken here", "VERSION_NOT_SUPPORTED")
            if method not in METHODS: raise Refusal(-32601, "there is no such method")
            need(isinstance(params, dict), "params have to be an object")
            self.answer({"jsonrpc": "2.0", "id": key, "result": METHODS[method](params)})
        except Refusal as refusal:
            self.answer({"jsonrpc": "2.0", "id": key, "error": refusal.error})

    def log_message(self, *_): pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
