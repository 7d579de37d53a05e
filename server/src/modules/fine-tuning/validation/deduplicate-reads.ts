import { setTimeout as sleep } from 'node:timers/promises';
import type { ValidateProgress, ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { type OpenByKey, openByKey } from '../../../platform/concurrency/open-by-key.ts';
import { clientDisconnected, fileReadersBusy, unavailable } from '../../../platform/errors.ts';
import { readingLimits } from '../readings/limits.ts';
import { dataCacheKey } from '../readings/readings.ts';
import type { DataToRead, ReadData } from './read-data.ts';

const REPORTS_KEPT = 100;

type Listener = (progress: ValidateProgress) => void;
type Shared = {
  report: Promise<ValidateReport>;
  waiting: number;
  abandoned: AbortController;
  /** The latest progress. As soon as there is a sample, it stays included. */
  latest: ValidateProgress | null;
  listeners: Set<Listener>;
};

/**
 * Wraps a reader so that calls with the same `dataCacheKey` share one read, while it runs and after it.
 * Concurrency is limited (see `limitReads`). A read is aborted when all its callers have disconnected. Throws
 * AppError('unavailable') if too many reads wait.
 */
export function deduplicateReads(read: ReadData, shortMs: number = readingLimits.shortMs): ReadData {
  const reports = new Map<string, Shared>();
  const inLine = openByKey();
  const inTurn = limitReads(read, shortMs);

  function begin(name: string, ctx: Parameters<ReadData>[0], input: DataToRead): Shared {
    const leave = enter(inLine, ctx.caller.userId);
    const abandoned = new AbortController();
    const { signal } = abandoned;
    const listeners = new Set<Listener>();
    const onProgress = (progress: ValidateProgress) => {
      shared.latest = { ...progress, sample: progress.sample ?? shared.latest?.sample ?? null };
      for (const listener of listeners) listener(shared.latest);
    };
    const report = inTurn(ctx, input, { signal, onProgress }).finally(leave);
    const shared: Shared = { report, waiting: 0, abandoned, latest: null, listeners };
    reports.set(name, shared);
    report.catch(() => {
      if (reports.get(name) === shared) reports.delete(name);
    });
    const [oldest] = reports.keys();
    if (reports.size > REPORTS_KEPT && oldest !== undefined) reports.delete(oldest);
    return shared;
  }

  return async (ctx, input, { signal, onProgress } = {}) => {
    const name = dataCacheKey(input);
    const before = reports.get(name);
    const shared = before && !before.abandoned.signal.aborted ? before : begin(name, ctx, input);
    shared.waiting += 1;
    const giveUp = () => {
      shared.waiting -= 1;
      if (shared.waiting === 0) shared.abandoned.abort(clientDisconnected());
    };
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    // Wrap the function: if two callers pass the same one, the set must still have two listeners.
    const listener: Listener = (progress) => onProgress?.(progress);
    shared.listeners.add(listener);
    if (shared.latest) listener(shared.latest);
    try {
      return await shared.report;
    } finally {
      signal?.removeEventListener('abort', giveUp);
      shared.listeners.delete(listener);
    }
  };
}

/** Adds a read to the queue and returns a function that removes it. Throws if the queue is full. */
function enter(inLine: OpenByKey, userId: string): () => void {
  const leave = inLine.enter(userId, readingLimits.ownWaiting);
  if (!leave) {
    throw fileReadersBusy();
  }
  if (inLine.all() > readingLimits.waiting) {
    leave();
    throw unavailable('Many files are waiting to be read. Try again in a minute.');
  }
  return leave;
}

/**
 * Wraps a reader so that each user has at most one short and one long read; users are served round-robin. A
 * read that takes long must not block short ones. It moves to a slot for long reads. If none is free, it is
 * aborted and starts again when one is.
 */
function limitReads(read: ReadData, shortMs: number): ReadData {
  const short = fairQueue(readingLimits.shortAtOnce, { perKey: 1 });
  const long = fairQueue(readingLimits.longAtOnce, { perKey: 1 });

  return async (ctx, input, { signal, onProgress } = {}) => {
    const { userId } = ctx.caller;
    const { reading } = await short.run(
      userId,
      async () => {
        const tooLong = new AbortController();
        const begun = read(ctx, input, { signal: anyOf(tooLong.signal, signal), onProgress });
        const isLong = await Promise.race([begun.then(no, no), sleep(shortMs, true, { ref: false })]);
        // Return the promise in an object. A bare promise would be awaited, and would occupy the slot until
        // it settles.
        if (!isLong) return { reading: begun };
        const leaveLong = long.enterNow(userId);
        if (leaveLong) {
          void begun.catch(() => undefined).finally(leaveLong);
          return { reading: begun };
        }
        tooLong.abort();
        const report = await begun.catch(() => null);
        return { reading: report && Promise.resolve(report) };
      },
      signal,
    );
    return reading ?? long.run(userId, () => read(ctx, input, { signal, onProgress }), signal);
  };
}

const no = () => false;

function anyOf(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([one, other]) : one;
}
