/** A live deployment as a failed start of its model server concerns it. */
export type Concerned = {
  /** It has answered before. */
  proven: boolean;
  /** Its owner wants it to answer at any time. */
  neverSleeps: boolean;
  /** The failed workload was to carry it. */
  failed: boolean;
  /** A workload that is up carries it all the same. */
  served: boolean;
};

/**
 * Whom the failed start of a model server leaves unserved. What has never answered ends by it; what has
 * answered before sleeps, and its next request tries again; what never sleeps waits for the next start. Pure.
 */
export function judgeFailure<D extends Concerned>(live: D[]): { ended: D[]; asleep: D[]; waiting: D[] } {
  const unserved = live.filter((one) => one.failed && !one.served);
  const proven = unserved.filter((one) => one.proven);
  return {
    ended: unserved.filter((one) => !one.proven),
    asleep: proven.filter((one) => !one.neverSleeps),
    waiting: proven.filter((one) => one.neverSleeps),
  };
}
