import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { MIGRATIONS_DIR, readMigrations } from './migrate.ts';

const LOOK_MS = 2_000;

type Options = {
  /** Called once, with the name of the unknown migration. */
  onUnknown: (name: string) => void;
  dir?: string;
};

/**
 * Polls for migrations of a newer version that do more than add: after them, writing with the old schema could
 * corrupt data. Returns a function that stops polling.
 */
export async function watchMigrations(
  db: Database,
  { onUnknown, dir = MIGRATIONS_DIR }: Options,
): Promise<() => void> {
  const { steps, functions } = await readMigrations(dir);
  const known = JSON.stringify([...steps, functions].map(({ name, sha256 }) => ({ name, sha256 })));
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    const { rows } = await sql<{ name: string }>`
      select name from schema_migrations
      where not expands and (name, sha256) not in (select name, sha256 from jsonb_to_recordset(${known}::jsonb) as k (name text, sha256 text))
      order by name limit 1`.execute(db);
    if (!rows[0] || ended) return;
    ended = true;
    onUnknown(rows[0].name);
  };
  const repeat = () => {
    timer = setTimeout(() => {
      // Ignore the error: without a database this process cannot write either.
      look()
        .catch(() => undefined)
        .finally(() => {
          if (!ended) repeat();
        });
    }, LOOK_MS);
    timer.unref();
  };
  repeat();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
