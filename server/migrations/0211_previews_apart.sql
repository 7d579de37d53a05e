-- A preview is written several times a second, and worth nothing once its picture has ended: neither the row that is
-- leased and read with every list, nor the log of the database carries it.
create unlogged table generation_previews (
  generation_id uuid primary key references generations (id) on delete cascade,
  preview text not null check (length(preview) <= 200000)
);
alter table generations drop column preview;
