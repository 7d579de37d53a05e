import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { breakOffWithKey } from '../../platform/http/callers/break-off-with-key.ts';
import { sendBlob } from '../../platform/storage/send-blob.ts';
import { contentDisposition } from '../assets/files/content-disposition.ts';
import { findOutputs } from '../generations/find-generations.ts';
import { findVideo } from './find-video.ts';

/** Sends the file of a video of the caller, or a range of it. Throws AppError 'not_found', and 'invalid_request' while there is none. */
export async function downloadVideo(ctx: Context, { id }: { id: string }, http: Http): Promise<void> {
  const { generator } = await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  const [output] = (await findOutputs(ctx.db, [id])).get(id) ?? [];
  if (!output) throw new AppError('invalid_request', { publicMessage: 'Video not ready for download' });
  const name = `${generator}-${id.slice(-8)}.mp4`;
  breakOffWithKey(ctx, http);
  await sendBlob(ctx, http, {
    sha256: output.sha256,
    path: name,
    sizeBytes: Number(output.size_bytes),
    headers: {
      'content-type': output.media_type,
      'content-disposition': contentDisposition('attachment', name),
      'cache-control': 'private, no-store',
    },
  });
}
