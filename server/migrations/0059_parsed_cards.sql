-- False: a job will parse the card. A parsed card may have no metadata.
alter table card_data add column parsed boolean not null default false;
update card_data set parsed = true where data is not null;
