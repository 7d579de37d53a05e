/** All limits on reading data files. */
export const readingLimits = {
  /** Each uses a core and some hundred megabytes. */
  shortAtOnce: 2,
  /** A read that takes longer than `shortMs` moves here. */
  longAtOnce: 2,
  shortMs: 15_000,
  /** Running and waiting reads per process, in total and per user. */
  waiting: 50,
  ownWaiting: 5,
  /** Background readings per user; a new one cancels the oldest. */
  ownInBackground: 3,
  /** Answer with an estimate, if available, after this time. */
  estimateAfterMs: 4_000,
  /** A background reader that takes over joins a read that started within this time. */
  handoverMs: 20_000,
  /**
   * Aborts a reading without progress. Chat templates have a separate limit (the runtime's chat_template.py).
   */
  stallMs: 300_000,
  /** A picture dataset is read completely before its first report. */
  picturesMs: 900_000,
  /** Above the runtime's own limit for one file (`TIME_LIMIT_S` of `confined.py`). */
  attemptSeconds: 3_600,
  /** Each server restart uses one. */
  retries: 50,
  /** How long reports are stored and listed. */
  keptMs: 30 * 24 * 60 * 60 * 1000,
  listedMs: 60 * 60 * 1000,
};
