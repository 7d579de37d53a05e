import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { createRepository as endpoint } from '@bakehouse/contract/hub/repositories';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { completeOnboardingStep } from '../../accounts/complete-onboarding-step.ts';
import { getMe } from '../../accounts/get-me.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { isRepositoryName, namespaceOf } from '../../assets/repositories/namespace.ts';
import { takeName } from '../../assets/repositories/take-name.ts';
import { HubError } from '../hub-error.ts';
import { hubUrl } from '../next-page.ts';

type Body = InputOf<typeof endpoint>['body'];

/**
 * Creates an empty model or dataset of the caller. Throws HubError 'conflict' with the URL of a repository of
 * the same name.
 */
export async function createRepository(
  ctx: Context,
  { body }: InputOf<typeof endpoint>,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const type = body.type ?? 'model';
  const { namespace, name } = await ownName(ctx, body);
  const url = `${hubUrl(http)}/${type === 'dataset' ? 'datasets/' : ''}${namespace}/${name}`;
  const id = await inTransaction(ctx.db, async (tx) => {
    if (!(await takeName(tx, { userId, type, name })))
      throw new HubError('conflict', null, `You have a ${type} ${namespace}/${name} already`, { url });
    return insertNew(tx, { userId, type, name, isPublished: isPublic(body) });
  });
  return { url, name: `${namespace}/${name}`, id };
}

async function insertNew(
  tx: Transaction,
  {
    userId,
    type,
    name,
    isPublished,
  }: { userId: string; type: 'model' | 'dataset'; name: string; isPublished: boolean },
): Promise<string> {
  const words = { title: name, name, category: '', details: '', tags: [], isPublished };
  const datasetType = type === 'model' ? 'MODEL' : 'RAW';
  const id = await insertAsset(tx, { ...words, ownerUserId: userId, datasetType });
  await completeOnboardingStep(tx, userId, type === 'model' ? 'create_model' : 'create_dataset');
  return id;
}

/** Reads the visibility from either field; defaults to private. */
export function isPublic({ private: isPrivate, visibility }: Pick<Body, 'private' | 'visibility'>): boolean {
  return visibility === 'public' || isPrivate === false;
}

/**
 * Returns the name in the body, in the caller's namespace. Throws HubError for another namespace, and for a
 * name that clients consider invalid.
 */
export async function ownName(
  ctx: Context,
  { name: sent, organization }: Pick<Body, 'name' | 'organization'>,
): Promise<{ namespace: string; name: string }> {
  const parts = sent.split('/');
  const name = parts.at(-1) ?? '';
  const said = organization || (parts.length === 2 ? parts[0] : undefined);
  const namespace = namespaceOf((await getMe(ctx)).username);
  if (said !== undefined && said.toLowerCase() !== namespace) {
    throw new HubError(
      'forbidden',
      null,
      `You have no rights in the namespace ${said}. Yours is ${namespace}`,
    );
  }
  if (parts.length > 2 || !isRepositoryName(name)) {
    throw new HubError(
      'invalid_request',
      null,
      'name must have 1 to 96 letters, digits, dots, dashes or underscores. It must not begin or end with a dot or a dash, ' +
        'have two of them in a row, or end with .git',
    );
  }
  return { namespace, name };
}
