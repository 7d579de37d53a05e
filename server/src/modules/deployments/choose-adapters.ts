/** An adapter that deployments on a text server need. */
export type WantedAdapter = {
  revisionId: string;
  /** It has answered before, so it is known to load. */
  proven: boolean;
};

/**
 * Which adapters to load together. As a rule all; after a failure the new ones come one at a time,
 * so that a broken one keeps nobody else from being served. Pure.
 */
export function chooseAdapters(wanted: WantedAdapter[], cautious: boolean): string[] {
  const proven = wanted.filter((adapter) => adapter.proven);
  const untried = wanted.filter((adapter) => !adapter.proven);
  const chosen = cautious ? [...proven, ...untried.slice(0, 1)] : [...proven, ...untried];
  return chosen.map((adapter) => adapter.revisionId);
}

/**
 * Whose fault a failed start was: the one new adapter's; unknown among several, which are then tried
 * one by one; the base's or the machine's where all adapters have been loaded before. Pure.
 */
export function blameFailure(
  carried: readonly string[],
  wanted: WantedAdapter[],
): { blame: 'adapter'; revisionId: string } | { blame: 'unknown' } | { blame: 'server' } {
  const untried = wanted.filter((adapter) => !adapter.proven && carried.includes(adapter.revisionId));
  const [only] = untried;
  if (!only) return { blame: 'server' };
  return untried.length === 1 ? { blame: 'adapter', revisionId: only.revisionId } : { blame: 'unknown' };
}
