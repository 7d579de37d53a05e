-- How many tokens a request to a model server may have at most, with its answer; 0 where it makes pictures or videos.
-- Whoever asks for another context has another server.
alter table model_servers add column context_tokens integer not null default 0;
update model_servers set context_tokens = 4096 where kind in ('text', 'embedding');
alter table model_servers
  alter column context_tokens drop default,
  drop constraint model_servers_key,
  add constraint model_servers_key unique nulls not distinct
    (kind, engine, files_sha256, accelerator, accelerator_count, context_tokens, deployment_id, replica),
  add constraint model_servers_context_check check ((context_tokens = 0) = (kind = 'image'));
