import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import type { AnswerShape } from './answer-shape.ts';
import type { Chunk, CompletionStream } from './completion-stream.ts';

type Raw = Http['reply']['raw'];

/** Proxies cut a connection on which nothing comes for a minute. */
const HEARTBEAT_MS = 15_000;
/** How long a client may read nothing of what waits for it: meanwhile it keeps a place of the model server. */
const READER_MS_MAX = 30_000;

/** Follows the model server's answer to its end. Throws where it breaks off. */
export async function readChunks(
  answer: IncomingMessage,
  stream: CompletionStream,
  take: (chunks: Chunk[]) => Promise<void> | void,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  for await (const piece of answer) await take(stream.push(decoder.write(piece as Buffer)));
  if (!stream.complete) throw new Error('the model server closed in the middle of its answer');
}

export function beginEvents(raw: Raw, headers: Record<string, unknown>): void {
  if (raw.headersSent) return;
  raw.writeHead(200, {
    ...(headers as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
}

/** A line that event-stream clients pass over, so that a person who looks sees what is going on. */
export function sendComment(reply: Http['reply'], text: string): void {
  sendAside(reply, `: ${text}\n\n`);
}

function sendAside(reply: Http['reply'], text: string): void {
  const { raw } = reply;
  if (raw.writableEnded || raw.destroyed) return;
  beginEvents(raw, reply.getHeaders());
  raw.write(text);
}

/**
 * Sends a text every 15 s in which nothing else is sent; `refresh` says that something was. The first one begins
 * the stream: what is refused before is still answered with a status of its own. Whoever calls this clears it.
 */
export function keepAlive(reply: Http['reply'], text: string): NodeJS.Timeout {
  return setInterval(sendAside, HEARTBEAT_MS, reply, text).unref();
}

/** Sends events on. A slow client slows the model server down instead of filling our memory. */
export async function sendText(raw: Raw, text: string, signal: AbortSignal): Promise<void> {
  if (text !== '' && !raw.write(text)) await drained(raw, signal);
}

/** Waits until the client has read what there is. One that reads nothing for too long is disconnected. */
async function drained(raw: Raw, signal: AbortSignal): Promise<void> {
  const giveUp = setTimeout(() => raw.destroy(), READER_MS_MAX);
  try {
    await once(raw, 'drain', { signal });
  } finally {
    clearTimeout(giveUp);
  }
}

/** The headers are long gone: the error is the last event. */
export function failEvents(raw: Raw, shape: AnswerShape, error: unknown, requestId: string): void {
  const known =
    error instanceof AppError
      ? error
      : new AppError('unavailable', {
          publicMessage: 'The model server stopped in the middle of the answer. Try again',
          cause: error,
        });
  raw.end(shape.failure(known, requestId));
}
