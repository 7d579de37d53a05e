import type { Asset, AssetFile } from '@bakehouse/contract/assets';
import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type FileProblem, fileProblemQuery } from './check-files.ts';
import { hasRows } from './data-file.ts';

/** Limited, because each check makes the server read the beginning of a file. */
const CHECKED_MAX = 8;
/** After this time, the page no longer waits for the checks. */
const WAIT_MS_MAX = 1_000;

type FileProblems = {
  /** Empty until all first files were checked, so that the content below moves only once. */
  problems: FileProblem[];
  /** True once all first files were checked or the wait has timed out. */
  isKnown: boolean;
};

/** Returns the problems of the asset's first data files and of newly uploaded files (`others`). */
export function useFileProblems(
  asset: Asset,
  others: readonly AssetFile[],
  { enabled = true }: { enabled?: boolean } = {},
): FileProblems {
  const { dataset_id: assetId, revision_id: revisionId } = asset;
  const wanted = new Set(others.map(({ path }) => path));
  const listed = new Set(asset.files.map(({ path }) => path));
  const files = [
    ...asset.files
      .filter(({ path }) => hasRows(path))
      .filter(({ path }, place) => place < CHECKED_MAX || wanted.has(path)),
    // The asset lists only its first files.
    ...(asset.next_files_cursor === null
      ? []
      : others.filter(({ path }) => hasRows(path) && !listed.has(path))),
  ];
  const checked = enabled && revisionId !== null;
  const answers = useQueries({
    queries: checked ? files.map((file) => fileProblemQuery({ assetId, revisionId, file })) : [],
  });
  const problems = answers.flatMap(({ data: problem }, place) => {
    const path = files[place]?.path;
    return problem && path ? [{ path, problem }] : [];
  });
  const [isRead, setIsRead] = useState(false);
  const nowRead = isRead || answers.every(({ isPending, failureCount }) => !isPending || failureCount > 0);
  if (nowRead !== isRead) setIsRead(nowRead);
  const isLate = useIsLate();
  return { problems: nowRead ? problems : [], isKnown: nowRead || isLate };
}

function useIsLate(): boolean {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), WAIT_MS_MAX);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
}
