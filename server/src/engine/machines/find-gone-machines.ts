import type { Database, Transaction } from '../../platform/db/database.ts';
import { unbroken } from './listening.ts';
import { listBeats, listGoneMachines } from './queries.ts';

/**
 * Machines that were not seen for `goneMs` while `machineId` has reached the database without a
 * break. After an outage of the database nobody has been seen for long, and all are there.
 */
export async function findGoneMachines(
  db: Database | Transaction,
  { machineId, goneMs }: { machineId: string; goneMs: number },
): Promise<string[]> {
  const watched = unbroken(await listBeats(db, machineId));
  return watched ? listGoneMachines(db, watched, goneMs) : [];
}
