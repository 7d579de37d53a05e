import type { Database } from '../../db/database.ts';
import { AppError } from '../../errors.ts';
import { selectUpload } from './queries.ts';
import type { Upload } from './upload.ts';

/** The upload of the user. Throws AppError('not_found') where there is none, also where it is another user's. */
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
