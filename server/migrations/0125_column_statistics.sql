-- What the columns of data files hold, which takes seconds to find out and never changes with the bytes. It quotes the
-- file, and goes with its bytes.
create table column_statistics (
  sha256 text not null,
  -- By which the bytes are read.
  ending text not null,
  statistics jsonb not null,
  primary key (sha256, ending)
);

create function forget_column_statistics() returns trigger language plpgsql as $$
begin
  delete from column_statistics where sha256 = old.sha256;
  return null;
end $$;
create trigger column_statistics_forgotten after delete on blobs
  for each row execute function forget_column_statistics();
