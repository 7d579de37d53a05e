-- When the user has put the first steps away; they are counted all the same.
alter table users add column onboarding_dismissed_at timestamptz;
