-- A starter model makes text or pictures.
alter table assets add column starter_task text check (starter_task in ('text', 'image'));
update assets set starter_task = 'text' where starter_slug is not null;
alter table assets add constraint assets_starter_task_check1 check ((starter_slug is null) = (starter_task is null));

alter type preparation_id add value 'starter-image-model';

-- Which revision of a starter model its server has loaded: what it makes is told by it.
alter table model_servers add column starter_revision_id uuid;
