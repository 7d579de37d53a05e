-- What a job names as OpenAI has it: where it is logged as well, and the grader of its answers, which rewards say in other words.
alter table fine_tuning_jobs
  add column integrations jsonb not null default '[]',
  add column reinforcement jsonb;
