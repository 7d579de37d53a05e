import type { Context } from '../../../platform/context.ts';
import { HubError } from '../hub-error.ts';
import { openRepository, type RepositoryParams } from '../repositories/open-repository.ts';

/** Returns an empty list. */
export async function listDiscussions(
  ctx: Context,
  { params }: { params: RepositoryParams },
): Promise<{ discussions: never[]; count: 0; start: 0 }> {
  await openRepository(ctx, params);
  return { discussions: [], count: 0, start: 0 };
}

/** Throws HubError: discussions and pull requests are not supported. */
export async function refuseDiscussion(
  ctx: Context,
  { params }: { params: RepositoryParams },
): Promise<never> {
  await openRepository(ctx, params);
  throw noPullRequests();
}

export function noPullRequests(): HubError {
  return new HubError(
    'invalid_request',
    null,
    'There are no discussions and pull requests here. Commit to main',
  );
}
