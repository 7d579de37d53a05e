-- A sign-in that is under way while its account is deleted does not get in. The lock waits for a deletion that is about
-- to be committed, and a deletion waits for it: it locks the user's row before it deletes what opens the account.
create function refuse_deleted_user() returns trigger language plpgsql as $$
declare
  v_deleted_at timestamptz;
begin
  select deleted_at into v_deleted_at from users where id = new.user_id for key share;
  if v_deleted_at is not null then
    raise exception 'the account of user % was deleted', new.user_id using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger sessions_of_nobody before insert on sessions
  for each row execute function refuse_deleted_user();
create trigger sign_in_methods_of_nobody before insert on sign_in_methods
  for each row execute function refuse_deleted_user();
create trigger api_keys_of_nobody before insert on api_keys
  for each row execute function refuse_deleted_user();
