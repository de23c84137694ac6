-- Number of the caller's message whose turn began last: later messages of the task wait for their turns. Null if a server
-- of the previous version has created the task: then none waits.
alter table @task add column turn integer;
