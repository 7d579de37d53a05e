import type { Asset, AssetFile, previewFile } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { queryOptions, useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { countOf } from '../../../lib/format/words.ts';
import { limitConcurrency } from '../../../lib/limit-concurrency.ts';
import { previewQuery } from '../asset-calls.ts';
import { hasRows } from './data-file.ts';
import type { UploadedFile } from './uploads/uploads.ts';

/** Patterns of the readers' messages, with a fix for each. */
const knownFixes: readonly [RegExp, string][] = [
  [
    /fields? instead of \d+$/,
    'Put values that contain the separator in double quotes, and give each line as many fields as the first.',
  ],
  [/^there is text after a closing quote/, 'Write a double quote inside a quoted value twice: "".'],
  [
    /^a quote is opened and never closed/,
    'Close the quote, or write it twice ("") if it is part of the text.',
  ],
  [/^there is a carriage return/, 'Put the value in double quotes, or use the same line ending everywhere.'],
  [/^not JSON/, 'Write each row as one whole JSON object, on one line of its own in a jsonl file.'],
  [/^not an object/, 'Write each row as an object that names its columns: {"question": "…", "answer": "…"}.'],
  [/NUL character/, 'Remove the NUL characters, for example by saving the file again as text in UTF-8.'],
  [/surrogate pair/, 'Write the text again in UTF-8: a character, often an emoji, was cut in two.'],
  [/too long to be shown/, 'No fix needed: the row can be trained on, but is cut to the chunk size.'],
];

/** The server reads one file per user at a time, queues few, and rejects more. */
const inTurn = limitConcurrency(2);

/** Returns why training cannot use a file, from its beginning, or null. Cached by content hash. */
export const fileProblemQuery = ({ assetId, revisionId, file: { path, sha256 } }: CheckedFile) =>
  queryOptions({
    queryKey: ['file-problem', path, sha256],
    queryFn: () =>
      inTurn(() => queryClient.fetchQuery(previewQuery({ assetId, revisionId, path, offset: 0 }))).then(
        fileProblem,
        refusal,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Each check makes the server read the beginning of a file. */
const CHECKED_MAX = 8;

/** Maximum delay that a slow file causes for the others. */
const WAIT_MS_MAX = 1_000;

type Preview = Pick<
  ResponseOf<typeof previewFile>,
  'columns' | 'rows' | 'total_rows' | 'broken' | 'broken_count' | 'format' | 'format_problem'
>;

/**
 * Returns the problem of a newly uploaded data file as a sentence, or null if all of it can be trained on.
 */
export function fileProblem({
  columns,
  rows,
  total_rows,
  broken,
  broken_count,
  format,
  format_problem,
}: Preview): string | null {
  if (broken_count > 0) {
    const [first] = broken;
    const fixes = suggestFixes(broken.map(({ reason }) => reason)).join(' ');
    const where = first ? ` Line ${first.line}: ${first.reason}.${fixes && ` ${fixes}`}` : '';
    return rows.length === 0
      ? `None of its rows can be read.${where}`
      : `${countOf(broken_count, 'row')} cannot be read.${where}`;
  }
  if (total_rows === 0 || rows.length === 0) {
    return columns.length > 0 ? 'It has a header but no rows.' : 'It has no rows.';
  }
  return format && format_problem;
}

/** Returns the known fixes for these problems, each once. */
export function suggestFixes(reasons: readonly string[]): string[] {
  return [
    ...new Set(reasons.flatMap((reason) => knownFixes.find(([fault]) => fault.test(reason))?.[1] ?? [])),
  ];
}

export type FileProblem = { path: string; problem: string };

type CheckedFile = { assetId: string; revisionId: string; file: AssetFile };

/**
 * Returns why the server rejects the file. An unreachable server says nothing about it, so other errors are
 * rethrown.
 */
function refusal(error: unknown): string {
  if (error instanceof ApiError && error.code === 'invalid_request') return error.message;
  throw error;
}

/** Checks newly uploaded data files. Resolves with those that have problems. */
export async function checkFiles(assetId: string, uploaded: readonly UploadedFile[]): Promise<FileProblem[]> {
  const checked = uploaded
    .filter(({ file }) => hasRows(file.path))
    .map(async ({ file, revision_id: revisionId }) => {
      const checking = queryClient.fetchQuery(fileProblemQuery({ assetId, revisionId, file }));
      const problem = await checking.catch(() => null);
      return problem ? [{ path: file.path, problem }] : [];
    });
  return (await Promise.all(checked)).flat();
}

type FileProblems = {
  /** Empty until all first files were read, so that the content below moves only once. */
  problems: FileProblem[];
  /** True if all first files were read or took too long; until then more problems may appear. */
  isKnown: boolean;
};

/** Returns problems of an asset's first data files, and of uploaded `others` that it still has. */
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
