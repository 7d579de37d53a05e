import type { Database } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findRevision } from '../queries.ts';

/** Returns the number of a revision by its id. Throws AppError 'not_found' if it does not exist. */
export async function requireRevisionNumber(
  db: Database,
  { assetId, revisionId }: { assetId: string; revisionId: string },
): Promise<number> {
  const revision = await findRevision(db, assetId, revisionId);
  if (revision) return revision.number;
  throw new AppError('not_found', {
    publicMessage: 'This asset has no such revision',
    param: 'revision_id',
  });
}
