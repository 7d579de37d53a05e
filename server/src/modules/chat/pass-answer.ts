import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import type { AnswerShape } from './answer-shape.ts';
import type { Chunk, CompletionStream } from './completion-stream.ts';

type Raw = Http['reply']['raw'];

/** Proxies close a connection that is idle for a minute. */
const HEARTBEAT_MS = 15_000;
/** Maximum time for which a client may read nothing, because it occupies a slot of the model server. */
const READER_MS_MAX = 30_000;

/** Reads the model server's answer to its end. Throws if it breaks off. */
export async function readChunks(
  answer: IncomingMessage,
  stream: CompletionStream,
  take: (chunks: Chunk[]) => Promise<void> | void,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  for await (const piece of answer) await take(stream.push(decoder.write(piece as Buffer)));
  if (!stream.complete) throw new Error('model server closed the connection before the end of its answer');
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

/** Sends a comment that clients ignore, to show the progress to people who read the raw stream. */
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
 * Sends a text after every 15 s without other output; call `refresh` after other output. The first text
 * starts the stream, so earlier errors still get their own status. The caller clears the timer.
 */
export function keepAlive(reply: Http['reply'], text: string): NodeJS.Timeout {
  return setInterval(sendAside, HEARTBEAT_MS, reply, text).unref();
}

/** Sends events with backpressure: a slow client slows the model server down instead of using memory. */
export async function sendText(raw: Raw, text: string, signal: AbortSignal): Promise<void> {
  if (text !== '' && !raw.write(text)) await drained(raw, signal);
}

/** Waits until the client has read all output. Disconnects a client that reads nothing for too long. */
async function drained(raw: Raw, signal: AbortSignal): Promise<void> {
  const giveUp = setTimeout(() => raw.destroy(), READER_MS_MAX);
  try {
    await once(raw, 'drain', { signal });
  } finally {
    clearTimeout(giveUp);
  }
}

/** Sends the error as the last event, because the headers were already sent. */
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
