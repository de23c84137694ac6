"""Tests against two agents: `A2A` names the program `a2a`, `A2A_CONFORMANCE` the suite."""

import os
import shlex
import sys
from pathlib import Path

import a2a_conformance
import pytest
from a2a_conformance import SuiteError, outcome, run, verify

pytest_plugins = ["pytester"]
REFERENCE = f"{shlex.quote(os.environ.get('A2A', 'a2a'))} serve reference --local-webhooks --address 127.0.0.1:{{port}}"
BROKEN = shlex.join([sys.executable, str(Path(__file__).parent / "broken_agent.py")]) + " {port}"


def test_reference_agent_passes():
    checks = run(exec=REFERENCE, black_box=False, versions=["1.0"], bindings=["jsonrpc"])
    assert not [check for check in checks if check.outcome == "failed"]
    assert len([check for check in checks if check.outcome == "passed"]) > 150


def test_broken_agent_fails_with_requirement_and_cause():
    with pytest.raises(AssertionError) as failure:
        verify(exec=BROKEN, args=["--run", "rpc.id-echoed"])
    message = str(failure.value)
    for part in ["A2A10-9.3-M2 §9.3 Responses are JSON-RPC 2.0", "expected  -7", "found     1", "--run rpc.id-echoed", "curl -sSi http"]:
        assert part in message


def test_plugin_has_a_test_for_each_check(pytester, tmp_path):
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text("- {check: rpc.id-echoed, reason: TICKET-17, expires: 2999-12-31}\n"
                       "- {check: card.no-secrets, reason: TICKET-18, expires: 2020-01-01}\n")
    options = f"--waivers {shlex.quote(str(waivers))} --run rpc.* --run card.*"
    result = pytester.runpytest_subprocess("-rsf", "--a2a-exec", BROKEN, "--a2a-args", options)
    result.stdout.fnmatch_lines(["*waived: *TICKET-17*"])
    result.stdout.fnmatch_lines(["*not-applicable: the card does not declare*"])
    result.stdout.fnmatch_lines(["*the waiver of card.no-secrets is expired: TICKET-18*"])
    result.stdout.fnmatch_lines(["FAILED a2a::rpc.invalid-request 1.0 JSONRPC*"])
    assert result.ret == 1


def test_plugin_without_options_adds_nothing(pytester):
    assert pytester.runpytest_subprocess().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_unreachable_agent_is_an_error(pytester):
    result = pytester.runpytest_subprocess("--a2a-agent", "http://127.0.0.1:1")
    result.stderr.fnmatch_lines(["*A2A conformance: the suite checked nothing: the agent cannot be tested*cannot connect*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("path", ["/no/such/program", os.devnull])
def test_missing_program_is_an_error(monkeypatch, path):
    monkeypatch.setenv("A2A_CONFORMANCE", path)
    with pytest.raises(SuiteError, match=f"cannot run the suite: {path}: "):
        run("http://127.0.0.1:1")


def test_no_program_at_all_is_an_error(monkeypatch, tmp_path):
    monkeypatch.delenv("A2A_CONFORMANCE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(a2a_conformance.sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(SuiteError, match="no a2a-conformance in .* or on PATH"):
        run("http://127.0.0.1:1")


def test_url_or_command_is_required():
    with pytest.raises(SuiteError, match="one of url and exec"):
        run()


@pytest.mark.parametrize("verdict, level, strict, expected", [
    ("pass", "must", False, "passed"),
    ("note", "may", True, "passed"),
    ("not-applicable", "must", True, "skipped"),
    ("waived", "must", True, "skipped"),
    ("fail", "may", False, "failed"),
    ("warn", "should", False, "skipped"),
    ("warn", "should", True, "failed"),
    ("untestable", "must", False, "failed"),
    ("untestable", "should", False, "skipped"),
    ("setup-failed", "should", True, "failed"),
    ("flaky", "may", True, "skipped"),
    ("harness-error", "should", False, "failed"),
])
def test_outcome_is_that_of_the_suite(verdict, level, strict, expected):
    assert outcome({"verdict": verdict, "level": level}, strict) == expected
    if verdict not in ("pass", "note"):
        assert outcome({"verdict": verdict, "level": level, "sameCauseAs": "other"}, strict) == "skipped"
