import type pg from 'pg';
import { ping } from './database.ts';

/**
 * A full disk may still have room for an update in place. So a megabyte that exceeds the memory of one statement is
 * spilled to a file, which is deleted with the statement.
 */
const WRITE = `
  set local work_mem = '64kB';
  with spilled as materialized (select repeat('x', 1024) from generate_series(1, 1024)) select count(*) from spilled;
  insert into readiness_checks (id) values (true)
  on conflict (id) do update set checked_at = now()`;

/** Checks that the database takes writes and its disk has room: it writes one row and a scratch file, and rejects when that fails. */
export function checkWrites(pool: pg.Pool): Promise<void> {
  return ping(pool, WRITE);
}
