/** Retry settings for hub requests; tests use shorter times. */
export type Pace = {
  /** The pause after the first failure; doubles with each further one. */
  againMs: number;
  /** Maximum pause, whatever the hub requests. */
  pauseMsMax: number;
  /** Consecutive failures without any bytes after which a file fails. */
  failuresMax: number;
  /** Time without bytes after which a connection is aborted. */
  stallMs: number;
  /** Minimum bytes per `leastMs`, excluding pauses; otherwise the hub is too slow. */
  leastBytes: number;
  leastMs: number;
};

export const usualPace: Pace = {
  ...{ againMs: 1_000, pauseMsMax: 120_000, failuresMax: 8, stallMs: 60_000 },
  ...{ leastBytes: 1024 * 1024, leastMs: 300_000 },
};
