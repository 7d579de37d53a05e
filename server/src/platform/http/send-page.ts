import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';

const compress = promisify(gzip);

/** Head of a page, for programs that run no scripts. */
export type PageHead = { title: string; meta: Record<string, string>[] };

/**
 * Sends the web app's page with another head, for the content at this address. Throws AppError 'not_found' if
 * the web app is not built.
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
    throw new AppError('not_found', {
      publicMessage: "The web app is not built: './bakehouse up' builds it",
      cause,
    });
  }
}

/** Returns the page with this head instead of its own title and description. */
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
