import type { Generation } from '@bakehouse/contract/generations';
import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import { aboutDuration, formatDuration } from '../../lib/format/format-time.ts';

type Stage = Pick<Generation, 'provider' | 'state' | 'reason' | 'step' | 'steps'>;

const unfinished = new Set<Generation['state']>(['queued', 'starting', 'running']);

export function isUnderWay({ state }: Pick<Generation, 'state'>): boolean {
  return unfinished.has(state);
}

/** A generation's id in the list of long work. */
export function workId(id: string): string {
  return `generation-${id}`;
}

/** What is said to whoever asks for a second one on the page of a generator. */
export function oneAtATime(generator: GeneratorName): string {
  return `A ${makesVideos(generator) ? 'video' : 'picture'} is still being generated. Wait for it to finish, or cancel it first.`;
}

/** What it does now: as the server says, which for one that waits is its place at least. */
export function phaseText(generation: Stage): string {
  const { reason, step, steps } = generation;
  if (reason) return reason;
  return tellsSteps(generation) ? `Step ${step} of ${steps}` : workText(generation);
}

/** What it does now, without what changes from step to step: each would be too much to hear. */
export function workText(generation: Pick<Stage, 'provider' | 'state'>, isEdit = false): string {
  if (isGeneratedHere(generation)) return isEdit ? 'Editing' : 'Generating';
  return generation.state === 'queued' ? 'Waiting for its turn' : 'Starting the model';
}

/** A service does not say that it has started its model: it is at work once it has been asked. */
function isGeneratedHere({ provider, state }: Pick<Stage, 'provider' | 'state'>): boolean {
  return state === 'running' || (state === 'starting' && provider !== 'own');
}

/** What a service does is not told by steps. */
function tellsSteps({ provider, state, steps }: Stage): boolean {
  return state === 'running' && provider === 'own' && steps > 0;
}

/** What a service has begun goes on, and is charged. */
export function canBeCancelled({ provider, state }: Pick<Stage, 'provider' | 'state'>): boolean {
  return provider === 'own' || state !== 'running';
}

/** Why there is no picture, where that is not said yet, and that it cost nothing. */
export function freeText({ state, reason }: Pick<Stage, 'state' | 'reason'>): string {
  const free = 'You were not charged.';
  return state === 'failed' && reason ? `${reason.replace(/\.?$/, '.')} ${free}` : free;
}

/** 0 to 100; null while it cannot be said. */
export function percentOf(generation: Stage): number | null {
  return tellsSteps(generation) ? (generation.step / generation.steps) * 100 : null;
}

type Times = Stage & Pick<Generation, 'created_at' | 'started_at'>;

/**
 * '12 s so far, about 20 s left'; while it waits, for how long. How fast it is, is computed from the steps since the `first` that
 * was seen: before it, the model may have been starting.
 */
export function timeText(generation: Times, now: Date, first: { at: Date; step: number }): string {
  const { step, steps, created_at, started_at } = generation;
  const since = (from: Date) => Math.max(0, (now.getTime() - from.getTime()) / 1_000);
  if (!isGeneratedHere(generation) || started_at === null)
    return `Waiting, ${formatDuration(since(new Date(created_at)))} so far`;
  const soFar = `${formatDuration(since(new Date(started_at)))} so far`;
  if (step === first.step) return soFar;
  return `${soFar}, ${aboutDuration((since(first.at) / (step - first.step)) * (steps - step))} left`;
}

/** How long it took since its turn came; null where that never was. */
export function secondsTaken({
  started_at,
  ended_at,
}: Pick<Generation, 'started_at' | 'ended_at'>): number | null {
  if (started_at === null || ended_at === null) return null;
  return (new Date(ended_at).getTime() - new Date(started_at).getTime()) / 1_000;
}
