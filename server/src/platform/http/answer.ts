import { pipeline, Readable } from 'node:stream';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import type { FastifyReply } from 'fastify';
import type { Caller, Context } from '../context.ts';
import { watchKey } from './callers/key-ends.ts';
import { onClose } from './connection.ts';
import { EVENT_HEADERS, type EventStream, openEventStream } from './send-page.ts';

type Head = {
  status?: number;
  headers?: Record<string, string | number | string[]>;
  /** A client that receives nothing for this long is disconnected. */
  stallMs?: number;
};

/**
 * An answer with its own status or headers. The body is JSON, bytes, a stream of bytes, or a stream of
 * events, according to its content type. A stream is destroyed if the client disconnects.
 */
export class Answer<Body = unknown> {
  readonly body: Body;
  /** Defaults to the endpoint's status. */
  readonly status: number | undefined;
  readonly headers: NonNullable<Head['headers']>;
  readonly stallMs: number | undefined;

  constructor(body: Body, { status, headers = {}, stallMs }: Head = {}) {
    this.body = body;
    this.status = status;
    this.headers = headers;
    this.stallMs = stallMs;
  }
}

/** An endless stream of events. `open` is called once the response has started, and sends the events. */
export class LiveEvents {
  readonly open: (stream: EventStream) => Promise<void>;

  constructor(open: (stream: EventStream) => Promise<void>) {
    this.open = open;
  }
}

/** Writes what a handler returned: an `Answer`, live events, or the body alone. */
export async function writeAnswer(
  ctx: Context<Caller>,
  { status, response }: Pick<Endpoint, 'status' | 'response'>,
  reply: FastifyReply,
  output: unknown,
): Promise<FastifyReply> {
  if (output instanceof LiveEvents) {
    await output.open(openEventStream(reply));
    return reply;
  }
  const answer = output instanceof Answer ? output : new Answer(output);
  const { body, headers, stallMs } = answer;
  reply.headers(headers).code(answer.status ?? status ?? 200);
  if (stallMs !== undefined) reply.raw.setTimeout(stallMs, () => reply.raw.destroy());
  if (body instanceof Readable) return writeStream(ctx, reply, body, headers['content-type']);
  if (Buffer.isBuffer(body) || (body === undefined && response === undefined)) return reply.send(body);
  reply.header('content-type', 'application/json; charset=utf-8');
  // Fastify sends strings unchanged instead of as JSON.
  return reply.send(typeof body === 'string' ? JSON.stringify(body) : body);
}

function writeStream(
  ctx: Context<Caller>,
  reply: FastifyReply,
  body: Readable,
  contentType: unknown,
): FastifyReply {
  if (contentType === EVENT_HEADERS['content-type']) return writeEvents(reply, body);
  abortWithKey(ctx, reply);
  return reply.send(body);
}

/** Bypasses Fastify, which would log an error when the client disconnects, the normal end of a stream. */
function writeEvents(reply: FastifyReply, events: Readable): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  pipeline(events, reply.raw, () => undefined);
  return reply;
}

/**
 * Closes the connection of a download when its API key ends. The client notices that the response is
 * incomplete, because its length was announced.
 */
function abortWithKey(ctx: Context<Caller>, reply: FastifyReply): void {
  const { caller } = ctx;
  if (caller.kind !== 'user') return;
  const key = watchKey({ ...ctx, caller });
  key.signal.addEventListener('abort', () => reply.raw.destroy());
  onClose(reply, key.stop);
}
