import type { FastifyReply } from 'fastify';

type Raw = FastifyReply['raw'];

/** Listeners by response: the response itself has one listener for all of them. */
const waiting = new WeakMap<Raw, (() => void)[]>();

/** Calls `listener` once when the response ends in any way, or immediately if it already has. */
export function onClose({ raw }: Pick<FastifyReply, 'raw'>, listener: () => void): void {
  if (raw.destroyed) return listener();
  const listeners = waiting.get(raw);
  if (listeners) return void listeners.push(listener);
  const all = [listener];
  waiting.set(raw, all);
  raw.once('close', () => {
    for (const one of all) one();
  });
}
