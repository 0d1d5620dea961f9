#!/usr/bin/env python3
"""A scheduler extender: packs pods by an extended resource, and keeps them off nodes without it.

    python3 python/example_extender.py --port 8888 --resource example.com/gpu

Two verbs over HTTP, both with nodeCacheCapable: false, so that nodes come with their objects:
  filter      fails nodes whose allocatable amount is less than what the pod requests
  prioritize  10 for the node with the least that suffices, 0 for the one with the most
"""

import argparse
import http.server
import json
import sys


def quantity(text):
    """The value of a whole quantity: extended resources have no fractions."""
    suffixes = {"k": 10**3, "M": 10**6, "Ki": 2**10, "Mi": 2**20}
    for suffix, factor in suffixes.items():
        if str(text).endswith(suffix):
            return int(str(text)[: -len(suffix)]) * factor
    return int(text)


def requested(pod, resource):
    containers = pod.get("spec", {}).get("containers", [])
    requests = [c.get("resources", {}).get("requests", {}) for c in containers]
    return sum(quantity(r.get(resource, 0)) for r in requests)


def allocatable(node, resource):
    return quantity(node.get("status", {}).get("allocatable", {}).get(resource, 0))


def answer_filter(args, resource):
    wanted = requested(args["Pod"], resource)
    passed, failed = [], {}
    for node in args["Nodes"]["items"]:
        if allocatable(node, resource) >= wanted:
            passed.append(node)
        else:
            failed[node["metadata"]["name"]] = f"fewer than {wanted} of {resource}"
    # Evictions do not help: the node never has as many.
    return {"Nodes": {"items": passed}, "FailedAndUnresolvableNodes": failed, "Error": ""}


def answer_prioritize(args, resource):
    amounts = {n["metadata"]["name"]: allocatable(n, resource) for n in args["Nodes"]["items"]}
    least, most = min(amounts.values()), max(amounts.values())
    span = max(most - least, 1)
    return [{"Host": n, "Score": 10 * (most - a) // span} for n, a in amounts.items()]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    resource = ""

    def do_POST(self):
        verbs = {"filter": answer_filter, "prioritize": answer_prioritize}
        args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        verb = verbs.get(self.path.rsplit("/", 1)[-1])
        body = json.dumps(verb(args, self.resource) if verb else {}).encode()
        self.send_response(200 if verb else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8888, help="0: any; it is printed")
    parser.add_argument("--resource", default="example.com/gpu")
    arguments = parser.parse_args()
    Handler.resource = arguments.resource
    server = http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler)
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
