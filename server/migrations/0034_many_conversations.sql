-- A user has many conversations with a model; the one of before stays.
alter table conversations rename column id to model;
alter table conversations
  drop constraint conversations_pkey,
  -- The web app chooses it.
  add column id uuid not null default gen_random_uuid(),
  -- Its first question, cut short; empty where nothing has been asked.
  add column title text not null
    generated always as (left(coalesce(nullif(content #>> '{turns,0,content}', ''), content ->> 'unanswered', ''), 80)) stored,
  add primary key (user_id, model, id);
alter table conversations alter column id drop default;
