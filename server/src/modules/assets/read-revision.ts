import type { Database, Transaction } from '../../platform/db/database.ts';
import { type ReadableRevision, requireRevision, type WantedRevision } from './access/require-revision.ts';
import { type FileChoice, listFiles } from './queries.ts';

export type AssetRevision = ReadableRevision & {
  files: { path: string; sha256: string; sizeBytes: number }[];
};

/**
 * Returns a revision of an asset with its files, by default the newest, for work on exactly this revision. An
 * asset may have very many files: use the filters if only some are needed. Throws the errors of
 * `requireRevision`.
 */
export async function readRevision(
  tx: Database | Transaction,
  { paths, top, matching, after, limit, ...wanted }: WantedRevision & FileChoice,
): Promise<AssetRevision> {
  const found = await requireRevision(tx, wanted);
  const { number } = found.revision;
  const files = await listFiles(tx, { assetId: found.asset.id, number, paths, top, matching, after, limit });
  return {
    ...found,
    files: files.map(({ path, sha256, size_bytes }) => ({ path, sha256, sizeBytes: Number(size_bytes) })),
  };
}
