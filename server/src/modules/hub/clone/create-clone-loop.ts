import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { createLeaseLoop, type LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import { claimRow } from '../../../platform/leases/leased-table.ts';
import { CLONES_MOVED } from './announce-clone.ts';
import { clonesTable } from './clones-table.ts';
import { type Pace, usualPace } from './pace.ts';
import { findNextClone } from './queries.ts';
import { runClone } from './run-clone.ts';

/** Concurrent clones in this process, and per user over all processes. */
const PLACES = 3;
const PER_USER = 2;

/** Creates the loop that copies repositories from the hub. */
export function createCloneLoop(services: Services, pace: Pace = usualPace): LeaseLoop {
  const { clock, db } = services;
  return createLeaseLoop(services, {
    name: 'clones',
    places: PLACES,
    wakeOn: CLONES_MOVED,
    claims: [
      async (running) => {
        const lease = await inTransaction(db, async (tx) => {
          const now = clock.now();
          const id = await findNextClone(tx, { now, perUser: PER_USER, atWork: running });
          return id === null ? null : claimRow(tx, clonesTable, id, now);
        });
        return lease && { id: lease.id, run: (closing) => runClone({ services, closing, pace }, lease) };
      },
    ],
  });
}
