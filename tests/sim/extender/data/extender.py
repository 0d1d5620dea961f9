"""An extender for tests, told by its URL how to behave: http://127.0.0.1:PORT/MODE/VERB.

Writes its port to the file argv[1]. Modes: good, none (passes no node), slow, late (after the time
limit), refuse (status 500), error (the member Error), garbage, die (in the middle of the answer).
With a number behind it, a mode begins with that call, and those before are good: die3. Two further
modes go by the number of the call: turn (passes another node with each), second (passes all, but no
node at the second).
"""

import http.server
import json
import os
import re
import sys
import time


def names_of(args):
    if args.get("NodeNames") is not None:
        return args["NodeNames"]
    return [node["metadata"]["name"] for node in args["Nodes"]["items"]]


def filter_nodes(mode, args):
    if mode == "error":
        return {"Error": "out of order"}
    names = names_of(args)
    passed = [] if mode == "none" else [n for n in reversed(names) if n != "n1"]
    if mode == "turn":
        passed = [sorted(names)[calls % len(names)]]
    if mode == "second":
        passed = [] if calls == 2 else names
    # Letters of another case are as good.
    failed = {n: "n1 is not wanted" for n in names if n not in passed}
    if args.get("NodeNames") is not None:
        return {"nodenames": passed, "failednodes": failed}
    return {"nodes": {"items": [{"metadata": {"name": n}} for n in passed]}, "FAILEDNODES": failed}


def prioritize(mode, args):
    return [{"Host": n, "Score": 7 if n == "n3" else 0} for n in names_of(args)]


def preempt(mode, args):
    if args.get("NodeNameToMetaVictims") is not None:
        offered = args["NodeNameToMetaVictims"]
        uids = {n: [p["UID"] for p in v["Pods"]] for n, v in offered.items()}
    else:
        offered = args["NodeNameToVictims"]
        uids = {n: [p["metadata"]["uid"] for p in v["Pods"]] for n, v in offered.items()}
    last = max(uids)
    victims = {"Pods": [{"UID": u} for u in uids[last]], "NumPDBViolations": 0}
    return {"NodeNameToMetaVictims": {last: victims}}


def bind(mode, args):
    known = sorted(args) == ["Node", "PodName", "PodNamespace", "PodUID"]
    return {"Error": "" if mode != "error" and known else "not bound"}


calls = 0  # so far; a scheduler makes one after the other


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mode, verb = self.path.strip("/").split("/")
        global calls
        calls += 1
        mode, first = re.fullmatch("([a-z]+)([0-9]*)", mode).groups()
        mode = mode if calls >= int(first or 0) else "good"
        if mode == "late":
            time.sleep(2)
        if mode == "slow":
            time.sleep(0.2)
        verbs = {"filter": filter_nodes, "prioritize": prioritize, "preempt": preempt, "bind": bind}
        answer = json.dumps(verbs[verb](mode, json.loads(body))).encode()
        if mode == "garbage":
            answer = b"\xff{nonsense"
        self.send_response(500 if mode == "refuse" else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if mode == "die":
            self.wfile.write(answer[: len(answer) // 2])
            self.wfile.flush()
            os._exit(1)
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".part", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(sys.argv[1] + ".part", sys.argv[1])
server.serve_forever()
