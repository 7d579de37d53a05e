-- Which picture of its source an edit was made from: one generation may have made several.
alter table generations add column source_output_id uuid references generation_outputs (id) on delete set null;
create index generations_by_source_output on generations (source_output_id);
