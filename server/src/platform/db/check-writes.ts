import type pg from 'pg';
import { ping } from './database.ts';

/**
 * A full disk may still have room for an update in place. So spill a megabyte, which exceeds the statement's
 * memory, to a file that is deleted with the statement.
 */
const WRITE = `
  set local work_mem = '64kB';
  with spilled as materialized (select repeat('x', 1024) from generate_series(1, 1024)) select count(*) from spilled;
  insert into readiness_checks (id) values (true)
  on conflict (id) do update set checked_at = now()`;

/** Writes one row and a temporary file; rejects if the database is read-only or its disk is full. */
export function checkWrites(pool: pg.Pool): Promise<void> {
  return ping(pool, WRITE);
}
