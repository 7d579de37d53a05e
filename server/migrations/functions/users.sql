-- Picks a free username from the part of the email address before the @, for people who gave none: ada, then ada-2, ada-3.
-- It runs inside the insert, so that sign-up stays one transaction; the lock lets two people with the same name sign up at once.
create or replace function pick_username() returns trigger language plpgsql as $$
declare
  base text;
  candidate text;
  n integer := 1;
begin
  if new.username is not null then
    return new;
  end if;
  -- Letters lose their accents, all else becomes a dash.
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

-- A sign-in that is under way while its account is deleted does not get in. The lock waits for a deletion that is about
-- to be committed, and a deletion waits for it: it locks the user's row before it deletes what opens the account.
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
