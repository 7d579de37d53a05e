import type { Generation } from '@bakehouse/contract/generations';
import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import { aboutDuration, formatDuration } from '../../lib/format/format-time.ts';
import { outcomeText } from '../../lib/format/outcome-text.ts';

type Stage = Pick<Generation, 'provider' | 'state' | 'reason' | 'step' | 'steps'>;

const unfinished = new Set<Generation['state']>(['queued', 'starting', 'running']);

export function isUnderWay({ state }: Pick<Generation, 'state'>): boolean {
  return unfinished.has(state);
}

/** Returns a generation's id in the list of long work. */
export function workId(id: string): string {
  return `generation-${id}`;
}

/** Returns the message for starting a second generation. */
export function alreadyGeneratingMessage(generator: GeneratorName): string {
  return `A ${makesVideos(generator) ? 'video' : 'picture'} is still being generated. Wait for it to finish, or cancel it first.`;
}

/** Returns the current phase: the server's reason if any, such as the queue position. */
export function phaseText(generation: Stage): string {
  const { reason, step, steps } = generation;
  if (reason) return reason;
  return tellsSteps(generation) ? `Step ${step} of ${steps}` : workText(generation);
}

/** Returns the current phase without step numbers, which would be too much for screen readers. */
export function workText(generation: Pick<Stage, 'provider' | 'state'>, isEdit = false): string {
  if (isGeneratedHere(generation)) return isEdit ? 'Editing' : 'Generating';
  return generation.state === 'queued' ? 'Waiting for its turn' : 'Starting the model';
}

/** A service does not report that its model has started, so it counts as generating from the request on. */
function isGeneratedHere({ provider, state }: Pick<Stage, 'provider' | 'state'>): boolean {
  return state === 'running' || (state === 'starting' && provider !== 'own');
}

/** Services do not report steps. */
function tellsSteps({ provider, state, steps }: Stage): boolean {
  return state === 'running' && provider === 'own' && steps > 0;
}

/** A generation that a service has started cannot be stopped and is charged. */
export function canBeCancelled({ provider, state }: Pick<Stage, 'provider' | 'state'>): boolean {
  return provider === 'own' || state !== 'running';
}

/** Returns why there is no picture, if known, and that it was free. */
export function noChargeText({ state, reason }: Pick<Stage, 'state' | 'reason'>): string {
  return outcomeText(state === 'failed' ? reason : '', '0');
}

/** 0 to 100, or null if unknown. */
export function percentOf(generation: Stage): number | null {
  return tellsSteps(generation) ? (generation.step / generation.steps) * 100 : null;
}

type Times = Stage & Pick<Generation, 'created_at' | 'started_at'>;

/**
 * Returns the elapsed time with an estimate of the rest, or the waiting time. The speed is measured from the
 * `first` observed step, because the model may have been starting before it.
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

/** Returns the duration since it started, or null if it never did. */
export function secondsTaken({
  started_at,
  ended_at,
}: Pick<Generation, 'started_at' | 'ended_at'>): number | null {
  if (started_at === null || ended_at === null) return null;
  return (new Date(ended_at).getTime() - new Date(started_at).getTime()) / 1_000;
}
