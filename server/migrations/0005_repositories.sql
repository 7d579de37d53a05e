-- What clients of the model hub call an asset: `namespace/name`, where the namespace is that of its owner. Models and
-- datasets have names apart.
alter table assets add column name text;
create unique index assets_repository
  on assets (coalesce(owner_user_id, ''), (dataset_type = 'MODEL'), lower(name)) where deleted_at is null;

-- As pick_asset_name() does for those that are made from now on.
do $$
declare
  asset record;
  base text;
  candidate text;
  n integer;
begin
  for asset in
    select id, coalesce(owner_user_id, '') as owner, dataset_type = 'MODEL' as is_model,
      coalesce(starter_slug, title) as words
    from assets order by created_at, id
  loop
    base := regexp_replace(normalize(asset.words, NFKD), '[\u0300-\u036f]', '', 'g');
    base := regexp_replace(regexp_replace(base, '[^A-Za-z0-9_.-]+', '-', 'g'), '[.-]{2,}', '-', 'g');
    base := regexp_replace(trim(both '.-' from left(base, 80)), '(\.(git|ipynb))+$', '', 'i');
    if base = '' then
      base := case when asset.is_model then 'model' else 'dataset' end;
    end if;
    n := 1;
    candidate := base;
    while exists (
      select from assets
      where coalesce(owner_user_id, '') = asset.owner and (dataset_type = 'MODEL') = asset.is_model
        and lower(name) = lower(candidate) and deleted_at is null
    ) loop
      n := n + 1;
      candidate := base || '-' || case when n < 10 then n::text else left(md5(asset.id::text), 10) end;
    end loop;
    update assets set name = candidate where id = asset.id;
  end loop;
end $$;

alter table assets
  alter column name set not null,
  -- None yet: pick_asset_name() picks one.
  alter column name set default '',
  add constraint assets_name_check
    check (name ~ '^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?$' and name !~ '(--|\.\.|\.git$)');

-- What a revision is called outside: as a commit of Git, though it is the hash of nothing.
alter table revisions
  add column commit_id text not null
    default substr(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 1, 40)
    constraint revisions_commit_id_check check (commit_id ~ '^[0-9a-f]{40}$'),
  -- What its author says of it: a title, and after an empty line more; empty where nobody has said anything.
  add column message text not null default '',
  add column author_user_id text references users (id),
  add constraint revisions_commit_key unique (asset_id, commit_id);

-- A name that stays with one revision.
create table revision_tags (
  asset_id uuid not null references assets (id) on delete cascade,
  name text not null,
  revision_id uuid not null references revisions (id) on delete cascade,
  message text not null default '',
  created_at timestamptz(3) not null default now(),
  primary key (asset_id, name)
);
create index revision_tags_revision on revision_tags (revision_id);
