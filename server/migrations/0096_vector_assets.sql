-- An index of vectors is an asset too, and is listed as one.
alter table assets drop constraint assets_dataset_type_check;
alter table assets add constraint assets_dataset_type_check check (dataset_type in ('RAW', 'MODEL', 'VECTOR'));
