import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import type { GenerationRow } from '../queries.ts';
import { isAwaited, REPEAT_MS } from '../start/awaited-pictures.ts';

/** How often the client has repeated the call; OpenAI's own say it. */
const RETRY_COUNT = 'x-stainless-retry-count';

/**
 * Whether a call is answered by the newest picture of the same call. OpenAI's clients repeat one that they have given up on
 * (in Node after five minutes, where no header has come), and a service that has begun its picture charges for it: that
 * one is meant, and not another. They repeat what was refused because of too many calls as well: then the newest picture
 * is another call's, which waits for it. Undefined for a first call, and for one that names its repetitions by an Idempotency-Key.
 */
export function joinsRepeat(
  { clock, idempotencyKey }: Pick<Context, 'clock' | 'idempotencyKey'>,
  { headers }: Http['request'],
): ((newest: GenerationRow) => boolean) | undefined {
  if (idempotencyKey !== null || !(Number(headers[RETRY_COUNT]) > 0)) return undefined;
  const now = clock.now().getTime();
  return ({ id, state, ended_at: endedAt }) =>
    !isAwaited(id) && (endedAt === null || (state === 'completed' && now - endedAt.getTime() < REPEAT_MS));
}
