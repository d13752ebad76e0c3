-- Facts as tables, for people and reports. The store reads none of them. A fact in which U+0000 or half
-- a surrogate pair is escaped has no columns but its number: jsonb can't hold such a text.

create view readable_fact with (security_invoker = true) as
  select f.tenant, f.uid, f.n, f.type,
    case when f.body !~ '\\u(0000|d[89a-f])' then f.body::jsonb end as body
  from fact f;

create view run with (security_invoker = true) as
  select started.tenant, started.uid, started.n, started.body ->> 'runId' as run_id,
    finished.n as finished_n, finished.body ->> 'outcome' as outcome
  from readable_fact started
  left join lateral (
    select f.n, f.body from readable_fact f
    where f.uid = started.uid and f.n > started.n and f.type = 'run_finished'
      and f.body ->> 'runId' = started.body ->> 'runId'
    order by f.n limit 1
  ) finished on true
  where started.type = 'run_started';

create view input with (security_invoker = true) as
  select tenant, uid, n, body ->> 'inputId' as input_id, body #>> '{input,kind}' as kind
  from readable_fact where type = 'input_accepted';

create view tool_execution with (security_invoker = true) as
  select started.tenant, started.uid, started.n, started.body ->> 'callId' as call_id,
    started.body ->> 'tool' as tool, started.body ->> 'runId' as run_id,
    finished.n as finished_n, finished.body ->> 'status' as status
  from readable_fact started
  left join lateral (
    select f.n, f.body from readable_fact f
    where f.uid = started.uid and f.n > started.n and f.type = 'tool_execution_finished'
      and f.body ->> 'callId' = started.body ->> 'callId'
    order by f.n limit 1
  ) finished on true
  where started.type = 'tool_execution_started';

create view approval with (security_invoker = true) as
  select asked.tenant, asked.uid, asked.n, asked.body ->> 'approvalId' as approval_id,
    asked.body ->> 'tool' as tool, answer.n as answer_n, answer.body ->> 'decision' as decision
  from readable_fact asked
  left join lateral (
    select f.n, f.body from readable_fact f
    where f.uid = asked.uid and f.n > asked.n and f.type = 'approval_resolved'
      and f.body ->> 'approvalId' = asked.body ->> 'approvalId'
    order by f.n limit 1
  ) answer on true
  where asked.type = 'approval_requested';

create view usage with (security_invoker = true) as
  select tenant, uid, n, body ->> 'runId' as run_id,
    (body #>> '{usage,inputTokens}')::numeric as input_tokens,
    (body #>> '{usage,outputTokens}')::numeric as output_tokens,
    (body #>> '{usage,cachedTokens}')::numeric as cached_tokens,
    (body #>> '{usage,cost}')::numeric as cost
  from readable_fact where type = 'usage_reported';
