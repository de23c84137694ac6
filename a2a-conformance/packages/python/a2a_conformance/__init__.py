"""Conformance checks of an A2A agent: runs the program `a2a-conformance` and reads its report."""

import json
import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Check", "SuiteError", "run", "verify"]

MET = {"pass", "pass-lenient", "note"}
BINDINGS = {"JSONRPC": "jsonrpc", "HTTP+JSON": "http-json", "GRPC": "grpc"}


class SuiteError(Exception):
    """The suite could not be run, or has checked nothing."""


@dataclass(frozen=True)
class Check:
    """A check in one protocol version and binding."""

    id: str
    level: str
    verdict: str
    version: "str | None"
    binding: "str | None"
    outcome: str
    """`passed`, `failed` or `skipped`."""
    message: str
    """Reason, requirement, difference and a command that repeats the request; empty if it passed."""

    def __str__(self):
        return " ".join(filter(None, [self.id, self.version, self.binding]))


def run(url=None, *, exec=None, black_box=True, versions=(), bindings=(), timeout=None, waivers=None, strict=False, args=()):
    """Tests the agent at `url`, or the agent that the command `exec` starts at `{port}`, and returns its checks.

    `black_box=False` is for agents that keep the behaviour contract. `args` are further options of the command line.
    Raises `SuiteError` if the suite cannot be run, the agent cannot be reached, or nothing was checked.
    """
    if bool(url) == bool(exec):
        raise SuiteError("cannot run the suite: one of url and exec is required")
    target = (["--exec", exec] if exec else [url]) + ["--black-box"] * black_box
    options = ["--strict"] * strict
    options += [word for version in versions for word in ("--protocol-version", version)]
    options += [word for binding in bindings for word in ("--binding", binding)]
    options += ["--timeout", str(timeout)] * (timeout is not None)
    options += ["--waivers", str(waivers)] * (waivers is not None)
    with tempfile.TemporaryDirectory() as directory:
        command = [program(), "agent", *target, *options, *args, "--report", "json", "-o", directory]
        try:
            done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
        except OSError as error:
            raise SuiteError(f"cannot run the suite: {command[0]}: {error.strerror}") from error
        path = Path(directory, "report.json")
        # 0 met, 1 not met, 4 the suite at fault, 5 a waiver out of date: with a report.
        if done.returncode not in (0, 1, 4, 5) or not path.exists():
            said = (done.stderr.strip() or done.stdout.strip()).removeprefix("error: ")
            raise SuiteError(f"the suite checked nothing: {said or 'no output'} (exit code {done.returncode})")
        return read_checks(json.loads(path.read_text(encoding="utf-8")), target)


def verify(url=None, **options):
    """Runs the suite, and raises `AssertionError` with the messages of all failed checks."""
    failed = [f"{check}\n{check.message}" for check in run(url, **options) if check.outcome == "failed"]
    assert not failed, f"{len(failed)} A2A checks failed\n\n" + "\n\n".join(failed)


def program():
    """Returns the path of the program: `A2A_CONFORMANCE`, that of this package, or the first on PATH."""
    name = "a2a-conformance"
    found = os.environ.get("A2A_CONFORMANCE") or shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found:
        return found
    raise SuiteError(f"cannot run the suite: no {name} in {sysconfig.get_path('scripts')} or on PATH: install it, or name it in A2A_CONFORMANCE")


def read_checks(report, target):
    """Returns the checks of a report, and a failed one for each waiver that is out of date."""
    rules = {rule["id"]: rule for rule in report.get("requirements", [])}
    strict = report["settings"].get("strict", False)
    checks = [read_check(check, rules, strict, target) for check in report["checks"]]
    for waiver in report.get("waivers", []):
        if waiver["state"] in ("expired", "stale"):
            message = f"the waiver of {waiver['check']} is {waiver['state']}: {waiver['reason']} (until {waiver['expires']})"
            place = waiver.get("protocolVersion"), waiver.get("binding")
            checks.append(Check(f"waiver.{waiver['check']}", "must", waiver["state"], *place, "failed", message))
    return checks


def read_check(check, rules, strict, target):
    result = outcome(check, strict)
    place = check.get("protocolVersion"), check.get("binding")
    message = "" if result == "passed" else describe(check, rules, target)
    return Check(check["id"], check["level"], check["verdict"], *place, result, message)


def outcome(check, strict):
    """Returns the outcome of a check: a failed one fails the run of the suite, too."""
    verdict, level = check["verdict"], check["level"]
    if verdict in MET:
        return "passed"
    if verdict in ("not-applicable", "waived") or check.get("sameCauseAs"):
        return "skipped"
    if verdict in ("fail", "harness-error"):
        return "failed"
    required = strict if verdict == "warn" or level == "should" else level == "must"
    return "failed" if required else "skipped"


def describe(check, rules, target):
    """Returns what was not met: the verdict, the sentences of the specification, the differences, and how to repeat it."""
    same, verdict, reason = check.get("sameCauseAs"), check["verdict"], check.get("reason")
    if same or verdict in ("not-applicable", "waived"):
        return f"{verdict}: " + (f"same cause as {same}" if same else reason or check["title"])
    lines = [f"{verdict}: {check['title']}", *filter(None, [reason])]
    for id in check["requirements"]:
        rule = rules.get(id)
        lines.append(f"{id} §{rule['section']} {rule['says']}" if rule else id)
    for mismatch in check.get("mismatches", []):
        lines += [f"  at        {mismatch['place']}", f"  expected  {mismatch['expected']}", f"  found     {mismatch['found']}"]
    filters = ["--run", check["id"]]
    if check.get("protocolVersion"):
        filters += ["--protocol-version", check["protocolVersion"]]
    if check.get("binding"):
        filters += ["--binding", BINDINGS.get(check["binding"], check["binding"])]
    lines.append("repeat: " + shlex.join(["a2a-conformance", "agent", *target, *filters]))
    # The request of the first difference.
    index = next((m["evidence"] for m in check.get("mismatches", []) if m.get("evidence") is not None), 0)
    lines += [e["command"] for e in check.get("evidence", [])[index : index + 1] if e.get("command")]
    return "\n".join(lines)
