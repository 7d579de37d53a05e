import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { LeasedWork } from '../../../platform/leases/lease-loop.ts';
import { claimDue } from '../../../platform/leases/leased-table.ts';
import { ipfsWork } from '../ipfs-loop.ts';

/** Computes all requested CIDs, then checks each pin once, regardless of its due time. */
export async function workOff(services: Services): Promise<void> {
  const { cids, pins } = ipfsWork(services);
  await makeDue(services, 'revision_cids');
  await drain(services, cids);
  // The new pins are due by the database's clock, which can be ahead of this process's.
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
