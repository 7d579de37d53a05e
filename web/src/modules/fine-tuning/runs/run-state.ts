import type { Run } from '@bakehouse/contract/runs';

export type Stage = Pick<Run, 'state' | 'phase' | 'stop_reason'>;

const ENDS = new Set<Run['state']>(['completed', 'cancelled', 'failed']);

/** Returns true if the run has ended; it may still be resumed. */
export function hasEnded({ state }: Pick<Run, 'state'>): boolean {
  return ENDS.has(state);
}

/** Returns the state of a run on the badge of its model, whose 'running' would mean deployed. */
export function modelState(run: Stage): string {
  const state = displayState(run);
  return state === 'running' ? 'training' : state;
}

/** Returns the badge's state: 'running' once training has begun, 'stopped' if the server ended the run. */
export function displayState({ state, phase, stop_reason }: Stage): Run['state'] | 'stopped' {
  if (state === 'starting' && phase === 'training') return 'running';
  return state === 'cancelled' && stop_reason !== null ? 'stopped' : state;
}
