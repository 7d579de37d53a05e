-- A model that judges which of two answers to a held-out row is better: that of the base, or that of the fine-tune. Each pair
-- is asked about in both orders. What a judgement can cost at most is held while it runs, and it is charged for the answers
-- that were kept. A run has one.
create table judgements (
  id uuid primary key,
  run_id uuid not null unique references runs (id) on delete cascade,
  user_id text not null references users (id),
  model text not null,
  prompt text not null,
  -- Micro-BGL for a million tokens, by the id of the price that each stands in for.
  prices jsonb not null,
  -- Null where nothing had to be asked.
  hold_id uuid,
  held_micro bigint not null check (held_micro >= 0),
  cost_micro bigint not null default 0 check (cost_micro >= 0),
  -- What was charged before it went on.
  charged_micro bigint not null default 0 check (charged_micro >= 0),
  error text,
  started_at timestamptz not null,
  cancelled_at timestamptz,
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- How it has ended.
  outcome text check (outcome in ('completed', 'cancelled', 'failed')),
  check_at timestamptz not null,
  lock_token uuid,
  locked_until timestamptz,
  constraint judgements_end_has_outcome check ((ended_at is null) = (outcome is null)),
  constraint judgements_running_has_hold check (ended_at is not null or hold_id is not null)
);
create index judgements_due on judgements (check_at) where ended_at is null;
create index judgements_of_user on judgements (user_id);

-- What the judge is asked, and what it has answered.
create table judge_answers (
  judgement_id uuid not null references judgements (id) on delete cascade,
  -- The row among the held-out answers of the run, from 0, and whether its answer A is the fine-tune's.
  row_number integer not null,
  tuned_first boolean not null,
  -- The answer as it is, and whose its last line names; or what the judge was refused with.
  text text,
  verdict text check (verdict in ('A', 'B', 'TIE')),
  error text,
  primary key (judgement_id, row_number, tuned_first),
  constraint judge_answers_verdict_of_text check (verdict is null or text is not null),
  constraint judge_answers_one_of_both check (text is null or error is null)
);
