"""An agent that answers each request with the same error and the same id."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1])
CARD = {
    "name": "Broken", "description": "Fails", "version": "1", "capabilities": {},
    "supportedInterfaces": [{"url": f"http://127.0.0.1:{PORT}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "fail", "name": "Fail", "description": "Fails", "tags": ["fail"]}],
}
FAILURE = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "broken"}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply(*((200, CARD) if self.path == "/.well-known/agent-card.json" else (404, {})))

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.reply(200, FAILURE)

    def reply(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
