-- Operators read the audit log backwards, as a whole or of one user; ids grow with time.
create index audit_log_by_user on audit_log (user_id, id desc);
drop index audit_log_user;
