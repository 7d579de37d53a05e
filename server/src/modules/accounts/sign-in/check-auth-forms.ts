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

/** What a change of the password hands on to where it is stored: the library drops fields that it does not know. */
export type EndingKeys = { endsKeys?: boolean };

/** Where the link in the mail leads in the end. */
const NEW_PASSWORD_PAGE = '/?form=new-password';

/** Refuses what no form can say, before the sign-in library acts on it; what the forms say, `authBodies` has refused. */
export function checkAuthForms(services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>) {
  const { config, db } = services;
  return createAuthMiddleware(async (ctx) => {
    if (ctx.path === '/sign-up/email') {
      const form = signUpForm.parse(ctx.body);
      if (isOperatorAddress(config, form.email)) {
        throw new APIError('FORBIDDEN', {
          code: 'OPERATOR_ADDRESS',
          message: "An operator's account is made on the server, with './bakehouse operator'",
        });
      }
      if (form.username && (await isUsernameTaken(db, form.username))) {
        throw new APIError('UNPROCESSABLE_ENTITY', {
          code: 'USERNAME_TAKEN',
          message: 'This username is taken',
        });
      }
      refuseCommonPassword(form.password);
      const { callbackURL, rememberMe } = ctx.body;
      // The library hashes within its transaction: no connection may be held while a password waits in line.
      const password = await hashAhead(ctx.context.password, form.password);
      return {
        context: {
          ...ctx,
          context: { ...ctx.context, password },
          body: { ...form, callbackURL, rememberMe },
        },
      };
    }
    if (ctx.path === '/request-password-reset') {
      // The caller's own, under the Host that it names, would put a stranger's address into our mail.
      return { context: { ...ctx, body: { ...ctx.body, redirectTo: NEW_PASSWORD_PAGE } } };
    }
    if (ctx.path === '/change-password') {
      refuseCommonPassword(ctx.body.newPassword);
      // Other sessions end, whether the client thinks of it or not. API keys stay, unless it says so.
      const ending: EndingKeys = { endsKeys: ctx.body.revokeApiKeys === true };
      return {
        context: {
          ...ctx,
          context: { ...ctx.context, ...ending },
          body: { ...ctx.body, revokeOtherSessions: true },
        },
      };
    }
    if (ctx.path === '/reset-password') {
      refuseCommonPassword(ctx.body.newPassword);
      const password = await prepareReset(services, ctx.context.password, ctx.body);
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
      const { image } = profileForm.parse(ctx.body);
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
 * leaves it. A link that is not valid is left to the library.
 */
async function prepareReset<P extends Passwords>(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>,
  passwords: P,
  { newPassword, token }: { newPassword: string; token: string },
): Promise<P> {
  const user = await findUserOfResetLink(services.db, token, new Date());
  if (!user) return passwords;
  const ready = await hashAhead(passwords, newPassword);
  await proveAddress(services, { userId: user.id, email: user.email, by: 'reset_link', openLink: token });
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

function refuseCommonPassword(password: string): void {
  if (!isCommonPassword(password)) return;
  throw new APIError('BAD_REQUEST', {
    code: 'PASSWORD_TOO_COMMON',
    message: 'This is one of the most common passwords. Choose another one',
  });
}

function badRequest(message: string): APIError {
  return new APIError('BAD_REQUEST', { code: 'INVALID_REQUEST', message });
}
