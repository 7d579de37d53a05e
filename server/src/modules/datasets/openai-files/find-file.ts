import { fromFlatId, toFlatId } from '@bakehouse/contract/fields/flat-id';
import type { OpenAiFile } from '@bakehouse/contract/openai-files';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { type FileRow, selectFiles } from './file-queries.ts';

/** Returns a file of the caller by its id. Throws AppError 'not_found' for the field `param`. */
export async function findFile(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  id: string,
  param: string,
): Promise<FileRow> {
  const [file] = await selectFiles(db, { userId: caller.userId, assetId: fromFlatId(id), limit: 1 });
  if (file) return file;
  throw new AppError('not_found', {
    publicMessage: `There is no file '${id}'. A file is a dataset of yours with one file: GET /v1/files lists them`,
    param,
  });
}

/** Returns the file in OpenAI's format. */
export function toOpenAiFile({ asset_id, path, size_bytes, created_at, purpose }: FileRow): OpenAiFile {
  return {
    id: toFlatId('file-', asset_id),
    object: 'file',
    bytes: Number(size_bytes),
    created_at: Math.floor(created_at.getTime() / 1000),
    expires_at: null,
    filename: path,
    purpose,
    status: 'processed',
  };
}
