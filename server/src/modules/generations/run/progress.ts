import type { GenerationState } from '@bakehouse/contract/generations';
import type { ImageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import type { GenerationDetails } from '../queries.ts';

/** Progress of a running generation. */
export type Progress = {
  state: Extract<GenerationState, 'starting' | 'running'>;
  reason: string;
  step: number;
  preview: string | null;
  details: GenerationDetails;
};

/** A preview of 128 px uses a twentieth of this. */
const PREVIEW_LENGTH_MAX = 190_000;

export const begun: Progress = {
  state: 'starting',
  reason: 'The model is starting',
  step: 0,
  preview: null,
  details: {},
};

/**
 * Messages for the phases of a starting model server; the phases are defined by the engine and the runtime.
 */
const starting: Record<string, string> = {
  pulling: 'The model is starting: fetching its files',
  'pulling inputs': 'The model is starting: fetching its files',
  'loading model': 'The model is starting: loading the model',
};

/** Returns the message for a phase of the model server. */
export function startingReason(phase: string): string {
  return starting[phase] ?? begun.reason;
}

/** Returns the progress after an event of the model server; unchanged if the event contains nothing new. */
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

/** A hundred steps of eight experts are returned in every list of pictures: round to four decimals. */
function rounded(weight: number): number {
  return Math.round(weight * 10_000) / 10_000;
}

/** Returns null if the preview is too large to store. */
function previewUrl(jpeg: string): string | null {
  return jpeg.length > PREVIEW_LENGTH_MAX ? null : `data:image/jpeg;base64,${jpeg}`;
}
