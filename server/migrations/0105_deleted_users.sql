-- A user who has deleted the account: a row without a name stays, because transfers name it for ever.
alter table users
  add column deleted_at timestamptz,
  -- When the last of what they had was gone.
  add column purged_at timestamptz;
create index users_to_purge on users (deleted_at) where deleted_at is not null and purged_at is null;

-- Nobody sends credits to where nobody is.
do $$
declare
  v_send text := pg_get_functiondef('ledger_send(text[],text[],bigint[],text[],boolean,bigint)'::regprocedure);
  v_before text := 'where u.username = lower(asked.recipient) or u.email = lower(asked.recipient) or u.id = asked.recipient';
begin
  if strpos(v_send, v_before) = 0 then raise exception 'ledger_send looks recipients up in another way'; end if;
  execute replace(v_send, v_before,
    'where (u.username = lower(asked.recipient) or u.email = lower(asked.recipient) or u.id = asked.recipient)
      and u.deleted_at is null');
end $$;
