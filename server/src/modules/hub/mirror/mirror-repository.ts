import { HUB_UNREACHABLE } from '@bakehouse/contract/hub/public';
import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findUserByName } from '../../accounts/steps.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { findRepository } from '../../assets/repositories/find-repository.ts';
import { isRepositoryName, usernameOf } from '../../assets/repositories/namespace.ts';
import { HubError } from '../hub-error.ts';
import { hubClient, type RepoInfo } from '../public/hub-client.ts';
import { findHubAccess } from '../public/tokens.ts';
import { BeingMirrored } from './being-mirrored.ts';
import { findLastMirroring } from './queries.ts';
import { startMirroring } from './start-mirroring.ts';

/** What could not be copied is not asked for again before. */
const FAILED_AGAIN_MS = 60_000;
/** The clients wait for ten seconds. */
const ASK_MS = 7_000;

/** Without a connection a call for what is not here is answered at once. */
const AWAY_MS = 30_000;
/** Until when the public hub is not asked; by database, since a process has one but in tests. */
const awayUntil = new WeakMap<Database, number>();

type Wanted = { type: 'model' | 'dataset'; namespace: string; name: string };

/**
 * Has a repository that is not here copied from the public hub for everybody, where the operator lets it. Null where it is
 * not to be had so: a namespace that somebody has here is theirs. Throws BeingMirrored while it is copied, and HubError:
 * GatedRepo for what not everybody may read there, RepoNotFound, which leads on where the hub knows it by another name.
 */
export async function mirrorRepository(ctx: Context, wanted: Wanted): Promise<AssetRow | null> {
  const { config, clock, db } = ctx;
  const { type, namespace, name } = wanted;
  if (!config.hubMirror || !isRepositoryName(namespace) || !isRepositoryName(name)) return null;
  if (await isTakenHere(ctx, namespace)) return null;
  const repo = { type, id: `${namespace}/${name}` };
  const last = await findLastMirroring(db, repo);
  if (last?.ended_at === null) throw new BeingMirrored(last);
  if (last?.state === 'COMPLETED') {
    // It may have ended since it was looked for.
    const found = await findRepository(db, { ...wanted, userId: ctx.caller.userId });
    if (found && found !== 'gated') return found;
  }
  if (
    last?.state === 'FAILED' &&
    last.ended_at &&
    clock.now().getTime() - last.ended_at.getTime() < FAILED_AGAIN_MS
  )
    throw notToBeHad(last.reason);
  const info = await ask(ctx, wanted);
  if (info.repo_id.toLowerCase() !== repo.id.toLowerCase()) throw moved(info.repo_id);
  throw new BeingMirrored(
    await startMirroring(ctx, { repo: { type, id: info.repo_id }, commitId: info.revision }),
  );
}

async function isTakenHere({ db }: Context, namespace: string): Promise<boolean> {
  const username = usernameOf(namespace);
  return username === null || (username !== undefined && (await findUserByName(db, username)) !== undefined);
}

/** What the public hub says of a repository that everybody may read. Throws HubError. */
async function ask(ctx: Context, { type, namespace, name }: Wanted): Promise<RepoInfo> {
  const id = `${namespace}/${name}`;
  const now = ctx.clock.now().getTime();
  if (now < (awayUntil.get(ctx.db) ?? 0)) throw notToBeHad(HUB_UNREACHABLE);
  const signal = AbortSignal.timeout(ASK_MS);
  try {
    const info = await hubClient(await findHubAccess(ctx, null), signal).describe({ type, id });
    if (info.gated) throw gated(id);
    if (info.isPrivate) throw notToBeHad();
    return info;
  } catch (error) {
    if (error instanceof HubError) throw error;
    if (error instanceof AppError && error.code === 'not_found') throw notToBeHad();
    if (error instanceof AppError && error.code === 'conflict') throw gated(id);
    if (!signal.aborted && !(error instanceof AppError)) throw error;
    awayUntil.set(ctx.db, now + AWAY_MS);
    throw notToBeHad(error instanceof AppError ? error.publicMessage : HUB_UNREACHABLE);
  }
}

/** The hub knows it by another name. */
function moved(movedTo: string): HubError {
  const parts = movedTo.split('/');
  if (parts.length !== 2 || !parts.every(isRepositoryName)) return notToBeHad();
  return new HubError('not_found', 'RepoNotFound', 'Repository not found', { movedTo });
}

function notToBeHad(reason = ''): HubError {
  const more = reason === '' ? '' : ` here, and could not be copied from the public hub: ${reason}`;
  return new HubError('not_found', 'RepoNotFound', `Repository not found${more}`);
}

function gated(id: string): HubError {
  return new HubError(
    'forbidden',
    'GatedRepo',
    `${id} is gated on the public hub, so it is not copied for everybody. Accept its terms there, save your access token ` +
      'on the page /model-hub, and clone it',
  );
}
