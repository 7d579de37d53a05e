import { AppError } from '../../platform/errors.ts';

/** Bakehouse has no application on X: people share their link from X's own page, which the web app opens. */
export function postReferralToX(): never {
  throw new AppError('conflict', {
    publicMessage: 'Posting on X is not configured on this server. Share your invitation link yourself',
  });
}
