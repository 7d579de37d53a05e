-- A run may also make one whole model of a fine-tune: an export, whose base model is the fine-tune.
alter table runs drop constraint runs_kind_known;
alter table runs add constraint runs_kind_known check (kind in ('text', 'pictures', 'export'));
