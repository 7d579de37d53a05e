import type pg from 'pg';
import { ping } from './database.ts';

/**
 * The row alone is written in place, for which a full disk has room while it has none for a new row. So a megabyte that
 * does not fit into the memory of one statement is spilled to a file, which is gone with it.
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
