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
   * Stores a finished output. Throws BadPicture for an invalid file, errors while reading its bytes, and
   * errors of the store.
   */
  keep: (output: ComingOutput) => Promise<StoredOutput>;
};

/** Type and size of an output. */
export type OutputShape = { mediaType: string; width: number; height: number };

/** A finished output while it streams. */
export type ComingOutput = {
  bytes: Readable;
  /** Expected type and size. If undefined, any valid file is accepted. */
  declared?: OutputShape;
  /** Metadata to embed in a picture's file. */
  metadata?: Record<string, string>;
  /** Pictures of a video. Their bytes follow the video's bytes in this order. */
  beside?: { role: 'poster' | 'strip'; bytes: Readable }[];
};

/** A stored output. The video fields of a picture are null. */
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
  /** Revision of the model that generated the outputs; null for a service. */
  revisionId: string | null;
  details: GenerationDetails;
};
