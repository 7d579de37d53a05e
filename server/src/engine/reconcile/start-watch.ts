/** After this many failed starts in a row, the machine gets no work for a while. */
const RESTS_AFTER = 3;
const REST_MINUTES = 3;

/** One user-facing sentence about why starts fail on the machine. `isResting`: it gets no work now. */
export type StartTrouble = { sentence: string; isResting: boolean };

/** Counts failed starts of a machine. */
export type StartWatch = {
  recordSuccess: () => void;
  recordFailure: (cause: string | null) => void;
  /** Returns null while starts succeed. */
  trouble: () => StartTrouble | null;
};

/**
 * Counts the failed starts of one machine. After a few failures in a row the machine pauses: the queue moves
 * work to the cluster, and work that cannot move shows the cause. The first start after the pause shows
 * whether the machine works again.
 */
export function watchStarts(now: () => Date): StartWatch {
  let failures = 0;
  let cause: string | null = null;
  let restsUntil = now();
  return {
    recordSuccess: () => {
      failures = 0;
    },
    recordFailure: (why) => {
      failures += 1;
      cause = why;
      if (failures >= RESTS_AFTER) restsUntil = new Date(now().getTime() + REST_MINUTES * 60_000);
    },
    trouble: () => {
      if (failures < RESTS_AFTER) return null;
      const why = cause === null ? '; the log of its server says why' : `: ${cause}`;
      const sentence = `Nothing can be started on this machine${why}. It tries again every ${REST_MINUTES} minutes.`;
      return { sentence, isResting: now() < restsUntil };
    },
  };
}

const causes: [RegExp, string][] = [
  [/ENOSPC|EDQUOT|no space left/i, 'the disk is full'],
  [/EROFS|read-only file system/i, 'the data folder is read-only'],
  [/EACCES|EPERM|permission denied/i, 'the server may not write to the data folder'],
  [/EIO\b|input\/output error/i, 'the disk has errors'],
  [/EMFILE|ENFILE/i, 'too many files are open'],
  [/ENOMEM|EAGAIN/i, 'there is no room for another process'],
];

/** Returns a text about why a start failed, without paths; null if the error is unknown. */
export function explainStart(error: unknown): string | null {
  return causes.find(([pattern]) => pattern.test(String(error)))?.[1] ?? null;
}
