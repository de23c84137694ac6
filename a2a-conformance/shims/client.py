"""A client under test, in one file of the standard library: what the suite talks to line by line.

    a2a-conformance client --stdio 'python3 client.py' --dialect 1.0 --binding jsonrpc

It speaks 1.0 by JSON-RPC. A client of your own takes the place of `call` and `stream`.
"""
import http.client, json, sys, urllib.parse, uuid

LIMIT = 32 << 20
METHODS = {"send_message": "SendMessage", "stream": "SendStreamingMessage", "get_task": "GetTask",
           "cancel_task": "CancelTask", "subscribe": "SubscribeToTask"}


class Failure(Exception):
    def __init__(self, kind, message=""):
        super().__init__(message)
        self.kind = kind


def request(ask, method, url, body=None, accept="application/json", credentials=None):
    at = urllib.parse.urlsplit(url)
    timeout = ask.get("patience_ms", 3000) / 1000
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=timeout)
    headers = {"Accept": accept, "A2A-Version": "1.0"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if credentials:
        headers["Authorization"] = "Bearer " + credentials
    connection.request(method, at.path or "/", body=body, headers=headers)
    return connection.getresponse()


def read(response):
    body = response.read(LIMIT + 1)
    if len(body) > LIMIT:
        raise Failure("TOO_LARGE")
    if response.length:
        raise Failure("CONNECTION", "the answer breaks off")
    return json.loads(body)


def connect(ask):
    """The first interface on the card that is spoken here."""
    response = request(ask, "GET", urllib.parse.urljoin(ask["url"], ".well-known/agent-card.json"))
    if response.status != 200:
        raise Failure("MALFORMED", "no card")
    card = read(response)
    for interface in card["supportedInterfaces"]:
        if (interface["protocolBinding"], interface["protocolVersion"]) == ("JSONRPC", "1.0"):
            return card, interface
    raise Failure("MALFORMED", "no interface that is spoken here")


def call(ask, op):
    card, interface = connect(ask)
    params = {"message": {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": ask.get("text", "")}]}}
    if op in ("send_message", "stream"):
        names = {"task": "taskId", "context": "contextId"}
        params["message"].update({names[name]: ask[name] for name in names if name in ask})
    else:
        params = {"id": ask["task"]}
        if "history" in ask:
            params["historyLength"] = ask["history"]
    if interface.get("tenant"):
        params["tenant"] = interface["tenant"]
    number = str(uuid.uuid4())
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": METHODS[op], "params": params})
    origin = lambda url: urllib.parse.urlsplit(url)[:2]
    token = ask.get("credentials", {}).get("bearer") if origin(interface["url"]) == origin(ask["url"]) else None
    accept = "text/event-stream" if op in ("stream", "subscribe") else "application/json"
    return number, request(ask, "POST", interface["url"], body, accept, token)


def result(number, said):
    if "error" in said:
        details = said["error"].get("data") or [{}]
        raise Failure(details[0].get("reason") or KINDS.get(said["error"]["code"], "OTHER"), said["error"]["message"])
    if said.get("id") != number:
        raise Failure("MALFORMED", "the answer to another request")
    return said["result"]


KINDS = {-32700: "JSON_PARSE", -32600: "INVALID_REQUEST", -32601: "METHOD_NOT_FOUND", -32602: "INVALID_PARAMS", -32603: "INTERNAL",
         -32001: "TASK_NOT_FOUND", -32002: "TASK_NOT_CANCELABLE", -32003: "PUSH_NOTIFICATION_NOT_SUPPORTED",
         -32004: "UNSUPPORTED_OPERATION", -32005: "CONTENT_TYPE_NOT_SUPPORTED", -32009: "VERSION_NOT_SUPPORTED"}


def once(ask, op):
    number, response = call(ask, op)
    if response.status in (401, 403):
        raise Failure("UNAUTHENTICATED")
    got = result(number, read(response))
    return digest(got if op == "send_message" else {"task": got})


def stream(ask, op, tell):
    number, response = call(ask, op)
    if not (response.headers.get("Content-Type") or "").startswith("text/event-stream"):
        result(number, read(response))
        raise Failure("MALFORMED", "no stream")
    data, first = [], True
    while line := response.readline(LIMIT):
        if len(line) >= LIMIT:
            raise Failure("TOO_LARGE")
        line = line.decode().rstrip("\r\n")
        line, first = line.removeprefix("\ufeff") if first else line, False
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            event = digest(result(number, json.loads("\n".join(data))))
            data = []
            tell({"event": event})
            told = event.get("task") or event.get("status") or {}
            if "message" in event or told.get("state") in ("completed", "failed", "canceled", "rejected", "input-required"):
                return
    raise Failure("CONNECTION", "the stream ended before the task did")


def text(parts):
    return "".join(part.get("text", "") for part in parts)


def digest(got):
    """What was got, in a few words: docs/client-protocol.md."""
    state = lambda status: status["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
    known = lambda status: state(status) if state(status) in STATES else "unknown"
    said = lambda status: text(status.get("message", {}).get("parts", []))
    if task := got.get("task"):
        artifacts = [{"id": one["artifactId"], "text": text(one["parts"])} for one in task.get("artifacts", [])]
        return {"task": {"id": task["id"], "context": task.get("contextId"), "state": known(task["status"]),
                         "text": said(task["status"]), "artifacts": artifacts}}
    if message := got.get("message"):
        return {"message": {"id": message["messageId"], "text": text(message["parts"])}}
    if update := got.get("statusUpdate"):
        return {"status": {"task": update["taskId"], "state": known(update["status"]), "text": said(update["status"])}}
    update = got["artifactUpdate"]
    return {"artifact": {"task": update["taskId"], "id": update["artifact"]["artifactId"], "text": text(update["artifact"]["parts"]),
                         "append": update.get("append", False), "last": update.get("lastChunk", False)}}


STATES = ("submitted", "working", "input-required", "auth-required", "completed", "failed", "canceled", "rejected")

for line in sys.stdin:
    ask = json.loads(line)
    tell = lambda said: print(json.dumps({"id": ask["id"], **said}), flush=True)
    try:
        if ask["op"] not in METHODS or ask.get("extension") or "api_key" in ask.get("credentials", {}) or ask.get("verify") or "ca" in ask:
            tell({"error": {"kind": "UNIMPLEMENTED", "message": "not in this example"}})
        elif ask["op"] in ("stream", "subscribe"):
            stream(ask, ask["op"], tell)
            tell({"done": True})
        else:
            tell({"result": once(ask, ask["op"])})
    except Failure as failure:
        tell({"error": {"kind": failure.kind, "message": str(failure)}})
    except TimeoutError as error:
        tell({"error": {"kind": "TIMEOUT", "message": str(error)}})
    except (OSError, http.client.HTTPException) as error:
        tell({"error": {"kind": "CONNECTION", "message": str(error)}})
    except (ValueError, KeyError, TypeError) as error:
        tell({"error": {"kind": "MALFORMED", "message": str(error)}})
