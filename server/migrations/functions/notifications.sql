-- Who receives credits from another user hears of it. In the database, because such transfers are a transaction of one
-- statement: it is told with the transfer or not at all, and a repeated call tells nothing. Sums as small as they get can be
-- sent all day: beyond twenty unread of one sender, further ones would only bury the rest. A sender's transfers come one
-- after the other, under the lock of their account, so none is counted too late.
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
