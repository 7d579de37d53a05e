-- The revision of the LoRA that was put on the model, as it was when the picture was asked for.
alter table generations add column lora_revision_id uuid;
