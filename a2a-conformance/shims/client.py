"""A client under test in Python's standard library: 1.0 by JSON-RPC, told what to do line by line.

    a2a-conformance client --stdio 'python3 client.py' --protocol-version 1.0 --binding jsonrpc --level must
"""
import http.client, json, sys, urllib.error, urllib.request, uuid

HEADERS = {"A2A-Version": "1.0", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
METHODS = {"send_message": "SendMessage", "get_task": "GetTask", "cancel_task": "CancelTask"}
KNOWN = {"id", "case", "op", "url", "protocol_version", "binding", "text", "task", "context", "history", "patience_ms"}
STATES = "submitted working auth-required input-required completed failed canceled rejected".split()
KINDS = {-32001: "TASK_NOT_FOUND", -32002: "TASK_NOT_CANCELABLE", -32003: "PUSH_NOTIFICATION_NOT_SUPPORTED",
         -32004: "UNSUPPORTED_OPERATION", -32005: "CONTENT_TYPE_NOT_SUPPORTED", -32006: "INVALID_AGENT_RESPONSE",
         -32008: "EXTENSION_SUPPORT_REQUIRED", -32009: "VERSION_NOT_SUPPORTED",
         -32602: "INVALID_PARAMS", -32603: "INTERNAL"}

class Failure(Exception):
    """What kind of failure, and what to say of it."""

def fetch(url, patience, body=None):
    try: return urllib.request.urlopen(urllib.request.Request(url, body, HEADERS), timeout=patience)
    except urllib.error.HTTPError as answer: return answer

def call(ask):
    """Asks the agent: the id of the request, and the HTTP answer."""
    def pick(names): return {name: ask[told] for told, name in names.items() if told in ask}
    patience = ask.get("patience_ms", 3000) / 1000
    card = json.load(fetch(ask["url"] + ".well-known/agent-card.json", patience))
    interfaces = [one for one in card["supportedInterfaces"]
                  if one["protocolBinding"] == "JSONRPC" and (one["protocolVersion"] + ".").startswith("1.0.")]
    params = {"tenant": interfaces[0]["tenant"]} if "tenant" in interfaces[0] else {}
    if "text" in ask:
        message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": ask["text"]}]}
        params["message"] = message | pick({"task": "taskId", "context": "contextId"})
    else:
        params |= pick({"task": "id", "history": "historyLength"})
    request = {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": METHODS[ask["op"]], "params": params}
    return request["id"], fetch(interfaces[0]["url"], patience, json.dumps(request).encode())

def result(said, key, answer):
    if error := said.get("error"): raise Failure(KINDS.get(error["code"], "OTHER"), error["message"])
    if answer.status >= 400 or said["id"] != key: raise Failure("MALFORMED", "no answer to this request")
    return said["result"]

def text(of): return "".join(part.get("text", "") for part in of.get("parts", []))

def status(of):
    state = of["status"]["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
    return {"state": state if state in STATES else "unknown", "text": text(of["status"].get("message", {}))}

def told(got):
    """A task or a message, in the format of docs/reference/client-protocol.md."""
    if of := got.get("message"): return {"message": {"id": of["messageId"], "text": text(of)}}
    of = got.get("task", got)
    artifacts = [{"id": one["artifactId"], "text": text(one)} for one in of.get("artifacts", [])]
    return {"task": {"id": of["id"], **status(of), "artifacts": artifacts}}

def perform(ask, tell):
    key, answer = call(ask)
    tell(result=told(result(json.load(answer), key, answer)))

def main(operations):
    for line in sys.stdin:
        ask = json.loads(line)
        def tell(**said): print(json.dumps({"id": ask["id"], **said}), flush=True)
        try:
            if ask["op"] not in operations or ask["binding"] == "GRPC" or ask.keys() - KNOWN: raise Failure("UNIMPLEMENTED", "not in this example")
            operations[ask["op"]](ask, tell)
        except Failure as failure: tell(error=dict(zip(("kind", "message"), failure.args)))
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
            tell(error={"kind": "BROKEN", "message": repr(error)})

if __name__ == "__main__": main(dict.fromkeys(METHODS, perform))
