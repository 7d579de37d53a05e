import type { Readable } from 'node:stream';
import type { Services } from '../../../platform/context.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import type { WakingParts } from '../../deployments/end-deployment.ts';
import type { Thumbnail } from '../../media/thumbnails/thumbnails.ts';
import type { GenerationDetails, GenerationRow } from '../queries.ts';
import type { ProgressReport } from './progress.ts';

/** Dependencies for running generations. */
export type RunningParts = {
  services: Services;
  serving: WakingParts;
  /** Aborted on a graceful shutdown of this process. */
  closing: AbortSignal;
};

/** One attempt at a generation. */
export type Attempt = {
  lease: Lease<GenerationRow>;
  report: ProgressReport;
  /** Aborted when the lease is lost or the process shuts down. */
  signal: AbortSignal;
  /**
   * Stores a finished output. Throws BadPicture for an invalid file, and the errors of its bytes and of the
   * store.
   */
  keep: (output: ComingOutput) => Promise<StoredOutput>;
};

/** Type and size of an output. */
export type OutputShape = { mediaType: string; width: number; height: number };

/** A finished output while it streams. */
export type ComingOutput = {
  bytes: Readable;
  /** Expected type and size; any valid file is accepted if absent. */
  declared?: OutputShape;
  /** Embedded in a picture's file. */
  metadata?: Record<string, string>;
  /** Pictures of a video, which follow it in this order. */
  beside?: { role: 'poster' | 'strip'; bytes: Readable }[];
};

/** A stored output; for a picture, the fields of videos are null. */
export type StoredOutput = OutputShape & {
  sha256: string;
  sizeBytes: number;
  durationS: number | null;
  frames: number | null;
  hasAudio: boolean | null;
  thumbnail: Thumbnail | null;
  strip: Thumbnail | null;
};

/** Result of an attempt. */
export type Generated = {
  outputs: StoredOutput[];
  /** Revision of the model that generated it; null for a service. */
  revisionId: string | null;
  details: GenerationDetails;
};
