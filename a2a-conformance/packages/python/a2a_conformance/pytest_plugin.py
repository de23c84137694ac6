"""pytest plugin: a test for each check of the agent that `--a2a-agent` or `--a2a-exec` names."""

import shlex

import pytest

from . import SuiteError, run


def pytest_addoption(parser):
    group = parser.getgroup("a2a", "conformance of an A2A agent")
    group.addoption("--a2a-agent", metavar="URL", help="test the agent at this URL")
    group.addoption("--a2a-exec", metavar="COMMAND", help="test the agent that this command starts at {port}")
    group.addoption("--a2a-contract", action="store_true", help="the agent keeps the behaviour contract: run all checks")
    group.addoption("--a2a-args", metavar="OPTIONS", default="", help="further options of a2a-conformance agent")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session, config, items):
    url, exec = config.getoption("a2a_agent"), config.getoption("a2a_exec")
    if not url and not exec:
        return
    try:
        args = shlex.split(config.getoption("a2a_args"))
        checks = run(url, exec=exec, black_box=not config.getoption("a2a_contract"), args=args)
    except (SuiteError, ValueError) as error:
        raise pytest.UsageError(f"A2A conformance: {error}") from error
    agent = Agent.from_parent(session, name="a2a", nodeid="a2a")
    items.extend(CheckItem.from_parent(agent, name=str(check), check=check) for check in checks)


class Agent(pytest.Collector):
    def collect(self):
        return []


class CheckItem(pytest.Item):
    def __init__(self, *, check, **kwargs):
        super().__init__(**kwargs)
        self.check = check

    def runtest(self):
        if self.check.outcome == "skipped":
            pytest.skip(self.check.message)
        if self.check.outcome == "failed":
            pytest.fail(self.check.message, pytrace=False)

    def reportinfo(self):
        return "a2a", None, str(self.check)
