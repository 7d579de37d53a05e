import { sql } from 'kysely';
import { createPool, type Database, openDatabase } from '../platform/db/database.ts';
import { onFileEnd } from './on-file-end.ts';

type Asked = {
  text: string;
  values: unknown[];
  /** Rows that the query returned. Empty until the query completes. */
  rows: unknown[];
};

/** Returns a database that records its queries. It is closed when the test file ends. */
export function recordingDatabase(url: string): { db: Database; asked: Asked[] } {
  const asked: Asked[] = [];
  const pool = createPool(url);
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    Object.assign(client, {
      query: (...args: unknown[]) => {
        const [text, values] = args;
        const answer = query(...args);
        if (typeof text !== 'string' || !Array.isArray(values)) return answer;
        const entry: Asked = { text, values, rows: [] };
        asked.push(entry);
        return (answer as Promise<{ rows: unknown[] }>).then((result) => {
          entry.rows = result.rows;
          return result;
        });
      },
    });
  });
  const db = openDatabase(pool);
  onFileEnd(() => db.destroy());
  return { db, asked };
}

type Recording = ReturnType<typeof recordingDatabase>;

/**
 * Runs `ask`, and returns PostgreSQL's plan of each of its queries. With `analyze`, runs the queries again
 * and includes what they read.
 */
export async function plansOf(
  { db, asked }: Recording,
  ask: () => Promise<unknown>,
  { analyze = false }: { analyze?: boolean } = {},
): Promise<string[]> {
  asked.length = 0;
  await ask();
  const plans: string[] = [];
  // Skip begin and commit, which have no plan.
  const queries = asked.filter(({ text }) => /^\s*\(?(select|with|insert|update|delete)\b/i.test(text));
  for (const { text, values } of queries) {
    const { rows } = await db.executeQuery<Record<'QUERY PLAN', string>>({
      ...sql`select 1`.compile(db),
      sql: `explain (analyze ${analyze}, costs off) ${text}`,
      parameters: values,
    });
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  return plans;
}
