import type { AssetFile } from '@bakehouse/contract/assets';
import { FILES_SHOWN_MAX } from '@bakehouse/contract/assets';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { breakOffWithKey } from '../../platform/http/callers/break-off-with-key.ts';
import { sendZip } from '../../platform/storage/send-zip.ts';
import { getInfo } from '../assets/files/get-info.ts';

/** Sends all files of the newest revision as a zip. Throws AppError 'not_found' if there are no files yet. */
export async function downloadModel(
  ctx: Context,
  { modelId }: { modelId: string },
  http: Http,
): Promise<void> {
  const files = await listAllFiles(ctx, modelId);
  if (files.length === 0) throw new AppError('not_found', { publicMessage: 'This model has no files yet' });
  breakOffWithKey(ctx, http);
  await sendZip(ctx, http, {
    files: files.map(({ path, sha256, size_bytes: sizeBytes, uploaded_at }) => ({
      ...{ path, sha256, sizeBytes },
      modifiedAt: new Date(uploaded_at),
    })),
    headers: { 'content-disposition': `attachment; filename="${modelId}.zip"` },
  });
}

async function listAllFiles(ctx: Context, assetId: string): Promise<AssetFile[]> {
  const files: AssetFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await getInfo(ctx, { assetId, path: '', limit: FILES_SHOWN_MAX, cursor });
    files.push(...page.files);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return files;
}
