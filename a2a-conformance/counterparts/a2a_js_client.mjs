/**
 * A client on the official JavaScript SDK, driven line by line: docs/reference/client-protocol.md.
 *
 *     npm install @a2a-js/sdk@1.3.0
 *     a2a-conformance client --stdio 'node a2a_js_client.mjs'
 *
 * The SDK assembles no tasks, receives no push notifications, and leaves certificates to Node: these are unimplemented.
 */

import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  ListTasksRequest,
  Part,
  Role,
  TaskPushNotificationConfig,
  taskStateToJSON,
  verifyAgentCardSignature,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  createAuthenticatingFetchWithRetry,
  withA2AExtensions,
} from '@a2a-js/sdk/client';

const KNOWN = new Set(
  (
    'id case op url protocol_version binding text parts metadata modes immediately detail task context references history ' +
    'extension config webhook list credentials patience_ms verify keys'
  ).split(' '),
);
const STATES = new Set('submitted working input-required auth-required completed failed canceled rejected'.split(' '));
const UNFINISHED = new Set(['submitted', 'working', 'auth-required']);

class Failure extends Error {
  constructor(kind, message = '') {
    super(message);
    this.kind = kind;
  }
}

const tenant = '';
const sessions = new Map();

/** Ends calls during which the agent is silent for too long. */
class Patience {
  constructor(ms = 5000) {
    this.ms = ms;
    this.aborts = new AbortController();
    this.renew();
  }

  renew() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.aborts.abort(new Failure('TIMEOUT', 'the agent is silent')), this.ms);
  }

  end() {
    clearTimeout(this.timer);
  }
}

function authorization({ bearer, user, password, api_key: key }, card) {
  if (bearer !== undefined) {
    return { Authorization: `Bearer ${bearer}` };
  }
  if (user !== undefined) {
    return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  }
  const schemes = Object.values(card.securitySchemes).map(({ scheme }) => scheme);
  const scheme = schemes.find((one) => one?.$case === 'apiKeySecurityScheme' && one.value.location === 'header');
  if (!scheme) {
    throw new Failure('UNIMPLEMENTED', 'no API key in a header');
  }
  return { [scheme.value.name]: key };
}

async function open(ask, patience) {
  const session = sessions.get(ask.url);
  if (session && ask.op !== 'fetch_card') {
    return session;
  }
  const legacyCompat = { enabled: ask.protocol_version === '0.3' };
  const impatient = (url, init) => fetch(url, { ...init, signal: patience.aborts.signal });
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl: impatient, legacyCompat });
  const card = await cardResolver.resolve(ask.url);
  if (ask.verify) {
    await verifyAgentCardSignature(async (kid) => ask.keys.keys.find((key) => key.kid === kid))(card);
  }
  let fetchImpl = fetch;
  if (ask.credentials) {
    const headers = async () => authorization(ask.credentials, card);
    fetchImpl = createAuthenticatingFetchWithRetry(fetch, { headers, shouldRetryWithHeaders: async () => undefined });
  }
  const Transport = ask.binding === 'JSONRPC' ? JsonRpcTransportFactory : RestTransportFactory;
  const factory = new ClientFactory({ transports: [new Transport({ fetchImpl, legacyCompat })], cardResolver });
  const opened = { card, client: () => (opened.made ??= factory.createFromAgentCard(card)) };
  sessions.set(ask.url, opened);
  return opened;
}

function request(ask) {
  const parts = (ask.parts ?? [{ text: ask.text ?? '' }]).map((part) => Part.fromJSON(part));
  const message = {
    messageId: randomUUID(),
    role: Role.ROLE_USER,
    parts,
    taskId: ask.task ?? '',
    contextId: ask.context ?? '',
    metadata: ask.metadata,
    extensions: ask.extension ? [ask.extension] : [],
    referenceTaskIds: ask.references ?? [],
  };
  const configuration = {
    acceptedOutputModes: ask.modes ?? [],
    historyLength: ask.history,
    returnImmediately: ask.op === 'send_and_wait' ? true : ask.immediately,
    taskPushNotificationConfig: pushConfig(ask),
  };
  return { tenant, message, configuration, metadata: undefined };
}

function pushConfig(ask) {
  const config = ask.config ?? (ask.webhook && { url: ask.webhook });
  return config && TaskPushNotificationConfig.fromJSON(config);
}

const said = (parts = []) =>
  parts
    .filter(({ content }) => content?.$case === 'text')
    .map(({ content }) => content.value)
    .join('');

function digest(ask) {
  const content = (parts) => ({
    text: said(parts),
    ...(ask.detail && { parts: parts.map((part) => Part.toJSON(part)) }),
  });
  const state = (state) => {
    const name = taskStateToJSON(state).replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
    return STATES.has(name) ? name : 'unknown';
  };
  const status = (status) => ({ state: state(status?.state), text: said(status?.message?.parts) });
  const task = ({ id, contextId, status: now, artifacts }) => ({
    id,
    context: contextId,
    ...status(now),
    artifacts: artifacts.map(({ artifactId, parts }) => ({ id: artifactId, ...content(parts) })),
  });
  const message = ({ messageId, parts }) => ({ id: messageId, ...content(parts) });
  const config = ({ id, taskId, url }) => ({ id, task: taskId, url });
  const event = ({ payload }) => {
    const { $case, value } = payload;
    switch ($case) {
      case 'task':
        return { task: task(value) };
      case 'message':
        return { message: message(value) };
      case 'statusUpdate':
        return { status: { task: value.taskId, context: value.contextId, ...status(value.status) } };
      case 'artifactUpdate': {
        const { artifactId, parts } = value.artifact;
        const marks = { append: value.append, last: value.lastChunk };
        return { artifact: { task: value.taskId, id: artifactId, ...content(parts), ...marks } };
      }
    }
  };
  const card = ({ name, capabilities }) => ({ card: { name, streaming: capabilities?.streaming ?? false } });
  const answer = (got) => ('messageId' in got ? { message: message(got) } : { task: task(got) });
  return { task, config, event, card, answer };
}

/** Executes an instruction; yields its events, and returns its result. */
async function* execute(ask, patience) {
  const { task, config, event, card, answer } = digest(ask);
  const session = await open(ask, patience);
  if (ask.op === 'fetch_card') {
    return card(session.card);
  }
  const client = await session.client();
  const parameters = ask.extension ? [withA2AExtensions(ask.extension)] : [];
  const options = { signal: patience.aborts.signal, serviceParameters: ServiceParameters.create(...parameters) };
  const which = { tenant, taskId: ask.task, id: 'config-1' };
  switch (ask.op) {
    case 'send_message':
      return answer(await client.sendMessage(request(ask), options));
    case 'send_and_wait': {
      let got = answer(await client.sendMessage(request(ask), options));
      while (UNFINISHED.has(got.task?.state)) {
        await sleep(500);
        patience.renew();
        got = { task: task(await client.getTask({ tenant, id: got.task.id }, options)) };
      }
      return got;
    }
    case 'stream':
    case 'subscribe': {
      const events =
        ask.op === 'stream'
          ? client.sendMessageStream(request(ask), options)
          : client.resubscribeTask({ tenant, id: ask.task }, options);
      for await (const one of events) {
        patience.renew();
        yield event(one);
      }
      return undefined;
    }
    case 'get_task':
      return { task: task(await client.getTask({ tenant, id: ask.task, historyLength: ask.history }, options)) };
    case 'cancel_task':
      return { task: task(await client.cancelTask({ tenant, id: ask.task, metadata: ask.metadata }, options)) };
    case 'list_tasks': {
      const asked = ListTasksRequest.fromJSON(ask.list ?? {});
      const tasks = [];
      do {
        const page = await client.listTasks(asked, options);
        tasks.push(...page.tasks.map(task));
        asked.pageToken = page.nextPageToken;
        patience.renew();
      } while (asked.pageToken);
      return { tasks };
    }
    case 'create_push_config': {
      const asked = { ...pushConfig(ask), taskId: ask.task };
      return { config: config(await client.createTaskPushNotificationConfig(asked, options)) };
    }
    case 'get_push_config':
      return { config: config(await client.getTaskPushNotificationConfig(which, options)) };
    case 'list_push_configs': {
      const asked = { tenant, taskId: ask.task, pageSize: 0, pageToken: '' };
      return { configs: (await client.listTaskPushNotificationConfig(asked, options)).configs.map(config) };
    }
    case 'delete_push_config':
      await client.deleteTaskPushNotificationConfig(which, options);
      return {};
    case 'extended_card':
      return card(await client.getAgentCard(options));
    default:
      throw new Failure('UNIMPLEMENTED');
  }
}

/** The kind of an error: the reason that the SDK gives, if the agent returned it. */
function kind(error) {
  const known = error.kind ?? error.reason ?? error.cause?.kind;
  if (known) {
    return known === 'INTERNAL_ERROR' ? 'INTERNAL' : known;
  }
  return error instanceof SyntaxError ? 'MALFORMED' : 'OTHER';
}

async function obey(ask) {
  const tell = (report) => process.stdout.write(`${JSON.stringify({ id: ask.id, ...report })}\n`);
  const patience = new Patience(ask.patience_ms);
  try {
    if (ask.binding === 'GRPC' || Object.keys(ask).some((name) => !KNOWN.has(name)) || !['0.3', '1.0'].includes(ask.protocol_version)) {
      throw new Failure('UNIMPLEMENTED');
    }
    const run = execute(ask, patience);
    let step = await run.next();
    while (!step.done) {
      tell({ event: step.value });
      step = await run.next();
    }
    tell(step.value === undefined ? { done: true } : { result: step.value });
  } catch (error) {
    tell({ error: { kind: kind(error), message: String(error.message) } });
  } finally {
    patience.end();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  await obey(JSON.parse(line));
}
