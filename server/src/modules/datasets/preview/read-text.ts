import { splitLines } from './decode-text.ts';
import type { Table } from './table.ts';

/** Reads a text file: one column, one row per line. */
export function readText(chunks: AsyncIterable<string>): Table {
  return {
    columns: { shown: ['text'], count: 1 },
    rows: (async function* () {
      for await (const { line, text } of splitLines(chunks)) yield { line, values: [text] };
    })(),
  };
}
