import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { PICTURE_BYTES_MAX } from '@bakehouse/contract/media';

/** What generations of one kind of file have in common, whoever makes them. */
export type Medium = {
  /** What one is called in sentences. */
  noun: string;
  /** How a bill names one; by whom follows. */
  title: string;
  /** What its charges are in the ledger. */
  use: 'image_generation';
  /** The largest file that is kept. */
  bytesMax: number;
  /** How long a service may take for one, its queue included. */
  serviceMsMax: number;
  /** How many each service generates at once: others' machines, each with limits of its own. */
  servicePlaces: number;
};

export const mediaTable = {
  image: {
    noun: 'picture',
    title: 'Picture',
    use: 'image_generation',
    bytesMax: PICTURE_BYTES_MAX,
    serviceMsMax: 10 * 60_000,
    servicePlaces: 16,
  },
} as const satisfies Record<string, Medium>;

/** The medium of what a generator makes. Throws Error for one that is not generated here yet. Pure. */
export function mediumOf(generator: GeneratorName): Medium {
  const { makes } = generators[generator];
  if (makes in mediaTable) return mediaTable[makes as keyof typeof mediaTable];
  throw new Error(`no ${makes} is generated here`);
}
