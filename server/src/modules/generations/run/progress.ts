import type { GenerationState } from '@bakehouse/contract/generations';
import type { ImageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import type { Services } from '../../../platform/context.ts';
import { toJson } from '../../../platform/db/database.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { type RenewedLease, renewLeasePeriodically } from '../../../platform/leases/hold-lease.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { type GenerationDetails, type GenerationRow, putPreview } from '../queries.ts';
import { generationsTable } from './generations-table.ts';

/** Maximum length of a preview as a `data:` URL; a preview of 128 px needs a twentieth of it. */
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

/** Minimum interval between two writes of progress. */
const WRITE_EVERY_MS = 350;

/** Interval for renewing the lease if there is no progress to write. */
const RENEW_EVERY_MS = 1_000;

/** Progress of a running generation. */
type Progress = {
  state: Extract<GenerationState, 'starting' | 'running'>;
  reason: string;
  step: number;
  preview: string | null;
  details: GenerationDetails;
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

/**
 * Rounds to four decimals, because each picture in a list has up to a hundred steps with eight weights each.
 */
function rounded(weight: number): number {
  return Math.round(weight * 10_000) / 10_000;
}

/** Returns null if the preview is too large to store. */
function previewUrl(jpeg: string): string | null {
  return jpeg.length > PREVIEW_LENGTH_MAX ? null : `data:image/jpeg;base64,${jpeg}`;
}

export type ProgressReport = RenewedLease & { update: (progress: Progress) => void };

/** Renews the lease of a generation and writes its progress, at most every `WRITE_EVERY_MS`. */
export function reportProgress(
  services: Pick<Services, 'db' | 'clock' | 'log'>,
  lease: Lease<GenerationRow>,
): ProgressReport {
  const { db } = services;
  let next: Progress | null = null;
  let writtenPreview: string | null = null;

  async function onWritten({ preview }: Progress): Promise<void> {
    if (preview !== null && preview !== writtenPreview) await putPreview(db, lease, preview);
    writtenPreview = preview;
    announceChange(db, lease.row.user_id, { topic: 'generation', id: lease.id });
  }

  const kept = renewLeasePeriodically(services, {
    ...{ table: generationsTable, lease, renewEveryMs: RENEW_EVERY_MS, checkEveryMs: WRITE_EVERY_MS },
    readNews: () => {
      const progress = next;
      next = null;
      return progress && { values: progressColumns(progress), onWritten: () => onWritten(progress) };
    },
  });
  return {
    ...kept,
    update: (progress) => {
      next = progress;
    },
  };
}

/** Returns the columns for the progress. The preview is large and stored in a separate table. */
export function progressColumns({ preview: _preview, details, ...rest }: Progress) {
  return { ...rest, details: toJson(details) };
}
