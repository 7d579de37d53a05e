import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { LeasedWork } from '../../../platform/leases/lease-loop.ts';
import { claimDue } from '../../../platform/leases/leased-table.ts';
import { ipfsWork } from '../ipfs-loop.ts';

/** Computes all requested CIDs, and checks each pin once, whether due or not. */
export async function workOff(services: Services): Promise<void> {
  const { cids, pins } = ipfsWork(services);
  const now = services.clock.now();
  for (const table of ['revision_cids', 'ipfs_pins'])
    await sql`update ${sql.table(table)} set check_at = ${now}`.execute(services.db);
  await drain(services, cids);
  await drain(services, pins);
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
