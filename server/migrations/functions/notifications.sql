-- Notifies a user who receives credits from another user. A trigger, because such a transfer is a single-statement
-- transaction: the notification commits with the transfer, and a replayed call adds none. A sender could transfer tiny
-- amounts all day, so at most twenty unread notifications per sender are stored; more would only bury the others. The
-- lock of the sender's account serializes the sender's transfers, so the count is exact.
create or replace function notify_of_received_credits() returns trigger language plpgsql as $$
begin
  insert into notifications (user_id, kind, data)
  select recipient.owner_user_id, 'credits_received',
    jsonb_build_object('amount_micro', new.amount::text, 'sender', sender.username)
  from ledger_accounts recipient, ledger_accounts payer
  join users sender on sender.id = payer.owner_user_id
  where recipient.id = new.credit_account_id and recipient.owner_user_id is not null
    and payer.id = new.debit_account_id
    and (
      select count(*) from (
        select from notifications
        where user_id = recipient.owner_user_id and kind = 'credits_received' and data ->> 'sender' = sender.username
          and read_at is null
        limit 20
      ) unread
    ) < 20;
  return null;
end $$;

create or replace trigger ledger_transfers_notify after insert on ledger_transfers
  for each row when (new.kind = 'transfer') execute function notify_of_received_credits();
