-- Whether a copy was read without a token, so that everybody may read its repository. Of older ones nobody knows.
alter table asset_sources add column without_token boolean not null default false;
