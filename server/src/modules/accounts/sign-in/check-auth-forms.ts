import { profileForm, signUpForm } from '@bakehouse/contract/accounts';
import { dictionary } from '@zxcvbn-ts/language-common';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { isOperatorAddress } from '../operators.ts';
import { isUsernameTaken, lockAddress } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { passwords } from './hash-passwords.ts';
import { claimAccount } from './prove-address.ts';
import { deleteResetLink, findUserOfResetLink, upsertPassword } from './sign-in-queries.ts';

/** The target of the mailed link. */
const NEW_PASSWORD_PAGE = '/?form=new-password';

/** File signatures by type, in hexadecimal. */
const beginnings: Partial<Record<string, RegExp>> = {
  png: /^89504e470d0a1a0a/,
  jpeg: /^ffd8ff/,
  webp: /^52494646.{8}57454250/,
  gif: /^474946383[79]61/,
};

const common = new Set(dictionary['passwords-common']);

/**
 * Passes the choice to the hook that stores the password, because the library drops unknown fields of the
 * body.
 */
export type EndingKeys = { endsKeys?: boolean };

/** Validates what `authBodies` cannot express, before the sign-in library handles the call. */
export function checkAuthForms(services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>) {
  const { config, db } = services;
  return createAuthMiddleware(async (ctx) => {
    if (ctx.path === '/sign-up/email') {
      const form = signUpForm.parse(ctx.body);
      if (isOperatorAddress(config, form.email)) {
        throw new APIError('FORBIDDEN', {
          code: 'OPERATOR_ADDRESS',
          message: "Operator accounts are created on the server with './bakehouse operator'",
        });
      }
      if (form.username && (await isUsernameTaken(db, form.username))) {
        throw new APIError('UNPROCESSABLE_ENTITY', {
          code: 'USERNAME_TAKEN',
          message: 'This username is taken',
        });
      }
      assertUncommonPassword(form.password);
      const { callbackURL, rememberMe } = ctx.body;
      // Hash here: the library would hash within its transaction, which occupies a connection.
      const hashed = await ctx.context.password.hash(form.password);
      const password = { ...ctx.context.password, hash: async () => hashed };
      return {
        context: {
          ...ctx,
          context: { ...ctx.context, password },
          body: { ...form, callbackURL, rememberMe },
        },
      };
    }
    if (ctx.path === '/request-password-reset') {
      // Ignore the caller's redirect, which could put a foreign address into the mail.
      return { context: { ...ctx, body: { ...ctx.body, redirectTo: NEW_PASSWORD_PAGE } } };
    }
    if (ctx.path === '/change-password') {
      assertUncommonPassword(ctx.body.newPassword);
      // Other sessions always end; API keys only end if requested.
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
      assertUncommonPassword(ctx.body.newPassword);
      await resetPassword(services, ctx.body);
      // Respond here, because the library has nothing left to do.
      return ctx.json({ status: true });
    }
    if (ctx.path === '/verify-email') {
      const session = await getSessionFromCtx(ctx);
      if (session?.user.email !== addressIn(ctx.query?.token)) {
        throw new APIError('FORBIDDEN', {
          code: 'NOT_YOUR_LINK',
          message: 'This link is for another account. Sign in to that account and open it again',
        });
      }
    }
    if (ctx.path === '/update-user') {
      if (ctx.body.username !== undefined) throw badRequest('A username cannot be changed');
      const { image } = profileForm.parse(ctx.body);
      if (image?.startsWith('data:') && !isPicture(image)) {
        throw badRequest('This picture cannot be shown. Choose a PNG, JPEG, WebP or GIF');
      }
    }
  });
}

/** Returns the address in a confirmation token; the library verifies the token itself. */
function addressIn(token: unknown): string | null {
  try {
    const payload = Buffer.from(String(token).split('.')[1] ?? '', 'base64url');
    return z.object({ email: z.string() }).parse(JSON.parse(payload.toString())).email;
  } catch {
    return null;
  }
}

function assertUncommonPassword(password: string): void {
  if (!isCommonPassword(password)) return;
  throw new APIError('BAD_REQUEST', {
    code: 'PASSWORD_TOO_COMMON',
    message: 'This password is too common. Choose another one',
  });
}

function badRequest(message: string): APIError {
  return new APIError('BAD_REQUEST', { code: 'INVALID_REQUEST', message });
}

/** Returns true if the bytes of a data URL match its type. */
function isPicture(dataUrl: string): boolean {
  const [, type = '', base64 = ''] = /^data:image\/(\w+);base64,([A-Za-z0-9+/]+=*)$/.exec(dataUrl) ?? [];
  return beginnings[type]?.test(Buffer.from(base64.slice(0, 24), 'base64').toString('hex')) ?? false;
}

/** Returns true if a password is one of the 50,000 most common, or one repeated character. */
function isCommonPassword(password: string): boolean {
  return common.has(password.toLowerCase()) || /^(.)\1*$/su.test(password);
}

/**
 * Sets a new password with a mailed link, and ends all other access to the account, in one transaction. The
 * library would invalidate the link before it hashes, and end the access only after it has set the password.
 * Throws the library's error for an invalid link, and AppError 'unavailable' if the queue of password hashes
 * is full.
 */
async function resetPassword(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>,
  { newPassword, token }: { newPassword: string; token: string },
): Promise<void> {
  const user = await findUserOfResetLink(services.db, token, new Date());
  if (!user) throw invalidLink();
  const userId = user.id;
  const passwordHash = await passwords.hash(newPassword);
  await inTransaction(services.db, async (tx) => {
    await lockAddress(tx, userId);
    // A concurrent call may have used the link while this one hashed.
    if (!(await deleteResetLink(tx, token))) throw invalidLink();
    await claimAccount(tx, services, { userId, email: user.email, by: 'reset_link' });
    await upsertPassword(tx, { userId, passwordHash });
    await recordAudit(tx, { userId, action: 'password.reset' });
  });
  await services.rowChanges.catchUp();
}

function invalidLink(): APIError {
  return new APIError('BAD_REQUEST', { code: 'INVALID_TOKEN', message: 'Invalid token' });
}
