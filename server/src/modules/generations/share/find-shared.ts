import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { findPublicName } from '../../accounts/steps.ts';
import { findOutputs } from '../find-generations.ts';
import type { GenerationRow, OutputRow } from '../queries.ts';
import { selectSharedGeneration } from './share-queries.ts';
import { readShareToken } from './share-token.ts';

export type Shared = { row: GenerationRow; outputs: OutputRow[]; maker: string | null };

/**
 * What whoever has a link sees. Throws AppError 'not_found', in the same words for a link that was never made, was revoked, or
 * has ended with its generation or account.
 */
export async function findShared(
  { db, config }: Pick<Services, 'db' | 'config'>,
  token: string,
): Promise<Shared> {
  const shareId = readShareToken(serverSecret(config), token);
  const row = shareId === null ? undefined : await selectSharedGeneration(db, shareId);
  const user = row && (await findPublicName(db, row.user_id));
  if (!row || !user) {
    throw new AppError('not_found', {
      publicMessage: 'This link does not work. It may be mistyped, or it is no longer shared.',
    });
  }
  const outputs = (await findOutputs(db, [row.id])).get(row.id) ?? [];
  return { row, outputs, maker: user.name };
}
