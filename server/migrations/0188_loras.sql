-- Which models are LoRAs is noted when their files change: their list would otherwise look into the files of all models.
alter table assets add column is_lora boolean not null default false;
create index assets_loras on assets (owner_user_id, created_at, id) where is_lora and deleted_at is null;

update assets set is_lora = true
from (
  select asset_id, bool_or(path = 'pytorch_lora_weights.safetensors') as is_named,
    bool_or(path in ('config.json', 'model_index.json', 'adapter_config.json')) as is_of_another,
    count(*) filter (where path like '%.safetensors') as weights,
    bool_or(path ~ '^(model|adapter_model|diffusion_pytorch_model)(-\d+-of-\d+)?\.safetensors$') as is_of_library
  from asset_files
  where last_number is null and path ~ '^[^/]+\.(safetensors|json)$'
  group by asset_id
) top
where top.asset_id = assets.id and dataset_type = 'MODEL'
  and (is_named or not is_of_another and weights = 1 and not is_of_library);
