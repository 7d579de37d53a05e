-- What a run was estimated to need, by the formula alone: what runs report as their peak corrects it for those that come. Null: by none.
alter table runs add column memory_bytes bigint check (memory_bytes > 0);
