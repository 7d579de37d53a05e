import type pg from 'pg';
import { ping } from './database.ts';

const FRESH_MS = 2_000;
const WRITE = `
  insert into readiness_checks (id) values (true)
  on conflict (id) do update set checked_at = now()`;

/**
 * Makes the check that the database takes writes: it writes one row, and rejects when that fails. An
 * answer is good for two seconds, so that many who ask cost no more than one.
 */
export function checkWrites(pool: pg.Pool): () => Promise<void> {
  let latest: Promise<void> | null = null;
  let settledAt = Number.NEGATIVE_INFINITY;
  let pending = false;

  return () => {
    const isFresh = pending || performance.now() - settledAt < FRESH_MS;
    if (latest && isFresh) return latest;
    pending = true;
    latest = ping(pool, WRITE).finally(() => {
      pending = false;
      settledAt = performance.now();
    });
    return latest;
  };
}
