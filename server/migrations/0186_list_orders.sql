-- A list is read page by page in an order that ends with the id: an index that has all of it brings a page without sorting
-- the rest.
drop index deployments_by_user;
create index deployments_by_user on deployments (user_id, created_at desc, id desc);
create index deployments_by_kind on deployments (user_id, kind, created_at desc, id desc);
create index deployments_by_title on deployments (user_id, lower(title), id);
drop index runs_by_user;
create index runs_by_user on runs (user_id, created_at desc, id desc);
create index runs_by_title on runs (user_id, lower(title), id);
create index assets_by_creation on assets (owner_user_id, created_at, id) where deleted_at is null;
create index users_by_creation on users (created_at, id);
create index credit_code_redemptions_latest on credit_code_redemptions (code_id, redeemed_at desc);

-- The last runs that have finished at a price tell how fast the next one will be.
create index runs_by_price on runs (price_id, created_at desc);

-- What an address has asked for within the hour, among all that its user ever did.
create index audit_log_by_action on audit_log (user_id, action, at);

-- Whom an operator looks for by a part of their name or address.
create index users_by_words on users using gin (username gin_trgm_ops, email gin_trgm_ops, lower(name) gin_trgm_ops)
  with (gin_pending_list_limit = 256);
