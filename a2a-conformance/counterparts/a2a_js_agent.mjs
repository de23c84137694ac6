/**
 * An agent on the official JavaScript SDK that keeps the behaviour contract: a2a-conformance/docs/behaviour-contract.md.
 *
 *     npm install @a2a-js/sdk@1.3.0 express
 *     node a2a_js_agent.mjs 9702
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { AgentCard, Role, TaskState } from '@a2a-js/sdk';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import { createLegacyAwarePushNotificationSender } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';

const PORT = Number(process.argv[2]);
const URL = `http://127.0.0.1:${PORT}`;
const BINDINGS = { JSONRPC: `${URL}/rpc`, 'HTTP+JSON': `${URL}/rest` };
const ENDS = {
  ask: TaskState.TASK_STATE_INPUT_REQUIRED,
  auth: TaskState.TASK_STATE_AUTH_REQUIRED,
  fail: TaskState.TASK_STATE_FAILED,
  reject: TaskState.TASK_STATE_REJECTED,
};

const part = ($case, value, more) => ({
  content: { $case, value },
  filename: '',
  mediaType: '',
  metadata: undefined,
  ...more,
});
const text = (value) => part('text', value);
const message = (ids, parts) => ({
  messageId: randomUUID(),
  ...ids,
  role: Role.ROLE_AGENT,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/** What an order says about its task. */
class Updates {
  constructor(bus, ids) {
    this.bus = bus;
    this.ids = ids;
    this.canceled = new AbortController();
  }

  status(state, said) {
    const parts = said === undefined ? undefined : message(this.ids, [text(said)]);
    return { state, message: parts, timestamp: new Date().toISOString() };
  }

  task(task) {
    this.bus.publish(AgentEvent.task(task));
  }

  reach(state, said) {
    this.bus.publish(AgentEvent.statusUpdate({ ...this.ids, status: this.status(state, said), metadata: undefined }));
  }

  artifact(name, parts, { id = randomUUID(), append = false, lastChunk = true } = {}) {
    const artifact = { artifactId: id, name, description: '', parts, metadata: undefined, extensions: [] };
    this.bus.publish(AgentEvent.artifactUpdate({ ...this.ids, artifact, append, lastChunk, metadata: undefined }));
  }
}

/** Does what the first word of a message says. */
class Orders {
  tasks = new Map();

  async execute({ userMessage, taskId, contextId, task }, bus) {
    const all = userMessage.parts
      .filter(({ content }) => content?.$case === 'text')
      .map(({ content }) => content.value)
      .join('');
    const [, order, rest] = all.match(/^(\S*) ?(.*)$/s);
    if (order === 'reply' && !task) {
      bus.publish(AgentEvent.message(message({ taskId: '', contextId }, [text(rest)])));
      return;
    }
    const updates = new Updates(bus, { taskId, contextId });
    this.tasks.set(taskId, updates);
    if (task) {
      updates.task({ ...task, status: updates.status(TaskState.TASK_STATE_WORKING) });
      updates.artifact('answer', [text(all)]);
      updates.reach(TaskState.TASK_STATE_COMPLETED);
      return;
    }
    updates.task({
      id: taskId,
      contextId,
      status: updates.status(TaskState.TASK_STATE_SUBMITTED),
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    });
    if (await this.order(updates, userMessage, order, rest, all)) {
      updates.reach(TaskState.TASK_STATE_COMPLETED);
    }
  }

  /** Returns whether the task is to be completed. */
  async order(updates, { parts }, order, rest, all) {
    switch (order) {
      case 'parts':
        updates.artifact('parts', parts);
        return true;
      case 'chunks':
        return this.chunks(updates, ...rest.split(' ').filter(Boolean).map(Number));
      case 'artifacts':
        for (let number = 1; number <= Number(rest); number++) {
          updates.artifact(String(number), [text(String(number))]);
        }
        return true;
      case 'data':
        updates.artifact('data', [part('data', { answer: 42 })]);
        return true;
      case 'file':
        updates.artifact('file', [
          part('raw', Buffer.from('hello'), { filename: 'hello.txt', mediaType: 'text/plain' }),
        ]);
        return true;
      case 'link':
        updates.artifact('link', [part('url', rest)]);
        return true;
      case 'say':
        updates.reach(TaskState.TASK_STATE_WORKING, rest);
        return true;
      case 'ask':
      case 'auth':
      case 'fail':
      case 'reject':
        updates.reach(ENDS[order], rest);
        return false;
      case 'crash':
        throw new Error('the message asks for it');
      case 'wait':
        updates.reach(TaskState.TASK_STATE_WORKING);
        await new Promise((resolve) => updates.canceled.signal.addEventListener('abort', resolve));
        return false;
      default:
        updates.artifact('echo', [text(order === 'echo' ? rest : all)]);
        return true;
    }
  }

  async chunks(updates, count = 1, pause = 1) {
    const id = randomUUID();
    updates.reach(TaskState.TASK_STATE_WORKING);
    for (let number = 1; number <= count; number++) {
      if (number > 1) {
        await sleep(pause);
      }
      if (updates.canceled.signal.aborted) {
        return false;
      }
      updates.artifact('chunks', [text(`${number} `)], { id, append: number > 1, lastChunk: number === count });
    }
    return true;
  }

  async cancelTask(taskId, bus) {
    const { ids, canceled } = this.tasks.get(taskId);
    canceled.abort();
    new Updates(bus, ids).reach(TaskState.TASK_STATE_CANCELED);
  }
}

const interfaces = Object.entries(BINDINGS).map(([protocolBinding, url]) => ({
  url,
  protocolBinding,
  tenant: '',
  protocolVersion: '1.0',
}));
const card = AgentCard.fromJSON({
  name: 'Contract',
  description: 'Keeps the behaviour contract',
  version: '1.0.0',
  supportedInterfaces: duplicateInterfacesForLegacy(interfaces, Object.keys(BINDINGS)),
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'orders', name: 'Orders', description: 'Does each order', tags: ['test'] }],
});
const configs = new InMemoryPushNotificationStore();
const requestHandler = new DefaultRequestHandler(
  card,
  new InMemoryTaskStore(),
  new Orders(),
  new DefaultExecutionEventBusManager(),
  configs,
  createLegacyAwarePushNotificationSender(configs),
);
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };

const app = express();
app.use(
  '/.well-known/agent-card.json',
  agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }),
);
app.use('/rpc', jsonRpcHandler(options));
app.use('/rest', restHandler(options));
app.listen(PORT, '127.0.0.1');
