import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Database } from '../../../platform/db/database.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { findModelServer } from './server-queries.ts';

/** Returns the files of the base that a model server loads. */
export async function listBaseFiles(db: Database, serverId: string): Promise<AssetRevision['files']> {
  const files = (await findModelServer(db, serverId)).base_files as InputFile[];
  return files.map(({ path, sha256, size_bytes }) => ({ path, sha256, sizeBytes: size_bytes }));
}
