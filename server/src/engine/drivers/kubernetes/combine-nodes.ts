import type { EndedBy, Observed } from '../../model/observed.ts';

type Ended = Extract<Observed, { state: 'ended' }>;

/** One node of an attempt, ordered by rank. */
export type SeenNode = {
  observed: Observed;
  /** When its end was seen, by our own clock; null while it runs. */
  endedAt: Date | null;
  /** Set while its pod is being deleted; `by` names the cause if one is known. */
  deletion: { by: EndedBy | null } | null;
};

/** Causes of an end, from root causes to possible consequences. */
const CAUSES: EndedBy[] = ['node_lost', 'preempted', 'evicted', 'image', 'oom', 'itself'];

/**
 * Combines the states of several nodes into one. The attempt is alive once all nodes run, at the address of
 * the first. If a node fails, the attempt ends immediately. If a node is taken away, the attempt ends after
 * the other nodes have saved their work. Broken connections to a node that ended are never reported as the
 * cause.
 */
export function combineNodes(nodes: SeenNode[]): Observed {
  const [only] = nodes;
  if (only && nodes.length === 1) return only.observed;
  const states = nodes.map(({ observed }) => observed);
  if (nodes.some(hasFailed) || states.every(({ state }) => state === 'ended')) return endOfAll(nodes);
  const waiting = states.filter((one) => one.state === 'pending');
  if (waiting.length > 0)
    return waiting.find(({ reason }) => reason !== '') ?? { state: 'pending', reason: '' };
  return states[0]?.state === 'alive' ? states[0] : { state: 'alive' };
}

/**
 * Returns the cause if one of several nodes is taken away, so that the others must save their work and exit;
 * otherwise null.
 */
export function findNodeTakeover(nodes: SeenNode[]): EndedBy | null {
  if (nodes.length === 1 || nodes.some(hasFailed)) return null;
  const by = nodes.flatMap(({ observed, deletion }) => {
    if (observed.state === 'ended' && !isWell(observed)) return [observed.by];
    return deletion ? [deletion.by ?? 'evicted'] : [];
  });
  return CAUSES.find((cause) => by.includes(cause)) ?? null;
}

/** True if the node failed, so that the work of the other nodes is lost too. */
function hasFailed({ observed, deletion }: SeenNode): boolean {
  if (observed.state !== 'ended' || isWell(observed) || deletion?.by === null) return false;
  return observed.by !== 'evicted' && observed.by !== 'preempted';
}

function isWell({ by, exitCode }: Ended): boolean {
  return by === 'itself' && exitCode === 0;
}

/**
 * Returns the end of the node that caused the others to end. Nodes with equally likely causes are ordered by
 * the time of their end.
 */
function endOfAll(nodes: SeenNode[]): Observed {
  const ends = nodes.flatMap(({ observed, endedAt, deletion }, rank) =>
    observed.state === 'ended'
      ? [{ observed, rank, at: endedAt?.getTime() ?? 0, weight: weightOf(observed, deletion?.by === null) }]
      : [],
  );
  const [first] = ends.toSorted((a, b) => a.weight - b.weight || a.at - b.at || a.rank - b.rank);
  if (!first) return { state: 'alive' };
  const { observed, rank } = first;
  const isOther = rank > 0 && observed.lastLine !== null;
  return isOther ? { ...observed, lastLine: `Node ${rank}: ${observed.lastLine}` } : observed;
}

/** @param isUnnamed True if the pod was deleted without a named cause, as are the pods of a failed Job. */
function weightOf(end: Ended, isUnnamed: boolean): number {
  if (isWell(end)) return CAUSES.length + 1;
  return isUnnamed && end.by === 'evicted' ? CAUSES.length : CAUSES.indexOf(end.by);
}
