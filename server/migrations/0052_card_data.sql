-- The metadata of a card, by its bytes: parsed once, in a confined process. A row without `data` waits for that, or has none.
create table card_data (
  sha256 text primary key references blobs (sha256) on delete cascade,
  data jsonb
);

-- The headers of a xorb's chunks, 8 bytes each, which say where each chunk is. Null for xorbs that came before this column.
alter table hub_xorbs add column chunk_headers bytea;
