-- A starter model may make embeddings, and each machine prepares one.
alter type preparation_id add value 'starter-embedding-model';
alter table assets
  drop constraint assets_starter_task_check,
  add constraint assets_starter_task_check check (starter_task in ('text', 'embedding', 'image'));
