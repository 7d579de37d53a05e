-- Which version of a licence of models a user has accepted, and when. Rows stay as they are, and go with the account.
create table licence_acceptances (
  user_id text not null references users (id),
  licence text not null,
  version text not null,
  accepted_at timestamptz not null,
  primary key (user_id, licence, version)
);
