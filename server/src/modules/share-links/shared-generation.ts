import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { titleOf } from '@bakehouse/contract/generators/stand-in';
import { openSharedOutput, type SharedGeneration } from '@bakehouse/contract/share-links';
import type { Caller, Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { findPublicName } from '../accounts/steps.ts';
import { findGeneration, findOutputs } from '../generations/find-generations.ts';
import { selectShared } from './queries.ts';
import { readShareToken } from './share-token.ts';

/** Returns the content of a share page. Throws whatever `findShared` throws. */
export async function getShared(
  ctx: Context<Caller>,
  { token }: { token: string },
): Promise<SharedGeneration> {
  const { row, outputs, maker } = await findShared(ctx, token);
  return {
    ...{ generator: row.generator, title: titleOf(row.generator, row.model), prompt: row.prompt, maker },
    outputs: outputs.map((output) => {
      const { id, media_type, width, height, duration_s, has_audio } = output;
      const url = sharedOutputUrl(token, id);
      const hasThumbnail = output.thumbnail_sha256 !== null;
      const thumbnail_url = hasThumbnail ? sharedOutputUrl(token, id, { thumbnail: true }) : url;
      return { id, media_type, width, height, duration_s, has_audio, url, thumbnail_url };
    }),
    created_at: row.created_at.toISOString(),
  };
}

/**
 * Returns the generation behind a link. Throws AppError 'not_found' with the same message if the link never
 * existed, was revoked, or lost its generation or account.
 */
export async function findShared({ db, config }: Context<Caller>, token: string) {
  const linkId = readShareToken(serverSecret(config), token);
  const own = linkId === null ? undefined : await selectShared(db, linkId);
  const owner = own && (await findPublicName(db, own.userId));
  const row = own && (await findGeneration(db, own));
  if (!row || !owner)
    throw new AppError('not_found', {
      publicMessage: 'This link does not work. It may be mistyped, or it is no longer shared.',
    });
  return { row, outputs: (await findOutputs(db, [row.id])).get(row.id) ?? [], maker: owner.name };
}

function sharedOutputUrl(token: string, outputId: string, query?: { thumbnail: boolean }): string {
  return endpointUrl(openSharedOutput.path, { token, outputId }, query);
}
