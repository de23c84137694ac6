#!/usr/bin/env python3
"""An A2A 0.3 agent that says back what it is told, by JSON-RPC: `agent.py PORT`. Standard library only."""
import json, sys, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TASKS = {}
CARD = {"name": "Parrot", "description": "Says it again", "version": "1.0.0", "protocolVersion": "0.3.0",
        "url": f"http://127.0.0.1:{sys.argv[1]}/", "preferredTransport": "JSONRPC", "capabilities": {},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "again", "name": "Again", "description": "Says it again", "tags": ["text"]}]}

class Refusal(Exception):
    """The code of an error, and what to say."""

def find(params):
    if not isinstance(params["id"], str): raise Refusal(-32602, "id has to be a text")
    if params["id"] not in TASKS: raise Refusal(-32001, "there is no such task")
    return TASKS[params["id"]]

def cancel(params):
    find(params)
    raise Refusal(-32002, "that task has ended")

def send(params):
    message = params["message"]
    if message["role"] != "user" or not message["messageId"] or not message["parts"]:
        raise Refusal(-32602, "a message has the role user, a messageId, and parts")
    for part in message["parts"]:
        wanted = {"text": str, "file": dict, "data": dict}[part["kind"]]
        if not isinstance(part[part["kind"]], wanted): raise Refusal(-32602, "a part is not of its kind")
    if message.get("taskId"):
        find({"id": message["taskId"]})
        raise Refusal(-32004, "that task has ended")
    task = {"kind": "task", "id": str(uuid.uuid4()), "contextId": message.get("contextId") or str(uuid.uuid4()),
            "status": {"state": "completed", "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())},
            "artifacts": [{"artifactId": "again", "parts": message["parts"]}]}
    return TASKS.setdefault(task["id"], task)

PUSH = "tasks/pushNotificationConfig/"
METHODS = {"message/send": send, "tasks/get": find, "tasks/cancel": cancel}
REFUSED = {"agent/getAuthenticatedExtendedCard": (-32007, "there is no other card"),
           "message/stream": (-32004, "nothing is streamed"), "tasks/resubscribe": (-32004, "nothing is streamed"),
           **{PUSH + verb: (-32003, "nobody is notified") for verb in ("set", "get", "list", "delete")}}

def answer(request):
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
        raise Refusal(-32600, "that is no request")
    if request["method"] in REFUSED: raise Refusal(*REFUSED[request["method"]])
    if request["method"] not in METHODS: raise Refusal(-32601, "there is no such method")
    try: return METHODS[request["method"]](request.get("params"))
    except (AttributeError, LookupError, TypeError) as error: raise Refusal(-32602, f"a member is wrong: {error!r}")

class Handler(BaseHTTPRequestHandler):
    def reply(self, body):
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def do_GET(self):
        self.reply(CARD if self.path == "/.well-known/agent-card.json" else {})

    def do_POST(self):
        request, said = None, {"jsonrpc": "2.0"}
        try:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            said["result"] = answer(request)
        except (ValueError, RecursionError): said["error"] = {"code": -32700, "message": "that is not JSON"}
        except Refusal as refusal: said["error"] = dict(zip(("code", "message"), refusal.args))
        self.reply(said | {"id": request.get("id") if isinstance(request, dict) else None})

    def log_message(self, *_): pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
