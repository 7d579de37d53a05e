import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { AppError } from '../../platform/errors.ts';
import { fairQueue } from '../../platform/fair-queue.ts';
import type { DataToRead, ReadData } from './read-data.ts';

/** Each takes a core and some hundred megabytes. */
const READS_AT_ONCE = 2;
/** One that has taken longer gives its place to the next and goes on beside it, as far as there is room for such. */
const QUICK_MS = 15_000;
const LONG_AT_ONCE = 2;
/** Reads that run or wait: of everybody, and of one user. */
const IN_LINE_MAX = 50;
const OWN_IN_LINE_MAX = 5;
const REPORTS_KEPT = 100;

type Shared = { report: Promise<ValidateReport>; waiting: number; abandoned: AbortController };

/**
 * The same reader, with each data file read once: equal calls share one read, those in flight too,
 * since the files are named by their content. Few read at once, one of each user, and the users take
 * turns; a long read keeps nobody from reading a short one. A read whose callers have all
 * disconnected is ended. Throws AppError('unavailable') where too many wait already.
 */
export function shareReads(read: ReadData, quickMs = QUICK_MS): ReadData {
  const reports = new Map<string, Shared>();
  const inLine = new Map<string, number>();
  const oneEach = fairQueue(Number.POSITIVE_INFINITY, { perKey: 1 });
  const inTurn = fairQueue(READS_AT_ONCE);
  let long = 0;

  /** Reads in its turn; a long read leaves it early. */
  const readInTurn: ReadData = async (ctx, input, signal) => {
    const { reading } = await inTurn.run(
      ctx.caller.userId,
      async () => {
        const begun = read(ctx, input, signal);
        const isLong = await Promise.race([begun.then(no, no), sleep(quickMs, true, { ref: false })]);
        if (isLong && long < LONG_AT_ONCE) {
          long += 1;
          void begun.catch(() => undefined).finally(() => (long -= 1));
        } else {
          await begun.catch(() => undefined);
        }
        // In an object: a promise alone would be awaited in the turn.
        return { reading: begun };
      },
      signal,
    );
    return reading;
  };

  function begin(name: string, ctx: Parameters<ReadData>[0], input: DataToRead): Shared {
    const { userId } = ctx.caller;
    enter(inLine, userId);
    const abandoned = new AbortController();
    const { signal } = abandoned;
    const report = oneEach
      .run(userId, () => readInTurn(ctx, input, signal), signal)
      .finally(() => leave(inLine, userId));
    const shared = { report, waiting: 0, abandoned };
    reports.set(name, shared);
    report.catch(() => {
      if (reports.get(name) === shared) reports.delete(name);
    });
    const [oldest] = reports.keys();
    if (reports.size > REPORTS_KEPT && oldest !== undefined) reports.delete(oldest);
    return shared;
  }

  return async (ctx, input, signal) => {
    const name = nameOf(input);
    const before = reports.get(name);
    const shared = before && !before.abandoned.signal.aborted ? before : begin(name, ctx, input);
    shared.waiting += 1;
    const giveUp = () => {
      shared.waiting -= 1;
      if (shared.waiting === 0) shared.abandoned.abort(disconnected());
    };
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      return await shared.report;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  };
}

const no = () => false;

/** Throws where the line is full. */
function enter(inLine: Map<string, number>, userId: string): void {
  const own = inLine.get(userId) ?? 0;
  const all = [...inLine.values()].reduce((sum, count) => sum + count, 0);
  if (own >= OWN_IN_LINE_MAX) {
    throw new AppError('unavailable', {
      publicMessage: 'Several of your files are being read already. Try again when they are done.',
    });
  }
  if (all >= IN_LINE_MAX) {
    throw new AppError('unavailable', {
      publicMessage: 'Many files are waiting to be read. Try again in a minute.',
    });
  }
  inLine.set(userId, own + 1);
}

function leave(inLine: Map<string, number>, userId: string): void {
  const left = (inLine.get(userId) ?? 1) - 1;
  if (left === 0) inLine.delete(userId);
  else inLine.set(userId, left);
}

function disconnected(): AppError {
  return new AppError('unavailable', { publicMessage: 'The client disconnected' });
}

/** Equal for inputs that are read alike: neither learning rate nor dropout changes the report. */
function nameOf({ base, dataFile, spec }: DataToRead): string {
  const { learning_rate, lora, ...parameters } = spec.parameters;
  const { dropout, ...adapter } = lora;
  const read = { base, dataFile, spec: { ...spec, parameters: { ...parameters, lora: adapter } } };
  return createHash('sha256').update(JSON.stringify(read)).digest('hex');
}
