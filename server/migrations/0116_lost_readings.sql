-- Readings whose last attempt was killed with its worker stayed under way for ever.
update data_readings set state = 'failed', ended_at = now(),
  reason = 'Reading ' || file_name || ' was interrupted each time that it was tried. Please try again.'
where state = 'reading' and created_at < now() - interval '7 days';
