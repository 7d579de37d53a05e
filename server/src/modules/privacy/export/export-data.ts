import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Context } from '../../../platform/context.ts';
import { type Section, sectionsOf } from './sections.ts';

/**
 * Streams all data about the caller as one JSON file, page by page because it may be long. Changes nothing.
 */
export async function exportData(ctx: Context, reply: FastifyReply): Promise<FastifyReply> {
  const day = ctx.clock.now().toISOString().slice(0, 10);
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('content-disposition', `attachment; filename="bakehouse-${day}.json"`)
    .header('cache-control', 'no-store')
    .send(Readable.from(writeJson(sectionsOf(ctx))));
}

async function* writeJson(sections: Record<string, Section>): AsyncGenerator<string> {
  let before = '{\n';
  for (const [name, section] of Object.entries(sections)) {
    yield `${before}${JSON.stringify(name)}: `;
    before = ',\n';
    if ('value' in section) yield JSON.stringify(await section.value(), null, 2);
    else yield* writeRows(section.rows);
  }
  yield '\n}\n';
}

async function* writeRows(rows: AsyncIterable<unknown>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield before + JSON.stringify(row);
    before = ',\n';
  }
  yield before === '[\n' ? '[]' : '\n]';
}
