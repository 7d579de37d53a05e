import { profileForm, signUpForm } from '@bakehouse/contract/accounts';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { isOperatorAddress } from '../is-operator-address.ts';
import { isUsernameTaken } from '../queries.ts';
import { isCommonPassword } from './is-common-password.ts';
import { isPicture } from './is-picture.ts';
import { proveAddress } from './prove-address.ts';
import { findUserOfResetLink } from './sign-in-queries.ts';

/** Where the link in the mail leads in the end. */
const NEW_PASSWORD_PAGE = '/?form=new-password';

/** Refuses what the contract's forms refuse, before the sign-in library acts on it. */
export function checkAuthForms(services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>) {
  const { config, db } = services;
  return createAuthMiddleware(async (ctx) => {
    if (ctx.path === '/sign-up/email') {
      const form = signUpForm.safeParse(ctx.body);
      if (!form.success) throw badRequest(form.error.issues[0]?.message ?? 'Not valid');
      if (isOperatorAddress(config, form.data.email)) {
        throw new APIError('FORBIDDEN', {
          code: 'OPERATOR_ADDRESS',
          message: "An operator's account is made on the server, with './bakehouse operator'",
        });
      }
      if (form.data.username && (await isUsernameTaken(db, form.data.username))) {
        throw new APIError('UNPROCESSABLE_ENTITY', {
          code: 'USERNAME_TAKEN',
          message: 'This username is taken',
        });
      }
      refuseCommonPassword(form.data.password);
      const { callbackURL, rememberMe } = ctx.body;
      // The library hashes within its transaction: no connection may be held while a password waits in line.
      const password = await hashAhead(ctx.context.password, form.data.password);
      return {
        context: {
          ...ctx,
          context: { ...ctx.context, password },
          body: { ...form.data, callbackURL, rememberMe },
        },
      };
    }
    if (ctx.path === '/request-password-reset') {
      // The caller's own, under the Host that it names, would put a stranger's address into our mail.
      return { context: { ...ctx, body: { ...ctx.body, redirectTo: NEW_PASSWORD_PAGE } } };
    }
    if (ctx.path === '/change-password') {
      refuseCommonPassword(ctx.body.newPassword);
      // Other sessions end, whether the client thinks of it or not. API keys stay, the web app's too.
      return { context: { ...ctx, body: { ...ctx.body, revokeOtherSessions: true } } };
    }
    if (ctx.path === '/reset-password') {
      refuseCommonPassword(ctx.body.newPassword);
      const password = await prepareReset(services, ctx.context.password, {
        newPassword: ctx.body.newPassword,
        token: ctx.body.token || ctx.query?.token,
      });
      return { context: { ...ctx, context: { ...ctx.context, password } } };
    }
    if (ctx.path === '/verify-email') {
      const session = await getSessionFromCtx(ctx);
      if (session?.user.email !== addressIn(ctx.query?.token)) {
        throw new APIError('FORBIDDEN', {
          code: 'NOT_YOUR_LINK',
          message: 'This link confirms the address of another account. Sign in to that one and open it again',
        });
      }
    }
    if (ctx.path === '/update-user') {
      if (ctx.body.username !== undefined) throw badRequest('A username cannot be changed');
      const profile = profileForm.safeParse(ctx.body);
      if (!profile.success) throw badRequest(profile.error.issues[0]?.message ?? 'Not valid');
      const { image } = profile.data;
      if (image?.startsWith('data:') && !isPicture(image)) {
        throw badRequest('This is not a picture that can be shown. Choose a PNG, JPEG, WebP or GIF');
      }
    }
  });
}

type Passwords = { hash: (password: string) => Promise<string> };

/** The library's functions, with the hash of the one password that it will ask for already there. */
async function hashAhead<P extends Passwords>(passwords: P, password: string): Promise<P> {
  const hashed = await passwords.hash(password);
  return { ...passwords, hash: async () => hashed };
}

/**
 * Does before a reset what may fail, since the library uses the link up first: the hash, and that whoever had the account
 * leaves it. A form or a link that is not valid is left to the library.
 */
async function prepareReset<P extends Passwords>(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>,
  passwords: P,
  { newPassword, token }: { newPassword: unknown; token: unknown },
): Promise<P> {
  const password = signUpForm.shape.password.safeParse(newPassword);
  const openLink = String(token);
  const user = await findUserOfResetLink(services.db, openLink, new Date());
  if (!password.success || !user) return passwords;
  const ready = await hashAhead(passwords, password.data);
  await proveAddress(services, { userId: user.id, email: user.email, by: 'reset_link', openLink });
  return ready;
}

/** The address that a link confirms. Whether the token is genuine, the library finds out. */
function addressIn(token: unknown): string | null {
  try {
    const payload = Buffer.from(String(token).split('.')[1] ?? '', 'base64url');
    return z.object({ email: z.string() }).parse(JSON.parse(payload.toString())).email;
  } catch {
    return null;
  }
}

function refuseCommonPassword(password: unknown): void {
  if (typeof password !== 'string' || !isCommonPassword(password)) return;
  throw new APIError('BAD_REQUEST', {
    code: 'PASSWORD_TOO_COMMON',
    message: 'This is one of the most common passwords. Choose another one',
  });
}

function badRequest(message: string): APIError {
  return new APIError('BAD_REQUEST', { code: 'INVALID_REQUEST', message });
}
