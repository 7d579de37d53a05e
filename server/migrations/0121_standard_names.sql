-- What a user sent says nothing of names under its seal: the statement names the other side as the account has it now.
do $$
declare
  v_send text := pg_get_functiondef('ledger_send(text[],text[],bigint[],text[],boolean,bigint)'::regprocedure);
  v_change text[];
begin
  foreach v_change slice 1 in array array[
    [E'  v_descriptions text[];\n', ''],
    [E'    array_agg(format(\'Bagels from %s to %s\', s.username, r.username) order by n),\n', ''],
    ['v_without_account, v_descriptions, v_keys', 'v_without_account, v_keys'],
    ['''transfer'', v_descriptions[i], ''{}''', '''transfer'', ''Bagels'', ''{}'''],
    ['u.id, u.username from users u', 'u.id from users u'],
    [E'  left join users s on s.id = asked.sender\n', '']
  ] loop
    if strpos(v_send, v_change[1]) = 0 then raise exception 'ledger_send describes transfers in another way'; end if;
    v_send := replace(v_send, v_change[1], v_change[2]);
  end loop;
  execute v_send;
end $$;

-- Names of functions, triggers and columns: what the field calls them.
alter function tell_row_change() rename to notify_row_change;
create or replace function notify_row_change() returns trigger language plpgsql as $$
begin
  -- Before and after, for a name that changes: PostgreSQL delivers equal messages of a transaction once.
  perform pg_notify('bakehouse_row_change', json_build_object('of', tg_argv[0], 'id', changed.id)::text)
  from (values (to_jsonb(old)), (to_jsonb(new))) as version (fields),
    lateral (select coalesce(fields->>tg_argv[1], fields->>'id') as id) as changed
  where changed.id is not null;
  return null;
end $$;

alter trigger api_keys_tell_change on api_keys rename to api_keys_notify_change;
alter trigger api_keys_tell_end on api_keys rename to api_keys_notify_delete;
alter trigger deployments_tell_change on deployments rename to deployments_notify_change;
alter trigger deployments_tell_start on deployments rename to deployments_notify_insert_delete;
alter trigger model_servers_tell_change on model_servers rename to model_servers_notify_change;
alter trigger users_tell_change on users rename to users_notify_change;
alter trigger workloads_tell_change on workloads rename to workloads_notify_change;

alter trigger api_keys_of_nobody on api_keys rename to api_keys_refuse_deleted_user;
alter trigger sessions_of_nobody on sessions rename to sessions_refuse_deleted_user;
alter trigger sign_in_methods_of_nobody on sign_in_methods rename to sign_in_methods_refuse_deleted_user;

alter table purchases rename column taken_back_cents to reversed_cents;
alter table purchases rename constraint purchases_taken_back_within to purchases_reversed_within;
alter table purchases rename column looked_at to checked_at;
