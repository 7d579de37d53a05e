-- The hold comes after the lines: it locks the account of the user.
alter table batches alter hold_id drop not null;
-- The API key that started it, which ends it when it is revoked.
alter table drafts add key_id uuid;
