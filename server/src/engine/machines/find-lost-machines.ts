import type { Database, Transaction } from '../../platform/db/database.ts';
import { listHeartbeats, listLostMachines } from './queries.ts';
import { unbroken } from './uptime.ts';

/**
 * Machines that were not seen for `lostAfterMs` while `machineId` reached the database without a break. After an
 * outage of the database none was seen for long, and all are there.
 */
export async function findLostMachines(
  db: Database | Transaction,
  { machineId, lostAfterMs }: { machineId: string; lostAfterMs: number },
): Promise<string[]> {
  const watched = unbroken(await listHeartbeats(db, machineId));
  return watched ? listLostMachines(db, watched, lostAfterMs) : [];
}
