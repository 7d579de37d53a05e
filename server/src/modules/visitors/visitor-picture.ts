import type { Generation } from '@bakehouse/contract/generations';
import type { VisitorPicture } from '@bakehouse/contract/visitors';
import type { Caller, Context, Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { getGeneration } from '../generations/get-generation.ts';
import { asVisitor } from './as-visitor.ts';
import { pictureToken, readPictureToken } from './picture-token.ts';

/** Returns the fields of a picture that visitors see. */
export function toVisitorPicture({ config }: Pick<Services, 'config'>, made: Generation): VisitorPicture {
  const { prompt, state, reason, step, steps, preview, outputs } = made;
  const token = pictureToken(serverSecret(config), made.id);
  return { token, prompt, state, reason, step, steps, preview, url: outputs[0]?.url ?? null };
}

/**
 * Returns the id of a visitor's picture. Throws AppError 'not_found' if this server did not sign the token.
 */
export function idOfToken({ config }: Pick<Services, 'config'>, token: string): string {
  const id = readPictureToken(serverSecret(config), token);
  if (id === null) throw goneAfterAnHour();
  return id;
}

/** Returns a visitor's picture. Throws AppError 'not_found' after an hour. */
export async function getVisitorPicture(
  ctx: Context<Caller>,
  { token }: { token: string },
): Promise<VisitorPicture> {
  const id = idOfToken(ctx, token);
  try {
    return toVisitorPicture(ctx, await getGeneration(asVisitor(ctx), { id }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') throw goneAfterAnHour();
    throw error;
  }
}

/** The same error for unknown, claimed and deleted pictures. */
export function goneAfterAnHour(): AppError {
  return new AppError('not_found', {
    publicMessage: 'There is no such picture. Without an account, pictures are kept for an hour.',
  });
}
