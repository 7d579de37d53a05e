import type { Database, Transaction } from '../../platform/db/database.ts';
import { listUptimes } from '../machines/queries.ts';
import { unbroken } from '../machines/uptime.ts';
import type { Span } from '../model/span.ts';

/** Since when, and until which beat, reports of the workload were accepted without a break; null: never yet. */
export async function findWatched(db: Database | Transaction): Promise<Span | null> {
  return unbroken(await listUptimes(db));
}
