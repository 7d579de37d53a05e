/** All limits on reading data files. */
export const readingLimits = {
  /** Concurrent short reads. Each one uses a core and some hundred megabytes. */
  shortAtOnce: 2,
  /** Concurrent long reads, i.e. reads that take longer than `shortMs`. */
  longAtOnce: 2,
  shortMs: 15_000,
  /** Maximum reads that run or wait in this process, in total and per user. */
  waiting: 50,
  ownWaiting: 5,
  /** Maximum background readings per user. A further one cancels the oldest. */
  ownInBackground: 3,
  /** After this time the answer is an estimate, as soon as one is available. */
  estimateAfterMs: 4_000,
  /** A call's read continues for this time after the estimate, so that the background job can join it. */
  handoverMs: 20_000,
  /**
   * A read without progress for this time is aborted. A chat template has a limit of its own in the runtime's
   * chat_template.py.
   */
  stallMs: 300_000,
  /** The limit without progress for pictures is longer, because nothing is reported before all are read. */
  picturesMs: 900_000,
  /**
   * Limit of one attempt. It is longer than the runtime's own limit for one file (`TIME_LIMIT_S` in
   * `confined.py`).
   */
  attemptSeconds: 3_600,
  /** Maximum retries. Each restart of the server needs one. */
  retries: 50,
  /** How long reports are stored. Ended readings are listed for `listedMs`. */
  keptMs: 30 * 24 * 60 * 60 * 1000,
  listedMs: 60 * 60 * 1000,
};
