import type { AssetFile } from '@bakehouse/contract/assets';
import { CancelledError, queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { limitConcurrency } from '../../../lib/limit-concurrency.ts';
import { previewQuery } from '../asset-calls.ts';
import { hasRows } from './data-file.ts';
import { fileProblem } from './file-problems.ts';
import type { UploadedFile } from './uploads/uploads.ts';

export type FileProblem = { path: string; problem: string };

type CheckedFile = { assetId: string; revisionId: string; file: AssetFile };

/** The server reads one file per user at a time, queues few, and rejects more. */
const inTurn = limitConcurrency(2);

/** Returns why training cannot use a file, judging by its start; null if it can. Cached by content hash. */
export const fileProblemQuery = ({ assetId, revisionId, file: { path, sha256 } }: CheckedFile) =>
  queryOptions({
    queryKey: ['file-problem', path, sha256],
    queryFn: () => {
      const read = () => queryClient.fetchQuery(previewQuery({ assetId, revisionId, path, offset: 0 }));
      // The rows share this read, and cancel it when their tab is closed.
      return inTurn(() => read().catch((error: unknown) => readAgain(error, read))).then(
        fileProblem,
        refusal,
      );
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Repeats a cancelled read. A query whose function throws a CancelledError would never settle. */
function readAgain<T>(error: unknown, read: () => Promise<T>): Promise<T> {
  if (error instanceof CancelledError) return read();
  throw error;
}

/** Returns why the server rejects the file. Rethrows other errors, such as network errors. */
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
