-- A branch numbers its revisions in a negative range of its own, of a million: reading files by number finds one line alone.
-- The files of its newest revision have the end of the range as last_number, never null: null is the newest revision of main.
create table revision_branches (
  asset_id uuid not null references assets (id) on delete cascade,
  name text not null,
  -- The beginning of its range, which holds copies of the files that it started with.
  start_number integer not null check (start_number < 0 and start_number % 1000000 = 0),
  -- The revision of main that it started at; 0: none.
  fork_number integer not null check (fork_number >= 0),
  -- Its newest revision; `fork_number` before its first commit.
  head_number integer not null,
  primary key (asset_id, name),
  unique (asset_id, start_number)
);

alter table revisions drop constraint revisions_number_check, add constraint revisions_number_check check (number <> 0);
alter table asset_files
  drop constraint asset_files_first_number_check,
  add constraint asset_files_first_number_check
    check (first_number <> 0 and (first_number > 0 or last_number is not null));
