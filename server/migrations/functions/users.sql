-- Picks a free username from the local part of the email address for users without one: ada, then ada-2, ada-3. Runs
-- inside the insert, so that sign-up is one transaction. The lock prevents concurrent sign-ups from picking the same
-- name.
create or replace function pick_username() returns trigger language plpgsql as $$
declare
  base text;
  candidate text;
  n integer := 1;
begin
  if new.username is not null then
    return new;
  end if;
  -- Removes accents from letters and replaces all other characters with dashes.
  base := regexp_replace(normalize(lower(split_part(new.email, '@', 1)), NFD), '[\u0300-\u036f]', '', 'g');
  base := trim(both '-' from regexp_replace(base, '[^a-z0-9_]+', '-', 'g'));
  if base = '' then
    base := 'user';
  end if;
  base := left(rpad(base, greatest(length(base), 3), '0'), 24);
  perform pg_advisory_xact_lock(hashtextextended('pick_username:' || base, 0));
  candidate := base;
  while exists (select from users where username = candidate) loop
    n := n + 1;
    candidate := base || '-' || n;
  end loop;
  new.username := candidate;
  return new;
end
$$;

create or replace trigger pick_username before insert on users
  for each row execute function pick_username();

-- Rejects a sign-in that is in progress while its account is deleted. The row lock waits for an uncommitted deletion,
-- and a deletion waits for this lock: it locks the user's row before it deletes sessions, sign-in methods and keys.
create or replace function refuse_deleted_user() returns trigger language plpgsql as $$
declare
  v_deleted_at timestamptz;
begin
  select deleted_at into v_deleted_at from users where id = new.user_id for key share;
  if v_deleted_at is not null then
    raise exception 'the account of user % was deleted', new.user_id using errcode = 'check_violation';
  end if;
  return new;
end $$;

create or replace trigger sessions_of_nobody before insert on sessions
  for each row execute function refuse_deleted_user();
create or replace trigger sign_in_methods_of_nobody before insert on sign_in_methods
  for each row execute function refuse_deleted_user();
create or replace trigger api_keys_of_nobody before insert on api_keys
  for each row execute function refuse_deleted_user();
