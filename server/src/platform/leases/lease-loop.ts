import { oneAtATime } from '../concurrency/one-at-a-time.ts';
import type { Services } from '../context.ts';
import { holdLease, LeaseLost } from './hold-lease.ts';
import { claimDue, type Lease, type LeasedTable } from './leased-table.ts';

/** How often it is looked whether a row is due. */
const TICK_MS = 1_000;

export type LeasedWork<Columns, Row> = {
  table: LeasedTable<Columns, Row>;
  /** Another process may do the same again after this one died. */
  work: (lease: Lease<Row>, signal: AbortSignal) => Promise<void>;
};

/** Leases the next due row of a table; returns how to work on it, or null if none is due. */
type ClaimWork = (services: LoopServices) => Promise<((closing: AbortSignal) => Promise<void>) | null>;

type LoopServices = Pick<Services, 'db' | 'clock' | 'log'>;

/** The work of one table as a loop takes it. */
export function claimWork<Columns extends { id: string }, Row>({
  table,
  work,
}: LeasedWork<Columns, Row>): ClaimWork {
  return async (services) => {
    const { db, clock, log } = services;
    const lease = await claimDue(db, table, clock.now());
    if (!lease) return null;
    return (closing) =>
      holdLease(services, { table, lease, closing }, (signal) => work(lease, signal)).catch(
        (error: unknown) => {
          if (!(error instanceof LeaseLost) && !closing.aborted)
            log.error({ err: error, table: table.name, id: lease.id }, 'a row was left to another process');
        },
      );
  };
}

export type LeaseLoop = {
  start: () => Promise<void>;
  /** Begins no more, breaks off what is at work, and waits for that. */
  stop: () => Promise<void>;
};

/** Works on due rows, at most `places` at once, and takes them from the tables in turn. */
export function createLeaseLoop(
  services: LoopServices,
  { places, tables }: { places: number; tables: ClaimWork[] },
): LeaseLoop {
  const closing = new AbortController();
  const atWork = new Set<Promise<void>>();
  const line = [...tables];
  let ticker: NodeJS.Timeout | undefined;

  function begin(work: (closing: AbortSignal) => Promise<void>): void {
    const working = work(closing.signal).finally(() => {
      atWork.delete(working);
      passes.ask();
    });
    atWork.add(working);
  }

  /** False if no table has a due row. */
  async function beginNext(): Promise<boolean> {
    for (const claim of [...line]) {
      line.push(...line.splice(line.indexOf(claim), 1));
      const work = await claim(services);
      if (!work) continue;
      begin(work);
      return true;
    }
    return false;
  }

  const passes = oneAtATime(
    async () => {
      while (!closing.signal.aborted && atWork.size < places) if (!(await beginNext())) return;
    },
    (error) => services.log.warn({ err: error }, 'the next row could not be found'),
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
