import type { EndedBy, Observed } from '../../model/observed.ts';

type Ended = Extract<Observed, { state: 'ended' }>;

/** One of the nodes of an attempt, in the order of their ranks. */
export type SeenNode = {
  observed: Observed;
  /** When its end was seen, by our own clock; null: it has not ended. */
  endedAt: Date | null;
  /** That its pod is deleted, and by whom where somebody is named; null: it is not. */
  deletion: { by: EndedBy | null } | null;
};

/** What ends an attempt, from what cannot follow from anything else to what does. */
const CAUSES: EndedBy[] = ['node_lost', 'preempted', 'evicted', 'image', 'oom', 'itself'];

/**
 * What several nodes make of their attempt. It lives once all have begun, at the address of the first. One that fails
 * ends it for all, at once; one that others take away ends it when the rest has saved its work and ended too. Whatever
 * follows from the end of one, such as a connection that breaks, is no reason. Pure.
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
 * Who takes one of several nodes away, so that the others are to save their work and end as well; null while nobody
 * does. Pure.
 */
export function takenBy(nodes: SeenNode[]): EndedBy | null {
  if (nodes.length === 1 || nodes.some(hasFailed)) return null;
  const by = nodes.flatMap(({ observed, deletion }) => {
    if (observed.state === 'ended' && !isWell(observed)) return [observed.by];
    return deletion ? [deletion.by ?? 'evicted'] : [];
  });
  return CAUSES.find((cause) => by.includes(cause)) ?? null;
}

/** Whether it has ended by its own doing or for good, and nothing that it still does could help the others. */
function hasFailed({ observed, deletion }: SeenNode): boolean {
  if (observed.state !== 'ended' || isWell(observed) || deletion?.by === null) return false;
  return observed.by !== 'evicted' && observed.by !== 'preempted';
}

function isWell({ by, exitCode }: Ended): boolean {
  return by === 'itself' && exitCode === 0;
}

/** The end that is the reason of the others: of equal ones that which was seen first. */
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

/** @param isUnnamed Whether its pod was deleted by nobody in particular, as those of a Job that has failed are. */
function weightOf(end: Ended, isUnnamed: boolean): number {
  if (isWell(end)) return CAUSES.length + 1;
  return isUnnamed && end.by === 'evicted' ? CAUSES.length : CAUSES.indexOf(end.by);
}
