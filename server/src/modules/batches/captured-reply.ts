import { EventEmitter } from 'node:events';
import type { Http } from '../../platform/http/bind.ts';

/**
 * What an answer in one piece is written to where nobody is connected: the caller reads it by `said`. The signal is what a
 * client that leaves is to others.
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
    // Of a reply these are what an answer in one piece uses.
    http: { reply, request: null } as unknown as Http,
    said: () => JSON.parse(text),
    close: () => signal.removeEventListener('abort', leave),
  };
}
