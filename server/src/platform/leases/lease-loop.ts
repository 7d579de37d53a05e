import { oneAtATime } from '../concurrency/one-at-a-time.ts';
import type { Services } from '../context.ts';
import { holdLease, LeaseLost } from './hold-lease.ts';
import { claimDue, type Lease, type LeasedTable } from './leased-table.ts';

/** How often it is looked whether a row is due. */
const TICK_MS = 1_000;

export type LeasedWork<Columns, Row> = {
  table: LeasedTable<Columns, Row>;
  /** Rows that this process works on at once. */
  places: number;
  /** Whatever it does may be done again: by whoever comes after a process that died. */
  work: (lease: Lease<Row>, signal: AbortSignal) => Promise<void>;
};

export type LeaseLoop = {
  start: () => Promise<void>;
  /** Begins no more, breaks off what is at work, and waits for that. */
  stop: () => Promise<void>;
};

/** Works on the rows of a table that are due, each under its lease. */
export function createLeaseLoop<Columns extends { id: string }, Row>(
  services: Pick<Services, 'db' | 'clock' | 'log'>,
  { table, places, work }: LeasedWork<Columns, Row>,
): LeaseLoop {
  const { db, clock, log } = services;
  const closing = new AbortController();
  const atWork = new Set<Promise<void>>();
  let ticker: NodeJS.Timeout | undefined;

  function begin(lease: Lease<Row>): void {
    const working = holdLease(services, { table, lease, closing: closing.signal }, (signal) =>
      work(lease, signal),
    )
      .catch((error: unknown) => {
        if (!(error instanceof LeaseLost) && !closing.signal.aborted)
          log.error({ err: error, table: table.name, id: lease.id }, 'a row was left to another process');
      })
      .finally(() => {
        atWork.delete(working);
        passes.ask();
      });
    atWork.add(working);
  }

  const passes = oneAtATime(
    async () => {
      while (!closing.signal.aborted && atWork.size < places) {
        const lease = await claimDue(db, table, clock.now());
        if (!lease) return;
        begin(lease);
      }
    },
    (error) => log.warn({ err: error, table: table.name }, 'the next row could not be found'),
  );

  return {
    start: async () => {
      ticker = setInterval(passes.ask, TICK_MS);
      passes.ask();
    },
    stop: async () => {
      closing.abort(new Error('the server ends'));
      clearInterval(ticker);
      await passes.end();
      await Promise.all(atWork);
    },
  };
}
