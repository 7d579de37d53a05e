import type { Run } from '@bakehouse/contract/runs';

export type Stage = Pick<Run, 'state' | 'phase' | 'stop_reason'>;

const ENDS = new Set<Run['state']>(['completed', 'cancelled', 'failed']);

/** Whether nothing more happens to it, unless it is resumed. */
export function hasEnded({ state }: Pick<Run, 'state'>): boolean {
  return ENDS.has(state);
}

/** The word on the badge: a run that makes its first step is running, and one that its owner did not cancel was stopped. */
export function displayState({ state, phase, stop_reason }: Stage): Run['state'] | 'stopped' {
  if (state === 'starting' && phase === 'training') return 'running';
  return state === 'cancelled' && stop_reason !== null ? 'stopped' : state;
}
