import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import type { GenerationRow } from '../queries.ts';

/** How often the client has repeated the call; OpenAI's own say it. */
const RETRY_COUNT = 'x-stainless-retry-count';
/** Between two attempts they pause for eight seconds at most. */
const JOINED_MS = 30_000;

/**
 * Whether a call is answered by the newest picture of the same call. OpenAI's clients repeat one that they have given up on
 * (in Node after five minutes, where no header has come), and a service that has begun its picture charges for it: that
 * one is meant, and not another. Undefined for a first call, and for one that names its repetitions by an Idempotency-Key.
 */
export function joinsRepeat(
  { clock, idempotencyKey }: Pick<Context, 'clock' | 'idempotencyKey'>,
  { headers }: Http['request'],
): ((newest: GenerationRow) => boolean) | undefined {
  if (idempotencyKey !== null || !(Number(headers[RETRY_COUNT]) > 0)) return undefined;
  const now = clock.now().getTime();
  return ({ state, ended_at: endedAt }) =>
    endedAt === null || (state === 'completed' && now - endedAt.getTime() < JOINED_MS);
}
