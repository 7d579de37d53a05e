/** A live deployment, with the fields that decide the effect of a failed start. */
export type Concerned = {
  /** It has served before. */
  proven: boolean;
  /** Its owner wants it to be available at any time. */
  neverSleeps: boolean;
  /** The failed workload was meant to carry it. */
  failed: boolean;
  /** Another running workload carries it. */
  served: boolean;
};

/**
 * Decides the fate of deployments left unserved by a failed start. A deployment that never served ends. A
 * deployment that served before falls asleep, and its next request retries. A deployment that never sleeps
 * waits for the next start.
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
