import { EventEmitter } from 'node:events';
import type { Http } from '../../platform/http/bind.ts';

/**
 * Returns a reply that captures an answer in one piece without a connection; `said` returns the answer.
 * Aborting the signal simulates a client that disconnects.
 */
export function captureReply(signal: AbortSignal): { http: Http; said: () => unknown; close: () => void } {
  const raw = Object.assign(new EventEmitter(), {
    headersSent: false,
    writableEnded: false,
    destroyed: false,
  });
  let text = 'null';
  const reply = {
    raw,
    header: () => reply,
    send: (body: string) => {
      text = body;
      return reply;
    },
  };
  const leave = () => raw.emit('close');
  signal.addEventListener('abort', leave, { once: true });
  return {
    // The only parts of a reply that an answer in one piece uses.
    http: { reply, request: null } as unknown as Http,
    said: () => JSON.parse(text),
    close: () => signal.removeEventListener('abort', leave),
  };
}
