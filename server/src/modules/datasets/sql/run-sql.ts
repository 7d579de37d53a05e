import { type SqlAnswer, sqlAnswer } from '@bakehouse/contract/sql';
import * as z from 'zod';
import { runConfined } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { type AskedQuery, askConfined } from './ask-confined.ts';

const answered = z.object({ answer: sqlAnswer });

/** Runs a query over a dataset's files and returns a page of rows. Throws the errors of `askConfined`. */
export async function runSql(
  ctx: Context,
  { offset, limit, ...asked }: AskedQuery & { offset: number; limit: number },
): Promise<SqlAnswer> {
  const answer = await askConfined(ctx, asked, async ({ work, limits }) => {
    const input = { ...work.input, offset, limit };
    const found = await runConfined(ctx.sandbox, { ...work, input }, limits);
    return { answer: found, result: found };
  });
  return answered.parse(answer).answer;
}
