import type pg from 'pg';
import { ping } from './database.ts';

const WRITE = `
  insert into readiness_checks (id) values (true)
  on conflict (id) do update set checked_at = now()`;

/** Checks that the database takes writes: it writes one row, and rejects when that fails. */
export function checkWrites(pool: pg.Pool): Promise<void> {
  return ping(pool, WRITE);
}
