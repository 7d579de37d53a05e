import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { listWaitedAt, takeLeft } from '../queries.ts';
import type { Joins } from './start-generation.ts';

/** How often the client has repeated the call. OpenAI's own say it, and send no Idempotency-Key by themselves. */
const RETRY_COUNT = 'x-stainless-retry-count';
/** So long a client may take to repeat a call that it has given up on: OpenAI's pause for eight seconds at most. */
const REPEAT_MS = 30_000;
const LOOK_EVERY_MS = 250;

type Asking = Pick<Context, 'db' | 'clock' | 'idempotencyKey' | 'caller' | 'processId'>;

/**
 * How a call finds the picture that it means, where it is a repeated one: the one that this client's same call was waiting for when it
 * ended without an answer. OpenAI's clients repeat a call that they have given up on (in Node after five minutes, where no header
 * has come) or that broke off with its server, and a service that has begun its picture charges for it. A picture that another
 * call waits for, or was answered with, is never it. A call that names its repetitions by an Idempotency-Key needs none of this.
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
 * Waits until each other process that has calls of the key waiting has beaten again, and so noted those that have left it, or is known
 * to have died.
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
