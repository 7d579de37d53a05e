import { Readable } from 'node:stream';
import type { Context } from '../../../platform/context.ts';
import { Answer } from '../../../platform/http/answer.ts';
import { type Section, sectionsOf } from './sections.ts';

/**
 * Returns all data about the caller as one JSON file, as a stream because it may be long. Changes nothing.
 */
export async function exportData(ctx: Context): Promise<Answer> {
  const day = ctx.clock.now().toISOString().slice(0, 10);
  return new Answer(Readable.from(writeJson(sectionsOf(ctx))), {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="bakehouse-${day}.json"`,
      'cache-control': 'no-store',
    },
  });
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
