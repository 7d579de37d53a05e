import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { listWaitedAt, takeLeft } from '../queries.ts';
import type { Joins } from './start-generation.ts';

/** Number of retries. OpenAI's clients send this header, but no Idempotency-Key by default. */
const RETRY_COUNT = 'x-stainless-retry-count';
/** Time within which a client repeats an abandoned call: OpenAI's clients pause for at most eight seconds. */
const REPEAT_MS = 30_000;
const LOOK_EVERY_MS = 250;

type Asking = Pick<Context, 'db' | 'clock' | 'idempotencyKey' | 'caller' | 'processId'>;

/**
 * Returns how a repeated call finds the picture that its first try was waiting for when it ended without a
 * response. OpenAI's clients repeat a call that timed out (in Node after five minutes without headers) or
 * lost its server, and a service charges for a picture that it has started. Never matches a picture that
 * another call waits for or has received. Not needed with an Idempotency-Key.
 */
export async function joinsRepeat(
  asking: Asking,
  { headers }: Http['request'],
): Promise<{ joins?: Joins; waitsHere: boolean }> {
  const { clock, idempotencyKey, caller, processId } = asking;
  if (idempotencyKey !== null) return { waitsHere: false };
  if (!(Number(headers[RETRY_COUNT]) > 0)) return { waitsHere: true };
  await untilOthersAreSeen(asking);
  const asked = { keyId: caller.key?.id ?? null, processId, withinMs: REPEAT_MS };
  return { waitsHere: true, joins: (tx, same) => takeLeft(tx, { ...same, ...asked, now: clock.now() }) };
}

/**
 * Waits until every other process with waiting calls of the key has sent a heartbeat, and so recorded its
 * disconnected calls, or is known to be dead.
 */
async function untilOthersAreSeen({ db, caller, processId }: Asking): Promise<void> {
  const list = () => listWaitedAt(db, { userId: caller.userId, keyId: caller.key?.id ?? null, processId });
  const unseen = await list();
  while (unseen.size > 0) {
    await pause(LOOK_EVERY_MS);
    const seen = await list();
    for (const [id, at] of unseen) if (seen.get(id) !== at) unseen.delete(id);
  }
}
