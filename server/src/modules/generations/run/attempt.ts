import type { ImageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import type { Services } from '../../../platform/context.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import type { WakingParts } from '../../deployments/waking-parts.ts';
import type { Thumbnail } from '../../media/thumbnails/make-thumbnail.ts';
import type { GenerationRow } from '../queries.ts';
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
  /** Stores a finished picture. It is read once the attempt counts, since that may be what ends the process. */
  keep: (read: () => Picture) => Promise<StoredPicture>;
};

/** What a model server says of a finished picture. */
export type Done = Extract<ImageEvent, { type: 'done' }>;

/** A finished picture, whole. */
export type Picture = Pick<Done, 'media_type' | 'width' | 'height'> & { bytes: Buffer };
/** The same in the store. */
export type StoredPicture = Omit<Picture, 'bytes'> & {
  sha256: string;
  sizeBytes: number;
  thumbnail: Thumbnail | null;
};

/** What came of an attempt. */
export type Generated = {
  pictures: StoredPicture[];
  /** What is known beside of how it was generated. */
  generatedBy: Partial<Pick<GenerationRow, 'revision_id' | 'expert_used' | 'routing_confidence'>>;
  expertWeights: number[][] | null;
};
