import type { FastifyReply } from 'fastify';
import { clientDisconnected } from '../errors.ts';

/** Listeners by response: the response itself has one listener for all of them. */
const waiting = new WeakMap<Raw, (() => void)[]>();

/** Two megabits a second. */
const BYTES_PER_MS = 256;

/** Aborts when the client disconnects before its response is complete. */
export function clientSignal(reply: Pick<FastifyReply, 'raw'>): AbortSignal {
  const disconnected = new AbortController();
  onClose(reply, () => {
    if (reply.raw.writableEnded) return;
    disconnected.abort(clientDisconnected());
  });
  return disconnected.signal;
}

type Raw = FastifyReply['raw'];

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

/** Returns the milliseconds for this many bytes over a slow line of 2 Mbit/s. */
export function slowLineMs(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_MS);
}
