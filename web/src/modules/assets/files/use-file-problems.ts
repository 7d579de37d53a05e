import type { Asset, AssetFile } from '@bakehouse/contract/assets';
import { useQueries } from '@tanstack/react-query';
import { type FileProblem, fileProblemQuery } from './check-files.ts';
import { isDataFile } from './data-file.ts';

/** Each costs the server a look at the file's beginning. */
const CHECKED_MAX = 8;

/** What is wrong with the first data files of an asset, and with `others`, as they arrived, where it still has them. */
export function useFileProblems(asset: Asset, others: readonly AssetFile[]): FileProblem[] {
  const { dataset_id: assetId, revision_id: revisionId } = asset;
  const wanted = new Set(others.map(({ path }) => path));
  const listed = new Set(asset.files.map(({ path }) => path));
  const files = [
    ...asset.files
      .filter(({ path }) => isDataFile(path))
      .filter(({ path }, place) => place < CHECKED_MAX || wanted.has(path)),
    // The asset does not come with those behind its first files.
    ...(asset.next_files_cursor === null
      ? []
      : others.filter(({ path }) => isDataFile(path) && !listed.has(path))),
  ];
  return useQueries({
    queries: revisionId ? files.map((file) => fileProblemQuery({ assetId, revisionId, file })) : [],
    combine: (answers) =>
      answers.flatMap(({ data: problem }, place) => {
        const path = files[place]?.path;
        return problem && path ? [{ path, problem }] : [];
      }),
  });
}
