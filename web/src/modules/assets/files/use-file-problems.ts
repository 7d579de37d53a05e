import type { Asset } from '@bakehouse/contract/assets';
import { useQueries } from '@tanstack/react-query';
import { type FileProblem, fileProblemQuery } from './check-files.ts';
import { isDataFile } from './data-file.ts';

/** Each costs the server a look at the file's beginning. */
const CHECKED_MAX = 8;

/** What is wrong with the first data files of an asset, and with those at `others`. */
export function useFileProblems(asset: Asset, others: readonly string[]): FileProblem[] {
  const { dataset_id: assetId, revision_id: revisionId } = asset;
  const files = asset.files
    .filter(({ path }) => isDataFile(path))
    .filter(({ path }, place) => place < CHECKED_MAX || others.includes(path));
  return useQueries({
    queries: revisionId ? files.map((file) => fileProblemQuery({ assetId, revisionId, file })) : [],
    combine: (answers) =>
      answers.flatMap(({ data: problem }, place) => {
        const path = files[place]?.path;
        return problem && path ? [{ path, problem }] : [];
      }),
  });
}
