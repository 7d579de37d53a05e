import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { PICTURE_BYTES_MAX, VIDEO_BYTES_MAX } from '@bakehouse/contract/media';

/** What generations of one kind of file have in common, whoever makes them. */
export type Medium = {
  /** What one is called in sentences. */
  noun: 'picture' | 'video';
  /** How a bill names one; by whom follows. */
  title: string;
  /** What its charges are in the ledger. */
  use: 'image_generation' | 'video_generation';
  /** The largest file that is kept. */
  bytesMax: number;
  /** How long a service may take for one, its queue included. */
  serviceMsMax: number;
  /** How long its file may be on its way from a service. */
  fetchMsMax: number;
};

/** How many each service generates at once: others' machines, each with limits of its own. */
export const SERVICE_PLACES = 16;

const mediaTable = {
  image: {
    noun: 'picture',
    title: 'Picture',
    use: 'image_generation',
    bytesMax: PICTURE_BYTES_MAX,
    serviceMsMax: 10 * 60_000,
    fetchMsMax: 2 * 60_000,
  },
  video: {
    noun: 'video',
    title: 'Video',
    use: 'video_generation',
    bytesMax: VIDEO_BYTES_MAX,
    serviceMsMax: 30 * 60_000,
    fetchMsMax: 10 * 60_000,
  },
} as const satisfies Record<string, Medium>;

/** The medium of what a generator makes. Pure. */
export function mediumOf(generator: GeneratorName): Medium {
  return mediaTable[generators[generator].makes];
}
