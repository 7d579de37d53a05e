import { queryClient } from '../../../lib/api/query-client.ts';
import { errorMessage } from '../../../ui/notify.ts';
import { assetQuery, previewQuery } from '../api.ts';
import { isDataFile } from './data-file.ts';
import { fileProblem } from './file-problems.ts';

export type FileProblem = { path: string; problem: string };

/** Reads the beginning of each data file among `paths` as training would; resolves with those that have problems. */
export async function checkFiles(assetId: string, paths: readonly string[]): Promise<FileProblem[]> {
  const dataFiles = paths.filter(isDataFile);
  if (dataFiles.length === 0) return [];
  const { revision_id: revisionId } = await queryClient.fetchQuery({ ...assetQuery(assetId), staleTime: 0 });
  if (!revisionId) return [];
  const checked = dataFiles.map(async (path) => {
    const file = { assetId, revisionId, path, offset: 0 };
    const problem = await queryClient.fetchQuery(previewQuery(file)).then(fileProblem, errorMessage);
    return problem ? [{ path, problem }] : [];
  });
  return (await Promise.all(checked)).flat();
}
