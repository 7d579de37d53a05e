import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import type { Services } from '../../../platform/context.ts';
import { frontMatterOf, METADATA_BYTES_MAX, type ParsedCard } from './parse-card.ts';

const PROGRAM = new URL('./parse-card-program.ts', import.meta.url);
const limits = { kind: 'card', cpuSeconds: 5, wallMs: 30_000, heapMb: 128 } as const;
const parsed = z.object({
  data: z.record(z.string(), z.unknown()).nullable(),
  problem: z.string().nullable(),
});

/**
 * Parses the metadata of a card in a confined process. Calls of different users take turns, by `userId`.
 * `problem` is a sentence. Throws AppError 'unavailable' if too many calls wait or the machine is too slow.
 */
export async function readCard(
  { sandbox }: Pick<Services, 'sandbox'>,
  card: string,
  userId: string,
): Promise<ParsedCard> {
  const metadata = frontMatterOf(card);
  if (metadata === null) return { data: null, problem: null };
  if (Buffer.byteLength(metadata) > METADATA_BYTES_MAX)
    return toFailure(`it may have at most ${METADATA_BYTES_MAX / 1024} KB`);
  try {
    const answer = await runConfined(
      sandbox,
      { program: PROGRAM, input: { metadata } },
      { ...limits, userId },
    );
    const { data, problem } = parsed.parse(answer);
    return problem === null ? { data, problem } : toFailure(problem);
  } catch (error) {
    if (!(error instanceof OutOfLimits)) throw error;
    return toFailure('it takes too long to read');
  }
}

function toFailure(reason: string): ParsedCard {
  return { data: null, problem: `The metadata of the card cannot be read: ${reason}` };
}
