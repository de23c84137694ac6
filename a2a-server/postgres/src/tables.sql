-- A task: a thin row that is rewritten with every event of its log. `key` is the first half of the SHA-256 of owner
-- and id, `owner_key` that of the owner. Statements about an active task are found by the holder of its lease. `turn` is
-- the number of the caller's message whose turn began last: later messages of the task wait for their turns.
create table @task (
  seq bigint generated always as identity primary key,
  key uuid not null,
  owner_key uuid not null,
  owner text collate "C" not null,
  id text collate "C" not null,
  context_id text collate "C",
  protocol_version text not null,
  sequence bigint not null,
  state text collate "C" not null,
  status_time bigint not null,
  active boolean not null,
  busy boolean not null,
  ended timestamptz,
  waits timestamptz,
  messages integer not null,
  turn integer not null,
  bytes bigint not null,
  lease_owner text collate "C" not null,
  lease_epoch bigint not null,
  lease_until timestamptz,
  constraint task_key unique (key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
create index task_list on @task (owner_key, status_time desc, id);
create index task_count on @task (owner_key, state);
create index task_busy on @task (lease_owner) where busy;
create index task_ended on @task (ended, seq) where ended is not null;
create index task_waits on @task (waits) where waits is not null;

-- The log: a row holds the events of one append, at most 16, an event a line; its number is that of the last.
create table @task_event (
  task bigint not null,
  sequence bigint not null,
  body bytea not null,
  constraint task_event_key primary key (task, sequence)
) with (autovacuum_vacuum_insert_scale_factor = 0.1);

-- The task as a whole after so many entries of its log, rewritten seldom.
create table @task_doc (
  task bigint primary key,
  sequence bigint not null,
  body bytea not null
);
create table @task_checkpoint (task bigint primary key, body bytea not null);

-- Tasks that are gone, and whose other rows are to go.
create table @task_gone (task bigint primary key);

-- Messages that were received. `key` is the first half of the SHA-256 of owner and message id.
create table @receipt (
  key uuid not null,
  digest bytea not null,
  task_id text,
  answer bytea,
  expires timestamptz not null,
  constraint receipt_key primary key (key)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index receipt_expires on @receipt (expires);

-- Messages that a server works on, of which nothing is stored yet.
create sequence @reservation_number;
create table @reservation (
  key uuid primary key,
  holder text collate "C" not null,
  number bigint not null,
  until timestamptz not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index reservation_holder on @reservation (holder);

-- Commands for the server that holds the lease of a task. Taken commands stay, without their bodies, until they are old, so that they are
-- not posted again. `format` is that of the body: a server takes only commands that it can read.
create table @command (
  position bigint generated always as identity primary key,
  id uuid not null,
  task bigint not null,
  posted timestamptz not null default clock_timestamp(),
  format smallint not null,
  taken boolean not null default false,
  body bytea not null,
  constraint command_id unique (id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index command_task on @command (task, position) where not taken;

-- Webhooks, and their notifications. `config` is the first half of the SHA-256 of a webhook's id. Before `due` no
-- notification of the webhook is due; null if it has none. Every write about its notifications writes to its row too.
create table @push_config (
  task bigint not null,
  config uuid not null,
  position integer not null,
  protocol_version text not null,
  due timestamptz,
  body bytea not null,
  primary key (task, config)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index push_config_due on @push_config (due) where due is not null;
create table @push_outbox (
  task bigint not null,
  config uuid not null,
  sequence bigint not null,
  attempt integer not null default 0,
  next_at timestamptz not null default clock_timestamp(),
  dead timestamptz,
  traceparent text,
  tracestate text,
  primary key (task, config, sequence),
  constraint push_outbox_config foreign key (task, config) references @push_config on delete cascade
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index push_outbox_first on @push_outbox (task, config, sequence) where dead is null;
create index push_outbox_dead on @push_outbox (dead, sequence) where dead is not null;
