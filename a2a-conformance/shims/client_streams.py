"""The client of client.py, which must be in the same directory, with streams.

    a2a-conformance client --stdio 'python3 client_streams.py' --protocol-version 1.0 --binding jsonrpc --level must
"""
import io, json
from client import METHODS, STATES, Failure, call, main, perform, result, status, text, told

def documents(answer):
    """The JSON of an answer, or that of each of its Server-Sent Events."""
    if answer.headers.get_content_type() != "text/event-stream":
        yield json.load(answer)
        return
    data = ""
    for line in io.TextIOWrapper(answer, "utf-8-sig"):  # any line end, no byte order mark, letters whole
        if line.startswith("data:"): data += line[5:]
        elif line == "\n" and data:
            yield json.loads(data)
            data = ""

def event(got):
    if of := got.get("statusUpdate"): return {"status": {"task": of["taskId"], **status(of)}}
    if of := got.get("artifactUpdate"):
        place = {"append": of.get("append", False), "last": of.get("lastChunk", False)}
        return {"artifact": {"id": of["artifact"]["artifactId"], "text": text(of["artifact"]), **place}}
    return told(got)

def follow(ask, tell):
    key, answer = call(ask)
    for said in documents(answer):
        got = event(result(said, key, answer))
        tell(event=got)
        state = (got.get("task") or got.get("status") or {}).get("state")
        if "message" in got or state in STATES[3:]: return tell(done=True)
    raise Failure("CONNECTION", "the stream ended before the task did")

streams = {"stream": "SendStreamingMessage", "subscribe": "SubscribeToTask"}
operations = dict.fromkeys(METHODS, perform) | dict.fromkeys(streams, follow)
METHODS |= streams
main(operations)
