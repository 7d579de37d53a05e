/** How many data files are read at once and wait, and how long: the one place of all bounds on readings. */
export const readingLimits = {
  /** Each takes a core and some hundred megabytes. */
  shortAtOnce: 2,
  /** One that has taken longer than `shortMs` gives its place to the next. */
  longAtOnce: 2,
  shortMs: 15_000,
  /** Reads that run or wait in a process: of everybody, and of one user. */
  waiting: 50,
  ownWaiting: 5,
  /** Readings in the background of one user; the oldest ends where another begins. */
  ownInBackground: 3,
  /** Longer than this nobody waits for the whole where an estimate is there. */
  estimateAfterMs: 4_000,
  /** A background reader that takes the work over joins the read that has begun within this time. */
  handoverMs: 20_000,
  /** Without any progress for so long a reading is given up. A chat template has a limit of its own (the runtime's chat_template.py). */
  stallMs: 300_000,
  /** A dataset of pictures is read to its end before anything is said of it. */
  picturesMs: 900_000,
  /** More than the runtime gives itself for one file (`TIME_LIMIT_S` of `confined.py`). */
  attemptSeconds: 3_600,
  /** Each end of the server uses one up. */
  retries: 50,
  /** What a reading came to is kept for so long, and shown for so long. */
  keptMs: 30 * 24 * 60 * 60 * 1000,
  listedMs: 60 * 60 * 1000,
};
