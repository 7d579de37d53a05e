import type { Database, Transaction } from '../../platform/db/database.ts';
import { BREAK_MS } from './heartbeat.ts';
import { listUptimes } from './queries.ts';

/** From the first to the last of some beats that were not broken. */
export type Span = { since: Date; until: Date };

/** When reports could be taken in without a break, until the last beat; null before the first one ever. */
export async function findUptime(db: Database | Transaction): Promise<Span | null> {
  return unbroken(await listUptimes(db));
}

/** The newest time without a break that some spans cover together. Pure. */
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
