import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { LeasedWork } from '../../../platform/leases/lease-loop.ts';
import { claimDue } from '../../../platform/leases/leased-table.ts';
import { ipfsWork } from '../ipfs-loop.ts';

/** Computes all requested CIDs, then checks each pin once, even if it is not due. */
export async function runIpfsWork(services: Services): Promise<void> {
  const { cids, pins } = ipfsWork(services);
  await makeDue(services, 'revision_cids');
  await drain(services, cids);
  // New pins are due at the database's time, which may be ahead of the test's clock.
  await makeDue(services, 'ipfs_pins');
  await drain(services, pins);
}

async function makeDue({ db, clock }: Services, table: string): Promise<void> {
  await sql`update ${sql.table(table)} set check_at = ${clock.now()}`.execute(db);
}

async function drain<Columns extends { id: string }, Row>(
  { db, clock }: Services,
  { table, work }: LeasedWork<Columns, Row>,
): Promise<void> {
  for (;;) {
    const lease = await claimDue(db, table, clock.now());
    if (!lease) return;
    await work(lease, new AbortController().signal);
  }
}
