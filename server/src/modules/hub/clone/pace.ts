/** How patiently the hub is asked; tests are quicker. */
export type Pace = {
  /** The pause after a first failure; each further one doubles it. */
  againMs: number;
  /** No pause is longer, whatever the hub asks for. */
  pauseMsMax: number;
  /** Failures in a row, without a byte between them, after which a file is given up. */
  failuresMax: number;
  /** Without a byte for so long a connection is given up. */
  stallMs: number;
  /** So many bytes have to come within so long, pauses aside; else the hub is too slow. */
  leastBytes: number;
  leastMs: number;
};

export const usualPace: Pace = {
  ...{ againMs: 1_000, pauseMsMax: 120_000, failuresMax: 8, stallMs: 60_000 },
  ...{ leastBytes: 1024 * 1024, leastMs: 300_000 },
};
