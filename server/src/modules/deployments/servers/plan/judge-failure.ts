/** A live deployment as a failed start of its model server concerns it. */
export type Concerned = {
  /** It has answered before. */
  proven: boolean;
  /** The failed workload was to carry it. */
  failed: boolean;
  /** A workload that is up carries it all the same. */
  served: boolean;
};

/**
 * Whom the failed start of a model server leaves unserved. What has never answered ends by it; what has
 * answered before sleeps, and its next request tries again. Pure.
 */
export function judgeFailure<D extends Concerned>(live: D[]): { ended: D[]; asleep: D[] } {
  const unserved = live.filter((one) => one.failed && !one.served);
  return {
    ended: unserved.filter((one) => !one.proven),
    asleep: unserved.filter((one) => one.proven),
  };
}
