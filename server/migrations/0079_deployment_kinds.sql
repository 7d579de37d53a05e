-- What runs and what a person has are of a kind: its row in modules/deployments/kinds says how it is
-- placed, what the runtime is told, what an hour costs and which words the wire has for its states.
alter table text_servers rename to model_servers;
alter table model_servers rename constraint text_servers_pkey to model_servers_pkey;
alter table model_servers rename constraint text_servers_check to model_servers_starter_check;
alter table model_servers rename constraint text_servers_starter_name_key to model_servers_starter_name_key;
-- Which engines there are is the kind's to say.
alter table model_servers drop constraint text_servers_engine_check;
alter table model_servers drop constraint text_servers_engine_files_sha256_accelerator_accelerator_co_key;
alter table model_servers add column kind text;
update model_servers set kind = 'text';
alter table model_servers alter column kind set not null;
alter table model_servers add constraint model_servers_shared_key
  unique nulls not distinct (kind, engine, files_sha256, accelerator, accelerator_count);
-- llama.cpp is given one file, and that is the one it loads.
alter table model_servers drop column model_file;

alter table deployments rename column text_server_id to model_server_id;
alter table deployments rename constraint deployments_text_server_id_fkey to deployments_model_server_id_fkey;
alter table deployments add column kind text;
update deployments set kind = 'text';
alter table deployments alter column kind set not null;
-- Null: the base itself. Else what of it is loaded beside the base, as its kind's spec wants it.
alter table deployments add column adapter jsonb;
update deployments
set adapter = jsonb_build_object('file', adapter_file, 'files', adapter_files, 'rank', adapter_rank)
where adapter_file is not null;
alter table deployments drop column adapter_file, drop column adapter_files, drop column adapter_rank;

-- A user's deployments are listed by kind.
drop index deployments_by_user;
create index deployments_by_user on deployments (user_id, kind, created_at desc);

update workloads set kind = 'model-server' where kind = 'text-server';
update idempotency_keys set operation = 'deploy-text' where operation = 'deploy-vllm';
