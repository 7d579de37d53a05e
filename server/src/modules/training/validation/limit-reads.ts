import { setTimeout as sleep } from 'node:timers/promises';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { readingLimits } from '../readings/limits.ts';
import type { ReadData } from './read-data.ts';

/**
 * Wraps a reader with limits on concurrency: per user one short and one long read, users served round-robin.
 * A read that becomes long never blocks short ones: it moves to a slot for long reads, or is aborted and
 * restarted once such a slot is free.
 */
export function limitReads(read: ReadData, shortMs: number): ReadData {
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
        // Wrapped in an object, because a bare promise would be awaited within the slot.
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
