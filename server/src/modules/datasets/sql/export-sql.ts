import type { SqlFormat } from '@bakehouse/contract/sql';
import { runConfinedToFile } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { contentDisposition } from '../../assets/files/content-disposition.ts';
import { type AskedQuery, askConfined } from './ask-confined.ts';

const contentTypes = { csv: 'text/csv; charset=utf-8', parquet: 'application/vnd.apache.parquet' };

/** Answers with all rows of a query of a dataset's files, as a file. Throws what `askConfined` throws. */
export async function exportSql(
  ctx: Context,
  { format, ...asked }: AskedQuery & { format: SqlFormat },
  { reply }: Pick<Http, 'reply'>,
): Promise<void> {
  const file = await askConfined(ctx, asked, async ({ work, limits }) => {
    const input = { ...work.input, format };
    const { answer, file: result } = await runConfinedToFile(ctx.sandbox, { ...work, input }, limits);
    return { answer, result };
  });
  if (!file) throw new Error('The query was answered, and no file was written');
  const { size } = await file.stat();
  // Nothing of it is left when it has been sent, or nobody takes it.
  await reply
    .headers({
      'cache-control': 'private, no-store',
      'content-type': contentTypes[format],
      'content-disposition': contentDisposition('attachment', `result.${format}`),
      'content-length': size,
    })
    .send(file.createReadStream());
}
