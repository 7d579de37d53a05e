/** Retry settings for hub requests; tests use shorter times. */
export type Pace = {
  /** The pause after the first failure. It doubles with each further failure. */
  againMs: number;
  /** Maximum pause, whatever the hub requests. */
  pauseMsMax: number;
  /** A file fails after this many failures in a row without any bytes. */
  failuresMax: number;
  /** Time without bytes after which a connection is aborted. */
  stallMs: number;
  /** The hub is too slow if it sends fewer bytes than this per `leastMs`, not counting pauses. */
  leastBytes: number;
  leastMs: number;
};

export const defaultPace: Pace = {
  ...{ againMs: 1_000, pauseMsMax: 120_000, failuresMax: 8, stallMs: 60_000 },
  ...{ leastBytes: 1024 * 1024, leastMs: 300_000 },
};
