import type { Asset } from '@bakehouse/contract/assets';
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { assetQuery, previewQuery } from '../api.ts';
import { isDataFile } from './data-file.ts';
import { fileProblem } from './file-problems.ts';

export type FileProblem = { path: string; problem: string };

type CheckedFile = { assetId: string; revisionId: string; file: Asset['files'][number] };

/** What is wrong with a data file, by its beginning, read as training would; null: nothing. The same bytes are read once. */
export const fileProblemQuery = ({ assetId, revisionId, file: { path, sha256 } }: CheckedFile) =>
  queryOptions({
    queryKey: ['file-problem', path, sha256],
    queryFn: () =>
      queryClient
        .fetchQuery(previewQuery({ assetId, revisionId, path, offset: 0 }))
        .then(fileProblem, refusal),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Why the server does not read the file; that it was not reached says nothing of the file. */
function refusal(error: unknown): string {
  if (error instanceof ApiError && error.code === 'invalid_request') return error.message;
  throw error;
}

/** Checks the data files among `paths`, which have just come; resolves with those that have problems. */
export async function checkFiles(assetId: string, paths: readonly string[]): Promise<FileProblem[]> {
  if (!paths.some(isDataFile)) return [];
  const asset = await queryClient.fetchQuery({ ...assetQuery(assetId), staleTime: 0 });
  const { revision_id: revisionId, files } = asset;
  if (!revisionId) return [];
  const checked = files
    .filter(({ path }) => paths.includes(path) && isDataFile(path))
    .map(async (file) => {
      const checking = queryClient.fetchQuery(fileProblemQuery({ assetId, revisionId, file }));
      const problem = await checking.catch(() => null);
      return problem ? [{ path: file.path, problem }] : [];
    });
  return (await Promise.all(checked)).flat();
}
