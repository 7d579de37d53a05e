import type pg from 'pg';
import { ping } from './database.ts';

/**
 * On a full disk, an update in place may still succeed. So also write a megabyte to a temporary file: it
 * exceeds the statement's memory, and is deleted when the statement ends.
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
