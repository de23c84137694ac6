// Drives `a2a mcp` by the official client programs of MCP. See README.md.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';

const A2A = process.env.A2A ?? 'a2a';
const words = process.argv.slice(2);
const chosen = all => (all.some(it => words.includes(it)) ? all.filter(it => words.includes(it)) : all);
const children = new Set();
process.on('exit', () => children.forEach(child => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

// Starts a program, and returns it with the URL that is its first line.
async function start(args) {
  const child = spawn(A2A, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  children.add(child.on('exit', () => children.delete(child)));
  const line = await new Promise((resolve, reject) => {
    child.on('error', reject).on('exit', code => reject(new Error(`a2a ${args.join(' ')}: exit code ${code}`)));
    child.stdout.on('data', data => resolve(`${data}`.split('\n')[0]));
  });
  return { url: line.trim(), kill: signal => child.kill(signal) };
}
const serve = (what, address = '127.0.0.1:0') => start(['serve', ...what, '--local-webhooks', '--address', address]);

// Asks an agent of its tasks, by the command line.
const tasks = async (url, ...args) =>
  JSON.parse((await promisify(execFile)(A2A, ['task', ...args, '-a', url, '-o', 'json'])).stdout);
const working = async url => (await tasks(url, 'list', '--status', 'working')).tasks.map(task => task.id);
async function until(what, look) {
  for (let n = 0, found; n < 60; n++, await sleep(100)) if ((found = await look())) return found;
  throw new Error(`expected within 6 s: ${what}`);
}
const canceled = (url, id) => until(`the A2A task ${id} is canceled`, async () => /CANCELED/.test((await tasks(url, 'get', id)).status.state));
const begun = (url, before = []) => until('a new A2A task', async () => (await working(url)).find(id => !before.includes(id)));

// Connects a client to a new bridge.
async function open({ sdk, over, version }, agents, { answer, grace, knowsTasks } = {}) {
  const args = ['mcp', ...agents, '--log', 'off', '--a2a-version', version, ...(grace ? ['--grace', grace] : [])];
  const capabilities = { ...(answer && { elicitation: { form: {}, url: {} } }), ...(knowsTasks && { extensions: { 'io.modelcontextprotocol/tasks': {} } }) };
  const [info, legacy] = [{ name: 'drive', version: '1' }, sdk === 'legacy'];
  const client = legacy ? new Client1(info, { capabilities })
    : new Client2(info, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const asked = [];
  const handle = async ({ params }) => { asked.push(params); return answer(params); };
  if (answer) client.setRequestHandler(legacy ? ElicitRequestSchema : 'elicitation/create', handle);
  const [Stdio, Http] = legacy ? [Stdio1, Http1] : [Stdio2, Http2];
  const bridge = over === 'http' && await start([...args, '--http', '127.0.0.1:0']);
  const transport = bridge ? new Http(new URL(bridge.url)) : new Stdio({ command: A2A, args, stderr: 'inherit' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const call = (args, options, name = tools[0].name) =>
    client.callTool({ name, arguments: args }, ...(legacy ? [undefined, options] : [options]));
  const close = async () => { await client.close(); if (bridge) bridge.kill(); };
  return { client, transport, tools, asked, call, close, info, capabilities };
}
async function using(at, agents, options, run) {
  const it = await open(at, agents, options);
  try { return await run(it); } finally { await it.close(); }
}

// Opens a session of the tasks extension, whose requests and results the client itself does not know.
function session({ client, transport, info, capabilities }, onInputRequest) {
  const waiting = new Map();
  const rest = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const resolve = (!message.method && waiting.get(message.id)) || (() => rest(message, extra));
    resolve({ kind: message.error ? 'error' : 'result', error: message.error, result: message.result });
  };
  const rawDispatch = request => new Promise((resolve, reject) => {
    const id = `raw-${waiting.size}`;
    waiting.set(id, resolve);
    transport.send({ jsonrpc: '2.0', id, ...request }).catch(reject);
  });
  const v2RequestFraming = { protocolVersion: '2026-07-28', clientInfo: info, clientCapabilities: capabilities };
  return createTaskSessionFromClient(client, { endpointId: 'drive', rawDispatch, v2RequestFraming, onInputRequest });
}

const text = result => result.content.filter(it => it.type === 'text').map(it => it.text).join('\n');
const says = (result, pattern) => assert.match(text(result), pattern);
const fails = (result, pattern) => { assert.equal(result.isError, true, text(result)); says(result, pattern); };
const ids = result => result._meta['github.com/a2a-rust/a2a'];
const respond = (action, content) => ({ answer: () => ({ action, content }) });
const slow = { grace: '200ms', knowsTasks: true };
// Calls an agent that asks once its call has become a task, and responds.
const later = (at, { url }, action, content) => using(at, [url], { ...slow, ...respond(action, content) }, async it => {
  const asked = [];
  const onInput = async ({ params }) => { asked.push(params.message); return { action, ...(content && { content }) }; };
  const execution = await session(it, onInput).callTool(it.tools[0].name, { message: 'paint' });
  const { outcome } = await Promise.race([execution.settle(), sleep(12000, {})]);
  assert.deepEqual([execution.kind, asked], ['task', ['which colour?']]);
  return outcome ?? assert.fail('expected an end of the task within 12 s');
});

// Checks of a client with an agent, by their names. The third element names the client or the agent that they need.
const checks = [
  ['tools are listed', ({ plain: { tools, client } }) => {
    assert.match(client.getInstructions(), /context_id/);
    for (const it of tools) assert.ok(/^[a-z0-9_]{1,64}$/.test(it.name) && it.description && it.inputSchema.properties, it.name);
  }],
  ['a call, and one that goes on in its context', async ({ plain }) => {
    const result = await plain.call({ message: 'echo hello' });
    const { context_id } = ids(result);
    assert.deepEqual([text(result), !!result.isError], [`hello\ncontext_id: ${context_id}`, false]);
    assert.equal(ids(await plain.call({ message: 'echo again', context_id })).context_id, context_id);
  }],
  ['progress', async ({ plain }) => {
    const seen = [];
    says(await plain.call({ message: 'chunks 5 50' }, { onprogress: it => seen.push(it) }), /2/);
    const grows = seen.slice(1).every((it, n) => it.progress > seen[n].progress);
    assert.ok(grows && seen.length >= 4 && seen.some(it => it.message?.trim() === '2'), JSON.stringify(seen));
  }],
  ['the chunks of a text are one text', async ({ plain }) => says(await plain.call({ message: 'chunks 3 10' }), /1 2/)],
  ['calls at the same time', async ({ plain }) => {
    const results = await Promise.all([1, 2, 3, 4, 5].map(n => plain.call({ message: `echo n${n}` })));
    assert.deepEqual(results.map(it => it.content[0].text), ['n1', 'n2', 'n3', 'n4', 'n5']);
  }],
  ['a question is asked', ({ at, url }) => using(at, [url], respond('accept', { answer: 'red' }), async it => {
    const result = await it.call({ message: 'ask which phone?' });
    assert.deepEqual([it.asked[0]?.message, result.content[0].text, !!result.isError], ['which phone?', 'red', false]);
  })],
  ['a question that is declined can be answered later', ({ at, url }) => using(at, [url], respond('decline'), async it => {
    const declined = await it.call({ message: 'ask which phone?' });
    fails(declined, /declined[^]*task_id/);
    says(await it.call({ message: 'blue', task_id: ids(declined).task_id }), /blue/);
  })],
  ['a question that is canceled cancels the task', ({ at, url }) => using(at, [url], respond('cancel'), async it =>
    canceled(url, ids(await it.call({ message: 'ask which phone?' })).task_id))],
  ['a client without elicitation is told how to go on', async ({ plain }) => {
    const result = await plain.call({ message: 'ask which phone?' });
    const { task_id } = ids(result);
    says(result, new RegExp(`which phone\\?[^]*call the tool again with the answer[^]*task_id: ${task_id}`));
    says(await plain.call({ message: 'green', task_id }), /green/);
  }],
  ['a page for credentials', async ({ at, url, plain }) => {
    fails(await plain.call({ message: 'auth log in at https://login.example/a' }), /https:\/\/login\.example\/a[^]*task_id/);
    await using(at, [url], respond('decline'), async it => {
      fails(await it.call({ message: 'auth log in at https://login.example/a' }), /declined/);
      assert.deepEqual([it.asked[0].mode, it.asked[0].url], ['url', 'https://login.example/a']);
    });
  }, 'reference'],
  ['a call that is canceled cancels the task', async ({ plain, url }) => {
    const [before, abort] = [await working(url), new AbortController()];
    const refused = assert.rejects(plain.call({ message: 'wait' }, { signal: abort.signal }));
    const id = await begun(url, before);
    abort.abort('enough');
    await Promise.all([refused, canceled(url, id)]);
  }],
  ['a client that goes away cancels the task', ({ at, url }) => using(at, [url], {}, async it => {
    const before = await working(url);
    it.call({ message: 'wait' }).catch(() => {});
    const id = await begun(url, before);
    if (at.over === 'http' && at.sdk === 'legacy') await it.transport.terminateSession();
    await it.client.close();
    await canceled(url, id);
  })],
  ['data, files and links', async ({ plain }) => {
    const data = await plain.call({ message: 'data' });
    assert.deepEqual([data.structuredContent, data.content[0].text], [{ answer: 42 }, '{"answer":42}']);
    const { mimeType, uri, text, blob } = (await plain.call({ message: 'file' })).content[0].resource;
    assert.deepEqual([mimeType, uri, text ?? atob(blob)], ['text/plain', 'a2a:0/hello.txt', 'hello']);
    assert.equal((await plain.call({ message: 'link https://a.example/b' })).content[0].uri, 'https://a.example/b');
    const back = await plain.call({ message: 'parts', files: [{ bytes: 'AAE=', mime_type: 'image/png' }], data: { a: 1 } });
    says(back, /parts\n\{"a":1\}/);
    assert.equal(back.content.find(it => it.type === 'image')?.data, 'AAE=');
  }, 'reference'],
  ['failures and wrong calls', async ({ at, plain }) => {
    for (const message of ['fail no paper', 'crash']) fails(await plain.call({ message }), /failed/);
    await assert.rejects(plain.call({ message: 'a' }, undefined, 'nobody'), /unknown tool `nobody`/);
    fails(await plain.call({ mesage: 'a' }), /mesage/);
    fails(await plain.call({}), /nothing to send/);
    // In 0.1 the caller names a task, and thereby begins it.
    if (at.version !== '0.1') fails(await plain.call({ message: 'a', task_id: 'nothing' }), /task/i);
  }, 'reference'],
  ['two agents, and one that does not run', ({ at, url, joker }) => using(at, [url, joker.url, 'http://127.0.0.1:9'], {}, async it => {
    const joke = it.tools.find(tool => /joke/.test(tool.name));
    assert.equal((await it.call({ message: 'echo hello' })).content[0].text, 'hello');
    assert.ok(!(await it.call({ message: 'tell a joke about chickens' }, undefined, joke.name)).isError);
    await assert.rejects(it.call({ message: 'a' }, undefined, 'nobody'), /reached: http:\/\/127\.0\.0\.1:9/);
  })],
  ['an agent that comes late takes no name of another', async ({ at, url }) => {
    const gone = await serve(['reference']);
    gone.kill('SIGKILL');
    await using(at, [gone.url, url], {}, async it => {
      const { task_id } = ids(await it.call({ message: 'ask which phone?' }));
      const late = await serve(['reference'], new URL(gone.url).host);
      says(await it.call({ message: 'green', task_id }), /green/);
      assert.equal((await tasks(late.url, 'list')).tasks.length, 0, 'tasks of the other agent');
    });
  }, 'reference'],
  ['an agent that dies, and comes back', async ({ at }) => {
    const agent = await serve(['reference']);
    await using(at, [agent.url], {}, async it => {
      const call = it.call({ message: 'wait' });
      await begun(agent.url);
      agent.kill('SIGKILL');
      fails(await call, /agent/);
      fails(await it.call({ message: 'echo hello' }), /agent/);
      await serve(['reference'], new URL(agent.url).host);
      says(await it.call({ message: 'echo hello' }), /hello/);
    });
  }, 'reference'],
  ['a client of the old protocol gets no task', ({ at, url }) => using(at, [url], slow, async it =>
    says(await it.call({ message: 'chunks 3 500' }), /2/)), 'legacy'],
  ['tasks: an end at once, a later one, and a cancellation', ({ at, url }) => using(at, [url], slow, async it => {
    const [tasks, tool] = [session(it), it.tools[0].name];
    const seen = [];
    const onEvent = ({ task }) => { if (task) seen.push(task); };
    const settle = async message => (await (await tasks.callTool(tool, { message })).settle({ onEvent })).outcome;
    says((await settle('echo hello')).result, /hello/);
    says((await settle('chunks 3 500')).result, /2/);
    await assert.rejects(tasks.task('nothing').snapshot(), /unknown task/);
    const execution = await tasks.callTool(tool, { message: 'wait' });
    const settled = execution.settle();
    await execution.cancel();
    assert.equal((await settled).outcome.status, 'cancelled');
    await canceled(url, execution.handle.taskId);
    for (const it of seen) assert.ok(it.createdAt <= it.lastUpdatedAt, `created ${it.createdAt}, updated ${it.lastUpdatedAt}`);
  }), 'modern'],
  ['tasks: a question after the grace', async ({ at, asker }) =>
    says((await later(at, asker, 'accept', { answer: 'red' })).result, /painted red/), 'modern'],
  ['tasks: a question that is declined ends the task', ({ at, asker }) => later(at, asker, 'decline'), 'modern'],
];

const ASKER = 'case "$(cat)" in *red*) echo \'{"text":"painted red"}\';; *) sleep 1; echo \'{"ask":"which colour?"}\';; esac';
const [asker, joker] = [await serve(['--exec-json', '--exec', ASKER]), await serve(['joke'])];
const url = process.env.AGENT ?? (await serve(['reference'])).url;
const pairs = (some, others) => some.flatMap(it => others.map(other => [it, other].flat()));
const clients = pairs(chosen(['legacy', 'modern']), chosen(['stdio', 'http']));
for (const [version, sdk, over] of pairs(chosen(['1.0', '0.3', '0.2', '0.1']), clients)) {
  const at = { sdk, over, version };
  const can = [undefined, sdk, !process.env.AGENT && 'reference'];
  await using(at, [url], {}, async plain => {
    for (const [name, check, only] of checks.filter(it => can.includes(it[2]))) {
      const late = sleep(40000, undefined, { ref: false }).then(() => { throw new Error('expected an end within 40 s'); });
      const problem = await Promise.race([check({ at, url, plain, asker, joker }), late]).then(() => {}, error => error);
      if (problem) process.exitCode = 1;
      const why = problem ? `: ${problem.message.replace(/\s*\n\s*/g, ' ')}` : '';
      console.log(`${problem ? 'FAILED' : 'ok'} ${sdk} ${over} ${version}: ${name}${why}`);
    }
  });
}
process.exit();
