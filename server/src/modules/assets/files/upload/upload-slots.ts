import { openByKey } from '../../../../platform/concurrency/open-by-key.ts';
import { shareLimit } from '../../../../platform/concurrency/share-limit.ts';
import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';

/** Concurrent uploads per user in all processes: each occupies a connection and its bytes. */
const UPLOADS_MAX = 16;

const uploads = openByKey();

/** Acquires an upload slot of the caller; returns its release. Throws AppError 'rate_limited'. */
export function enterUpload({ caller, webProcesses }: Pick<Context, 'caller' | 'webProcesses'>): () => void {
  const max = shareLimit(UPLOADS_MAX, webProcesses());
  const leave = uploads.enter(caller.userId, max);
  if (leave !== null) return leave;
  throw new AppError('rate_limited', {
    publicMessage: `At most ${max} uploads of one user are received at a time. Try again when one has ended`,
  });
}
