import type { GenerationState } from '@bakehouse/contract/generations';
import type { ImageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import type { GenerationDetails } from '../queries.ts';

/** What is told of a generation while it runs. */
export type Progress = {
  state: Extract<GenerationState, 'starting' | 'running'>;
  reason: string;
  step: number;
  preview: string | null;
  details: GenerationDetails;
};

/** A preview of 128 px takes a twentieth of it. */
const PREVIEW_LENGTH_MAX = 190_000;

export const begun: Progress = {
  state: 'starting',
  reason: 'The model is starting',
  step: 0,
  preview: null,
  details: {},
};

/** What its model server does before it can generate, for people; the phases are those of the engine and the runtime. */
const starting: Record<string, string> = {
  pulling: 'The model is starting: fetching its files',
  'pulling inputs': 'The model is starting: fetching its files',
  'loading model': 'The model is starting: loading the model',
};

/** Why a generation waits for its model server, by the phase of that. Pure. */
export function startingReason(phase: string): string {
  return starting[phase] ?? begun.reason;
}

/** How it stands after an event of the model server; the same where the event says nothing new. Pure. */
export function progressAfter(before: Progress, event: ImageEvent): Progress {
  if (event.type === 'queued') return { ...before, reason: 'Waiting for a free slot' };
  if (event.type !== 'step') return before;
  const preview = event.preview === null ? before.preview : previewUrl(event.preview);
  return {
    state: 'running',
    reason: '',
    step: event.step,
    preview,
    details: detailsAfter(before.details, event.expert_weights),
  };
}

function detailsAfter(before: GenerationDetails, weights: number[] | null): GenerationDetails {
  if (!weights) return before;
  return { ...before, expert_weights: [...(before.expert_weights ?? []), weights.map(rounded)] };
}

/** A hundred steps of eight experts are read with every list of pictures: four decimals say enough. */
function rounded(weight: number): number {
  return Math.round(weight * 10_000) / 10_000;
}

/** One that is too large to be kept is left out. */
function previewUrl(jpeg: string): string | null {
  return jpeg.length > PREVIEW_LENGTH_MAX ? null : `data:image/jpeg;base64,${jpeg}`;
}
