import type { Database } from '../../db/database.ts';
import { AppError } from '../../errors.ts';
import { selectUpload } from './queries.ts';
import type { Upload } from './upload.ts';

/** Returns the user's upload. Throws AppError('not_found') for missing or another user's uploads. */
export async function requireUpload(
  db: Database,
  who: { uploadId: string; userId: string },
): Promise<Upload> {
  const upload = await selectUpload(db, who);
  if (!upload) throw noUpload();
  return upload;
}

export function noUpload(): AppError {
  return new AppError('not_found', {
    publicMessage: 'No upload has this id. It may have ended, or been abandoned',
  });
}
