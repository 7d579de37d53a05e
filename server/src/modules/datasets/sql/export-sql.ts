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

/** Exports per user at a time, over all processes: each uses disk space until it is downloaded. */
const EXPORTS_MAX = 2;
/** Time without progress after which a stalled client's connection is closed. */
const STALL_MS = 60_000;

const exporting = openByKey();

/**
 * Sends all rows of a query as a file. Throws AppError 'rate_limited' if the user has two exports in
 * progress, and the errors of `askConfined`.
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
  if (!file) throw new Error('Query succeeded but wrote no file');
  const { size } = await file.stat();
  reply.raw.setTimeout(stallMs, () => reply.raw.destroy());
  // The file is deleted once it is sent or the client disconnects.
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
