import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { breakOffWithKey } from '../../platform/http/callers/break-off-with-key.ts';
import { sendBlob } from '../../platform/storage/send-blob.ts';
import { contentDisposition } from '../assets/files/content-disposition.ts';
import { findOutputs } from '../generations/find-generations.ts';
import type { OutputRow } from '../generations/queries.ts';
import { findVideo } from './find-video.ts';

/** The file, its first frame, or a strip of its frames. */
type Variant = 'video' | 'thumbnail' | 'spritesheet';

/**
 * Sends a caller's video file or a range of it. Throws AppError 'not_found', also for a missing variant, and
 * 'invalid_request' before the video is completed.
 */
export async function downloadVideo(
  ctx: Context,
  { id, variant = 'video' }: { id: string; variant?: Variant },
  http: Http,
): Promise<void> {
  const { generator } = await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  const [output] = (await findOutputs(ctx.db, [id])).get(id) ?? [];
  if (!output) throw new AppError('invalid_request', { publicMessage: 'Video not ready for download' });
  const { sha256, sizeBytes, mediaType } = fileOf(output, variant);
  const name = `${generator}-${id.slice(-8)}.${mediaType.split('/')[1]}`;
  breakOffWithKey(ctx, http);
  await sendBlob(ctx, http, {
    ...{ sha256, path: name, sizeBytes },
    headers: {
      'content-type': mediaType,
      'content-disposition': contentDisposition('attachment', name),
      'cache-control': 'private, no-store',
    },
  });
}

function fileOf(
  output: OutputRow,
  variant: Variant,
): { sha256: string; sizeBytes: number; mediaType: string } {
  const { sha256, size_bytes: bytes, media_type: mediaType } = output;
  if (variant === 'video') return { sha256, sizeBytes: Number(bytes), mediaType };
  const { thumbnail_sha256, thumbnail_bytes, strip_sha256, strip_bytes } = output;
  const [found, foundBytes] =
    variant === 'thumbnail' ? [thumbnail_sha256, thumbnail_bytes] : [strip_sha256, strip_bytes];
  // External services return only the file.
  if (found === null) throw new AppError('not_found', { publicMessage: `This video has no ${variant}` });
  return { sha256: found, sizeBytes: Number(foundBytes), mediaType: 'image/webp' };
}
