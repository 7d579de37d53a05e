import { oneAtATime } from '../../../platform/concurrency/one-at-a-time.ts';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { claimRow, type Lease } from '../../../platform/leases/leased-table.ts';
import { CLONES_MOVED } from './announce-clone.ts';
import { type CloneRow, clonesTable } from './clones-table.ts';
import { type Pace, usualPace } from './pace.ts';
import { findNextClone } from './queries.ts';
import { runClone } from './run-clone.ts';

/** Signals may be lost: this often it is looked whether a clone waits. */
const TICK_MS = 2_000;
/** Clones that one process copies at once, and that one user has at work anywhere. */
const PLACES = 3;
const PER_USER = 2;

export type CloneLoop = {
  start: () => void;
  /** Begins no more, and gives back what is being copied, so that another process goes on at once. */
  stop: () => Promise<void>;
};

/** Copies what waits. */
export function createCloneLoop(services: Services, pace: Pace = usualPace): CloneLoop {
  const closing = new AbortController();
  const atWork = new Map<string, Promise<void>>();
  let stopListening = () => {};
  let ticker: NodeJS.Timeout | undefined;

  function begin(lease: Lease<CloneRow>): void {
    const work = runClone({ services, closing: closing.signal, pace }, lease)
      .catch((error: unknown) => services.log.error({ err: error }, 'a clone was left to another process'))
      .finally(() => {
        // Lost and taken again, it is another's by now.
        if (atWork.get(lease.id) === work) atWork.delete(lease.id);
        passes.ask();
      });
    atWork.set(lease.id, work);
  }

  const passes = oneAtATime(
    async () => {
      while (!closing.signal.aborted && atWork.size < PLACES) {
        const lease = await takeNext(services, [...atWork.keys()]);
        if (lease === null) break;
        begin(lease);
      }
    },
    (error) => services.log.warn({ err: error }, 'the next clone could not be found'),
  );

  return {
    start: () => {
      stopListening = services.events.onSignal(CLONES_MOVED, passes.ask);
      ticker = setInterval(passes.ask, TICK_MS);
      passes.ask();
    },
    stop: async () => {
      closing.abort(new Error('the server ends'));
      stopListening();
      clearInterval(ticker);
      await passes.end();
      await Promise.all(atWork.values());
    },
  };
}

async function takeNext({ clock, db }: Services, atWork: string[]): Promise<Lease<CloneRow> | null> {
  return inTransaction(db, async (tx) => {
    const now = clock.now();
    const id = await findNextClone(tx, { now, perUser: PER_USER, atWork });
    return id === null ? null : claimRow(tx, clonesTable, id, now);
  });
}
