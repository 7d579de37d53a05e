-- What a user is told of: how long work ended, credits that came or are nearly gone, access, keys.
create table notifications (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id) on delete cascade,
  -- Its sentence and its link are made of both when it is read: modules/notifications/kinds.ts.
  kind text not null,
  data jsonb not null check (jsonb_typeof(data) = 'object'),
  created_at timestamptz not null default now(),
  read_at timestamptz
);
create index notifications_by_user on notifications (user_id, id desc);

-- Who receives credits from another user hears of it. In the database, because such transfers are a
-- transaction of one statement: it is told with the transfer or not at all, and a repeated call tells nothing.
create function notify_of_received_credits() returns trigger language plpgsql as $$
begin
  insert into notifications (user_id, kind, data)
  select recipient.owner_user_id, 'credits_received',
    jsonb_build_object('amount_micro', new.amount::text, 'sender', sender.username)
  from ledger_accounts recipient, ledger_accounts payer
  join users sender on sender.id = payer.owner_user_id
  where recipient.id = new.credit_account_id and recipient.owner_user_id is not null
    and payer.id = new.debit_account_id;
  return null;
end $$;

create trigger ledger_transfers_notify after insert on ledger_transfers
  for each row when (new.kind = 'transfer') execute function notify_of_received_credits();

-- Users who had more than the limit below which credit is nearly gone, and were not told since that it is.
create table low_balance_watch (
  user_id text primary key references users (id) on delete cascade
);
