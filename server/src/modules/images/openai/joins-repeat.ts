import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { takeLeft } from '../queries.ts';
import type { Joins } from '../start/start-generation.ts';

/** How often the client has repeated the call. OpenAI's own say it, and send no Idempotency-Key by themselves. */
const RETRY_COUNT = 'x-stainless-retry-count';
/** So long a client may take to repeat a call that it has given up on: OpenAI's pause for eight seconds at most. */
const REPEAT_MS = 30_000;

/**
 * How a repeated call finds the picture that it means: the one that this client's same call was waiting for when it ended without an
 * answer. OpenAI's clients repeat a call that they have given up on (in Node after five minutes, where no header has come), and
 * a service that has begun its picture charges for it. A picture that another call waits for, or was answered with, is never
 * it. Undefined for a first call, and for one that names its repetitions by an Idempotency-Key.
 */
export function joinsRepeat(
  { clock, idempotencyKey, caller }: Pick<Context, 'clock' | 'idempotencyKey' | 'caller'>,
  { headers }: Http['request'],
): Joins | undefined {
  if (idempotencyKey !== null || !(Number(headers[RETRY_COUNT]) > 0)) return undefined;
  const since = new Date(clock.now().getTime() - REPEAT_MS);
  return (tx, same) => takeLeft(tx, { ...same, keyId: caller.key?.id ?? null, since });
}
