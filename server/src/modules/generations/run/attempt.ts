import type { Readable } from 'node:stream';
import type { Services } from '../../../platform/context.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import type { WakingParts } from '../../deployments/waking-parts.ts';
import type { InspectedPicture } from '../../media/inspect-picture.ts';
import type { Thumbnail } from '../../media/thumbnails/make-thumbnail.ts';
import type { GenerationDetails, GenerationRow } from '../queries.ts';
import type { ProgressReport } from './report-progress.ts';

/** What running generations takes from the program around it. */
export type RunningParts = {
  services: Services;
  serving: WakingParts;
  /** Aborted when this process ends in good order. */
  closing: AbortSignal;
};

/** One attempt at a generation. */
export type Attempt = {
  lease: Lease<GenerationRow>;
  report: ProgressReport;
  /** Aborted when somebody else decides over the generation, or this process ends. */
  signal: AbortSignal;
  /** Stores a finished output. Throws BadPicture for what cannot be kept, and what its bytes and the store throw. */
  keep: (output: ComingOutput) => Promise<StoredOutput>;
};

/** A finished output as it comes. */
export type ComingOutput = {
  bytes: Readable;
  /** What it has to be; without it whatever can be kept. */
  declared?: InspectedPicture;
  /** Null for a picture. */
  durationS: number | null;
  /** Written into its file. */
  metadata?: Record<string, string>;
};

/** One in the store. */
export type StoredOutput = InspectedPicture & {
  sha256: string;
  sizeBytes: number;
  durationS: number | null;
  thumbnail: Thumbnail | null;
};

/** What came of an attempt. */
export type Generated = {
  outputs: StoredOutput[];
  /** The revision of the model that generated it, where one of this installation did. */
  revisionId: string | null;
  details: GenerationDetails;
};
