import { profileForm, signUpForm } from '@bakehouse/contract/accounts';
import * as z from 'zod';

const { email, password } = signUpForm.shape;
const provider = z.string().min(1);
const backTo = z.string().optional();

/**
 * Schemas of the sign-in library's request bodies by path. They validate each body before the library handles
 * it, and describe it in OpenAPI. Additional fields are passed on to the library.
 */
export const authBodies = {
  '/sign-up/email': signUpForm.loose(),
  '/sign-in/email': z.looseObject({ email, password: z.string().min(1), rememberMe: z.boolean().optional() }),
  '/sign-in/social': z.looseObject({ provider, callbackURL: backTo, errorCallbackURL: backTo }),
  '/sign-out': z.looseObject({}).nullish(),
  '/request-password-reset': z.looseObject({ email }),
  '/send-verification-email': z.looseObject({ email }),
  '/reset-password': z.looseObject({ newPassword: password, token: z.string().min(1) }),
  '/link-social': z.looseObject({ provider, callbackURL: backTo, errorCallbackURL: backTo }),
  '/unlink-account': z.looseObject({ accountId: z.string().min(1) }),
  '/change-password': z.looseObject({
    currentPassword: z.string().min(1),
    newPassword: password,
    /** Also ends all API keys, as a password reset does. Other sessions end in any case. */
    revokeApiKeys: z.boolean().optional(),
  }),
  '/update-user': profileForm.loose(),
};
