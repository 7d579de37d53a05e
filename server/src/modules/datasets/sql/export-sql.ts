import type { SqlFormat } from '@bakehouse/contract/sql';
import { openByKey } from '../../../platform/concurrency/open-by-key.ts';
import { shareLimit } from '../../../platform/concurrency/share-limit.ts';
import { runConfinedToFile } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { onClose } from '../../../platform/http/on-close.ts';
import { contentDisposition } from '../../assets/files/content-disposition.ts';
import { type AskedQuery, askConfined } from './ask-confined.ts';

const contentTypes = { csv: 'text/csv; charset=utf-8', parquet: 'application/vnd.apache.parquet' };

/** Results of one user that are made and sent at once, in all processes: each takes room on the disk until it is taken. */
const EXPORTS_MAX = 2;
/** The connection of who takes nothing for so long is closed. */
const STALL_MS = 60_000;

const exporting = openByKey();

/**
 * Answers with all rows of a query of a dataset's files, as a file. Throws AppError 'rate_limited' where the user has two under
 * way, and what `askConfined` throws.
 */
export async function exportSql(
  ctx: Context,
  { format, ...asked }: AskedQuery & { format: SqlFormat },
  { reply }: Pick<Http, 'reply'>,
  { stallMs = STALL_MS } = {},
): Promise<void> {
  const leave = exporting.enter(ctx.caller.userId, shareLimit(EXPORTS_MAX, ctx.webProcesses()));
  if (leave === null) throw tooMany();
  onClose(reply, leave);
  const file = await askConfined(ctx, asked, async ({ work, limits }) => {
    const input = { ...work.input, format };
    const { answer, file: result } = await runConfinedToFile(ctx.sandbox, { ...work, input }, limits);
    return { answer, result };
  });
  if (!file) throw new Error('The query was answered, and no file was written');
  const { size } = await file.stat();
  reply.raw.setTimeout(stallMs, () => reply.raw.destroy());
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

function tooMany(): AppError {
  return new AppError('rate_limited', {
    publicMessage: 'Two of your results are being downloaded already. Try again when one of them is done',
  });
}
