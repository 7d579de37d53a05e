import type { Readable } from 'node:stream';
import type { Services } from '../../../platform/context.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import type { WakingParts } from '../../deployments/waking-parts.ts';
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

/** Type and size of an output. */
export type OutputShape = { mediaType: string; width: number; height: number };

/** A finished output as it comes. */
export type ComingOutput = {
  bytes: Readable;
  /** What it has to be; without it whatever can be kept. */
  declared?: OutputShape;
  /** Written into the file of a picture. */
  metadata?: Record<string, string>;
  /** Pictures of a video, which come after it in this order. */
  beside?: { role: 'poster' | 'strip'; bytes: Readable }[];
};

/** One in the store; of a picture, what only videos have is null. */
export type StoredOutput = OutputShape & {
  sha256: string;
  sizeBytes: number;
  durationS: number | null;
  frames: number | null;
  hasAudio: boolean | null;
  thumbnail: Thumbnail | null;
  strip: Thumbnail | null;
};

/** What came of an attempt. */
export type Generated = {
  outputs: StoredOutput[];
  /** The revision of the model that generated it, where one of this installation did. */
  revisionId: string | null;
  details: GenerationDetails;
};
