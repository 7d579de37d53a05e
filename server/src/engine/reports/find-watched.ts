import type { Database, Transaction } from '../../platform/db/database.ts';
import { listUptimes } from '../machines/queries.ts';
import { unbroken } from '../machines/uptime.ts';
import type { Span } from '../model/span.ts';

/** Returns the period up to the last heartbeat in which reports were accepted without a gap, or null. */
export async function findWatched(db: Database | Transaction): Promise<Span | null> {
  return unbroken(await listUptimes(db));
}
