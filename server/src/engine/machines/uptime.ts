import type { Database, Transaction } from '../../platform/db/database.ts';
import type { Listening, Span } from '../model/span.ts';
import { BREAK_MS } from './heartbeat.ts';
import { listUptimes } from './queries.ts';

/**
 * Returns when reports of a workload with this `serverUrl` could be accepted; null before the first
 * heartbeat. An address of no process, such as a proxy, leads to all of them.
 */
export async function findListening(
  db: Database | Transaction,
  serverUrl: string | null,
): Promise<Listening | null> {
  const uptimes = await listUptimes(db);
  const anywhere = unbroken(uptimes);
  return (
    anywhere && { anywhere, there: unbroken(uptimes.filter(({ url }) => url === serverUrl)) ?? anywhere }
  );
}

/** Returns the newest gapless period that the spans cover together. */
export function unbroken(spans: Span[]): Span | null {
  const [newest, ...earlier] = spans.toSorted((a, b) => b.until.getTime() - a.until.getTime());
  if (!newest) return null;
  let { since } = newest;
  for (const span of earlier) {
    if (since.getTime() - span.until.getTime() > BREAK_MS) break;
    if (span.since < since) since = span.since;
  }
  return { since, until: newest.until };
}
