import type { FastifyReply } from 'fastify';
import { clientDisconnected } from '../errors.ts';

/** Listeners by response. Node gets only one listener per response, which calls all of these. */
const waiting = new WeakMap<Raw, (() => void)[]>();

/** Two megabits a second. */
const BYTES_PER_MS = 256;

/** What a use case may know about the client of its call. */
export type Client = {
  /** Aborts when the client disconnects before its response is complete. */
  readonly signal: AbortSignal;
  /** Calls the listener once if the response is an error, or the client disconnects before its end. */
  onUndelivered: (listener: () => void) => void;
};

/** Returns the client that receives this reply. */
export function clientOf(reply: Pick<FastifyReply, 'raw'>): Client {
  const { raw } = reply;
  let disconnected: AbortController | undefined;
  const watch = () => {
    const controller = new AbortController();
    onClose(reply, () => {
      if (raw.writableEnded) return;
      controller.abort(clientDisconnected());
    });
    return controller;
  };
  return {
    get signal() {
      disconnected ??= watch();
      return disconnected.signal;
    },
    onUndelivered: (listener) =>
      onClose(reply, () => {
        if (!raw.writableFinished || raw.statusCode >= 400) listener();
      }),
  };
}

type Raw = FastifyReply['raw'];

/** Calls `listener` once when the response ends, successfully or not; immediately if it has already ended. */
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

/** Returns how many milliseconds a slow line (2 Mbit/s) needs for this many bytes. */
export function slowLineMs(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_MS);
}
