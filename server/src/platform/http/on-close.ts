import type { FastifyReply } from 'fastify';

type Raw = FastifyReply['raw'];

/** Who is called at the end of each answer: the answer itself has one listener, however many want to know. */
const waiting = new WeakMap<Raw, (() => void)[]>();

/** Calls once when the answer is over, in whichever way; at once where the client left before anybody asked. */
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
