import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { notFoundError } from '../errors.ts';
import { onClose } from './connection.ts';

const compress = promisify(gzip);
const HEARTBEAT_MS = 15_000;

export const EVENT_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Otherwise nginx would buffer the events.
  'x-accel-buffering': 'no',
};

/** A client that leaves more data unread is disconnected. It can resume from its last id. */
const UNREAD_BYTES_MAX = 1024 * 1024;

/** Title and meta tags of a page, for programs that run no scripts. */
export type PageHead = { title: string; meta: Record<string, string>[] };

/**
 * Sends the web app's page with a head that describes the content at this address. Throws AppError
 * 'not_found' if the web app is not built.
 */
export async function sendPage(reply: FastifyReply, dist: string, head: PageHead): Promise<FastifyReply> {
  const html = withHead(await readPage(dist), head);
  reply.header('vary', 'accept-encoding').type('text/html; charset=utf-8');
  if (!/\bgzip\b(?!;q=0(\.0+)?\b)/.test(String(reply.request.headers['accept-encoding'])))
    return reply.send(html);
  return reply.header('content-encoding', 'gzip').send(await compress(html));
}

async function readPage(dist: string): Promise<string> {
  try {
    return await readFile(path.join(dist, 'index.html'), 'utf8');
  } catch (cause) {
    throw notFoundError("The web app is not built: './bakehouse up' builds it", { cause });
  }
}

/** Replaces the title and description of a page. */
function withHead(html: string, { title, meta }: PageHead): string {
  const tags = meta.map((attributes) => `<meta${attributesOf(attributes)} />`);
  const lines = [`<title>${escapeHtml(title)}</title>`, ...tags].join('\n    ');
  return html.replace(/<meta name="description"[^>]*>\s*/, '').replace(/<title>[^<]*<\/title>/, () => lines);
}

function attributesOf(attributes: Record<string, string>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
    .join('');
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

export type EventStream = {
  /** Sends one event with JSON data. After a reconnect, the client sends the last id that it received. */
  send: (event: string, data: object, id?: string) => void;
  /** Sends an id without an event, so that the client resumes from there. */
  sendId: (id: string) => void;
  /** Sends a line that clients ignore, so that proxies do not time out. */
  comment: (text: string) => void;
  /** Aborted when the client disconnects, even before the stream opens, or when the stream is closed. */
  closed: AbortSignal;
  close: () => void;
};

/**
 * Responds with server-sent events. The stream stays open until the client disconnects or stops reading,
 * `close` is called or the server shuts down, with a comment every 15 s against idle timeouts.
 */
export function openEventStream(reply: FastifyReply): EventStream {
  reply.hijack();
  const { raw } = reply;
  const closing = new AbortController();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, EVENT_HEADERS);

  const write = (text: string) => {
    if (raw.writableEnded || raw.destroyed) return;
    raw.write(text);
    if (raw.writableLength > UNREAD_BYTES_MAX) raw.destroy();
  };
  const comment = (text: string) => write(`: ${text}\n\n`);
  const heartbeat = setInterval(comment, HEARTBEAT_MS, 'heartbeat').unref();
  const close = () => void raw.end();
  const streams = reply.server.openStreams;
  streams.add(close);
  onClose(reply, () => {
    clearInterval(heartbeat);
    streams.delete(close);
    closing.abort();
  });
  comment('open');

  return {
    send: (event, data, id) =>
      write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    sendId: (id) => write(`id: ${id}\n\n`),
    comment,
    closed: closing.signal,
    close,
  };
}
