import type { Asset, AssetFile } from '@bakehouse/contract/assets';
import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type FileProblem, fileProblemQuery } from './check-files.ts';
import { hasRows } from './data-file.ts';

/** Each costs the server a look at the file's beginning. */
const CHECKED_MAX = 8;
/** A file that is read slowly keeps nobody from the others for longer. */
const WAIT_MS_MAX = 1_000;

type FileProblems = {
  /** None before all that came first were read: they come together, and move what is below them once. */
  problems: FileProblem[];
  /** Whether all those were read that came first, or take too long: until then there may be problems to come. */
  isKnown: boolean;
};

/** What is wrong with the first data files of an asset, and with `others`, as they arrived, where it still has them. */
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
    // The asset does not come with those behind its first files.
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
