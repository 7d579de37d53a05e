import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/files';
import type { validateCard as validateCardEndpoint } from '@bakehouse/contract/hub/references';
import { frontMatterOf } from '../../../modules/assets/card/parse-card.ts';
import { readCard } from '../../../modules/assets/card/read-card.ts';
import { namespaceOf } from '../../../modules/assets/repositories/namespace.ts';
import { listBranches } from '../../../modules/assets/revisions/branches.ts';
import { BRANCH, findBranchHead, findHead, listCommits } from '../../../modules/assets/revisions/commits.ts';
import { listTags } from '../../../modules/assets/revisions/tags.ts';
import type { Caller, Context } from '../../../platform/context.ts';
import type { Answer } from '../../../platform/http/answer.ts';
import { titleOf } from '../files.ts';
import { type Addressed, answerPage } from '../next-page.ts';
import { openRepository, openRevision } from '../repositories/open-repository.ts';

/** Returns a page of the commits up to a revision, newest first. Throws HubError. */
export async function showCommits(
  ctx: Context,
  { params, query: { p, limit } }: InputOf<typeof contract.listCommits>,
  request: Addressed,
): Promise<Answer<ResponseOf<typeof contract.listCommits>>> {
  const { asset, commit } = await openRevision(ctx, params);
  const found = await listCommits(ctx.db, asset, { from: commit.number, skip: p * limit, limit: limit + 1 });
  const page = found.slice(0, limit).map((one, index) => ({
    id: one.commitId,
    title: titleOf(one),
    message: one.message.split('\n').slice(1).join('\n').trim(),
    authors: [{ user: namespaceOf(one.author ?? asset.owner_username) }],
    date: one.createdAt.toISOString(),
    parents: found.slice(index + 1, index + 2).map(({ commitId }) => commitId),
  }));
  return answerPage(request, page, { field: 'p', value: found.length > limit ? String(p + 1) : null });
}

/** Returns the branches and tags of a repository. Throws HubError. */
export async function showReferences(
  ctx: Context,
  { params }: InputOf<typeof contract.listRepositoryReferences>,
): Promise<ResponseOf<typeof contract.listRepositoryReferences>> {
  const asset = await openRepository(ctx, params);
  const [head, others, tags] = await Promise.all([
    findHead(ctx.db, asset),
    listBranches(ctx.db, asset.id),
    listTags(ctx.db, asset.id),
  ]);
  const heads = await Promise.all(others.map((branch) => findBranchHead(ctx.db, asset, branch)));
  const branches = [{ name: BRANCH }, ...others].map(({ name }, index) => ({
    ...{ name, ref: `refs/heads/${name}` },
    targetCommit: [head, ...heads][index]?.commitId ?? '',
  }));
  return {
    branches,
    converts: [],
    tags: tags.map(({ name, commitId }) => ({ name, ref: `refs/tags/${name}`, targetCommit: commitId })),
    pullRequests: [],
  };
}

/** Returns the faults in a card's metadata. Throws AppError 'unavailable' if too many calls are waiting. */
export async function validateCard(
  ctx: Context<Caller>,
  { body }: InputOf<typeof validateCardEndpoint>,
  address: string,
): Promise<ResponseOf<typeof validateCardEndpoint>> {
  if (frontMatterOf(body.content) === null) {
    const message = 'The card has no metadata: some lines of YAML between two lines of ---, before its text';
    return { errors: [], warnings: [{ message }] };
  }
  const { problem } = await readCard(ctx, body.content, `address:${address}`);
  return { errors: problem === null ? [] : [{ message: problem }], warnings: [] };
}
