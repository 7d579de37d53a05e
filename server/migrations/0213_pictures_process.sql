-- The process at which an OpenAI call waits for the picture. Where that is killed nobody notes `left_at`: the call repeated finds it by this.
alter table generations add column process_id uuid;
