import { setTimeout as sleep } from 'node:timers/promises';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import type { CloneRow } from '../clone/clones-table.ts';
import { BeingMirrored } from './being-mirrored.ts';

/** The hub's clients wait ten seconds for an answer. */
const WAIT_MS = 7_000;
const LOOK_AGAIN_MS = 200;

/**
 * Answers by `read`, and while the repository is being copied from the public hub by `meanwhile`, as soon as that has an answer.
 * Throws BeingMirrored where neither has one soon.
 */
export async function awaitMirror<Answer>(
  { reply }: Http,
  read: () => Promise<Answer>,
  meanwhile: (clone: CloneRow) => Promise<Answer | undefined> = async () => undefined,
): Promise<Answer> {
  const start = performance.now();
  let disconnected: AbortSignal | undefined;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof BeingMirrored)) throw error;
      const answer = await meanwhile(error.clone);
      if (answer !== undefined) return answer;
      if (performance.now() - start > WAIT_MS) throw error;
    }
    disconnected ??= clientSignal(reply);
    await sleep(LOOK_AGAIN_MS, undefined, { signal: disconnected });
  }
}
