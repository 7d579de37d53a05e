import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { PICTURE_BYTES_MAX, VIDEO_BYTES_MAX } from '@bakehouse/contract/media';
import type { GenerationRow } from './queries.ts';

/** Properties shared by all generations of one kind of file, regardless of the provider. */
export type Medium = {
  /** Noun for messages. */
  noun: 'picture' | 'video';
  /** Title on a bill, e.g. 'Picture'; the provider's name follows. */
  title: string;
  /** Category of its charges in the ledger. */
  use: 'image_generation' | 'video_generation';
  /** Maximum file size in bytes. */
  bytesMax: number;
  /** Maximum time of a job at a service, including the service's queue. */
  serviceMsMax: number;
  /** Maximum time to download the file from a service. */
  fetchMsMax: number;
};

/** Concurrent generations per service; a service rejects requests above its own rate limit. */
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

/** Returns the medium of a generator's outputs. */
export function mediumOf(generator: GeneratorName): Medium {
  return mediaTable[generators[generator].makes];
}

/** Returns the title of the generator, or of the starter model that generates in its place. */
export function titleOf({ generator, queue }: Pick<GenerationRow, 'generator' | 'queue'>): string {
  const all: Generator[] = Object.values(generators);
  const found = all.find(({ starter }) => starter && queue === `starter:${starter.model}`);
  return found?.starter?.title ?? generators[generator].title;
}
