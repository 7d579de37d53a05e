import { type RowsAnswer, rowsAnswer } from '@bakehouse/contract/hub/datasets-server';
import * as z from 'zod';
import { runConfined } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import type { RowsQuery } from './answer-rows.ts';
import { askConfined } from './ask-confined.ts';
import type { AskedRevision } from './find-tables.ts';

const PROGRAM = new URL('./answer-rows-program.ts', import.meta.url);
const answered = z.object({ answer: rowsAnswer });

type Asked = AskedRevision & { table: string; signal?: AbortSignal | undefined } & Omit<
    RowsQuery,
    'folder' | 'tables' | 'seconds'
  >;

/** Rows of one table of a dataset, as they are, with their types. Throws what `askConfined` throws. */
export async function readTableRows(
  ctx: Context,
  { table, where, orderBy, text, offset, limit, ...asked }: Asked,
): Promise<RowsAnswer> {
  const answer = await askConfined(ctx, { ...asked, query: '', table }, async ({ work, limits }) => {
    const input = { ...work.input, where, orderBy, text, offset, limit };
    const found = await runConfined(ctx.sandbox, { ...work, program: PROGRAM, input }, limits);
    return { answer: found, result: found };
  });
  return answered.parse(answer).answer;
}
