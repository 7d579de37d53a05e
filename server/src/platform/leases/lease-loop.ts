import { oneAtATime } from '../concurrency/one-at-a-time.ts';
import type { Services } from '../context.ts';
import { holdLease, LeaseLost } from './hold-lease.ts';
import { claimDue, type Lease, type LeasedTable } from './leased-table.ts';

/** Poll interval, in case a signal is lost, and for tables without one. */
const POLL_MS = 1_000;

/** A leased row and the work on it. If this process dies, another process runs the work again. */
export type Claim = { id: string; run: (closing: AbortSignal) => Promise<void> };

/** Leases the next due row, or returns null. `running` contains the ids that this loop already works on. */
export type ClaimNext = (running: readonly string[]) => Promise<Claim | null>;

export type LeasedWork<Columns, Row> = {
  table: LeasedTable<Columns, Row>;
  /** May run again in another process, if this one dies. */
  work: (lease: Lease<Row>, signal: AbortSignal) => Promise<void>;
};

type LoopServices = Pick<Services, 'db' | 'clock' | 'log' | 'events'>;

/** Returns a function that leases the row that is due longest. The lease is renewed during the work. */
export function claimWork<Columns extends { id: string }, Row>(
  services: LoopServices,
  { table, work }: LeasedWork<Columns, Row>,
): ClaimNext {
  return async () => {
    const lease = await claimDue(services.db, table, services.clock.now());
    return (
      lease && {
        id: lease.id,
        run: (closing) => holdLease(services, { table, lease, closing }, (signal) => work(lease, signal)),
      }
    );
  };
}

export type LeaseLoop = {
  start: () => void;
  /** Claims no more rows, aborts the running work, and waits until it has ended. */
  stop: () => Promise<void>;
};

type LoopOptions = {
  /** Name for log lines. */
  name: string;
  /**
   * Maximum number of rows on which this process works concurrently. Defaults to unlimited, for a `claim`
   * that has its own limit.
   */
  places?: number;
  claim: ClaimNext;
  /** Name of the event signal that wakes the loop before its next poll. */
  wakeOn?: string;
  pollMs?: number;
};

/** Claims due rows and works on them until it is stopped. */
export function createLeaseLoop(
  { log, events }: LoopServices,
  { name, places = Number.POSITIVE_INFINITY, claim, wakeOn, pollMs = POLL_MS }: LoopOptions,
): LeaseLoop {
  const closing = new AbortController();
  const running = new Set<{ id: string; ended: Promise<void> }>();
  let ticker: NodeJS.Timeout | undefined;
  let stopListening = () => {};

  function begin({ id, run }: Claim): void {
    const ended = run(closing.signal)
      .catch((error: unknown) => {
        if (!(error instanceof LeaseLost) && !closing.signal.aborted)
          log.error({ err: error, loop: name, id }, 'leased work failed; it will be retried');
      })
      .finally(() => {
        running.delete(entry);
        passes.request();
      });
    const entry = { id, ended };
    running.add(entry);
  }

  const passes = oneAtATime(
    async () => {
      while (!closing.signal.aborted && running.size < places) {
        const claimed = await claim([...running].map(({ id }) => id));
        if (!claimed) return;
        begin(claimed);
      }
    },
    (error) => log.warn({ err: error, loop: name }, 'failed to claim leased work'),
  );

  return {
    start: () => {
      if (wakeOn !== undefined) stopListening = events.onSignal(wakeOn, passes.request);
      ticker = setInterval(passes.request, pollMs);
      passes.request();
    },
    stop: async () => {
      closing.abort(new Error('the server ends'));
      stopListening();
      clearInterval(ticker);
      await passes.end();
      await Promise.all([...running].map(({ ended }) => ended));
    },
  };
}
