import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '@bakehouse/contract/accounts';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { APIError, getSessionFromCtx } from 'better-auth/api';
import type { Logger } from 'pino';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { isOwnHost } from '../../../platform/http/addresses/own-addresses.ts';
import type { Mail } from '../../../platform/mail/queries.ts';
import { mailOnRequest } from '../proven-addresses.ts';
import { countRecentAudit, lockAddress } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { recordProvenMailbox } from '../returning/returning-users.ts';
import { revokeAllKeys } from '../revoke-access.ts';
import { type OnUserCreated, provisionUser } from '../users.ts';
import { checkAuthForms, type EndingKeys } from './check-auth-forms.ts';
import { finishAuthCalls } from './finish-auth-calls.ts';
import { passwords, setVerifiedHash, verifiedHash } from './hash-passwords.ts';
import { countSignUp } from './limits/sign-in-limits.ts';
import { proveAddress } from './prove-address.ts';
import { serverSecret } from './server-secret.ts';
import { replacePassword } from './sign-in-queries.ts';

export const AUTH_PATH = '/api/auth';

/** Contains the client's address from the HTTP layer; a header with this name from outside is dropped. */
export const CLIENT_ADDRESS_HEADER = 'x-bakehouse-client-address';

/** A day, because mail may stay unread overnight. */
const CONFIRMATION_SECONDS = 24 * 60 * 60;

/** The library's names for the columns of our tables. */
const sessionTable = {
  modelName: 'sessions',
  // The precision of `last_seen_at`.
  updateAge: 5 * 60,
  fields: {
    userId: 'user_id',
    expiresAt: 'expires_at',
    ipAddress: 'ip_address',
    userAgent: 'user_agent',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
};

const signInMethodColumns = {
  userId: 'user_id',
  accountId: 'account_id',
  providerId: 'provider_id',
  accessToken: 'access_token',
  refreshToken: 'refresh_token',
  idToken: 'id_token',
  accessTokenExpiresAt: 'access_token_expires_at',
  refreshTokenExpiresAt: 'refresh_token_expires_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

const verificationTable = {
  modelName: 'verifications',
  fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
};

export type Auth = ReturnType<typeof createAuth>;

/**
 * Creates the sign-in library on our tables: email and password, and GitHub and Google if configured. The
 * library inserts the user, sign-in method and session in one transaction. A second transaction completes the
 * user. If the process dies between the two, the next session check completes the user.
 */
export function createAuth(services: Services, onUserCreated: OnUserCreated[]) {
  const { config, db, log } = services;
  return betterAuth({
    appName: 'Bakehouse',
    baseURL: config.publicUrl,
    basePath: AUTH_PATH,
    secret: serverSecret(config),
    // A browser may open the server under another name than the public URL, e.g. localhost. A page is trusted
    // if its origin is the host of the request.
    trustedOrigins: (request) => {
      const host = request?.headers.get('host') ?? '';
      return isOwnHost(host, config.publicUrl) ? [`http://${host}`, `https://${host}`] : [];
    },
    telemetry: { enabled: false },
    logger: { log: logAuthMessages(log) },
    database: { db, type: 'postgres', transaction: true },
    advanced: {
      cookiePrefix: 'bakehouse',
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      // The library skips this check in tests by default.
      disableOriginCheck: false,
      // Our migrations create the tables; a test compares them with the library's schema.
      database: { validateSchema: false },
    },
    // The HTTP layer limits sign-in and sign-up, with the same headers and errors as other routes.
    rateLimit: { enabled: false },
    // The HTTP layer renders errors that are not the library's own.
    onAPIError: { throw: true },
    emailAndPassword: passwordOptions(services),
    ...(config.mail && { emailVerification: addressConfirmation(services) }),
    socialProviders: {
      ...(config.github && { github: { ...config.github, disableSignUp: !config.signUp } }),
      ...(config.google && { google: { ...config.google, disableSignUp: !config.signUp } }),
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
      additionalFields: { username: { type: 'string', required: false, unique: true } },
      validateUserInfo: checkProviderUser(services),
    },
    session: sessionTable,
    account: {
      modelName: 'sign_in_methods',
      encryptOAuthTokens: true,
      // A verified address from a provider takes over an unverified account with the same address: see
      // `checkProviderUser`.
      accountLinking: { requireLocalEmailVerified: false },
      fields: signInMethodColumns,
    },
    verification: verificationTable,
    hooks: {
      before: checkAuthForms(services),
      after: finishAuthCalls(services),
    },
    databaseHooks: userHooks(services, onUserCreated),
  });
}

/** Logs callers' mistakes, such as a wrong password or origin, at info level. */
function logAuthMessages(log: Logger): NonNullable<NonNullable<BetterAuthOptions['logger']>['log']> {
  return (level, message, ...details) => {
    const err = details.map(errorIn).find((error) => error !== null);
    const others = details.filter((detail) => !(detail instanceof Error));
    const fields = { part: 'auth', ...(err && { err }), ...(others.length > 0 && { details: others }) };
    const isCallers = level === 'warn' || message.startsWith('Invalid ');
    log[isCallers ? 'info' : level](fields, `Sign-in: ${message || 'provider failed'}`);
  };
}

/** Returns the error in a detail of the library; null if there is none. */
function errorIn(detail: unknown): Error | null {
  if (detail instanceof Error) return detail;
  const { error } = (detail ?? {}) as { error?: unknown };
  return error instanceof Error ? error : null;
}

function passwordOptions(services: Services) {
  const { config } = services;
  return {
    enabled: true,
    disableSignUp: !config.signUp,
    minPasswordLength: PASSWORD_LENGTH_MIN,
    maxPasswordLength: PASSWORD_LENGTH_MAX,
    password: passwords,
    sendResetPassword: async ({ user, url }) => {
      await mailOnRequest(services, {
        userId: user.id,
        action: 'password.reset_requested',
        mail: resetPasswordMail(user, url),
      });
    },
  } satisfies BetterAuthOptions['emailAndPassword'];
}

/**
 * Asks new users to confirm their address if the server sends mail. A stranger may have signed up with the
 * address, so opening the link is not enough: `checkAuthForms` also requires a session of that account.
 */
function addressConfirmation(services: Services) {
  const { config, db } = services;
  return {
    // `finishAuthCalls` sends it after the commit.
    sendOnSignUp: false,
    expiresIn: CONFIRMATION_SECONDS,
    sendVerificationEmail: async ({ user, token }) => {
      const url = `${config.publicUrl}/verify-email?token=${token}`;
      await mailOnRequest(services, {
        userId: user.id,
        action: 'address.confirmation_requested',
        mail: confirmAddressMail(user, url),
      });
    },
    afterEmailVerification: async (user) => {
      const userId = user.id;
      await inTransaction(db, async (tx) => {
        await lockAddress(tx, userId);
        // Count a link only once: a second concurrent call would take the mailbox for a returning user's.
        if ((await countRecentAudit(tx, userId, 'address.proven')) > 0) return;
        await recordProvenMailbox(tx, { userId, config });
        await recordAudit(tx, { userId, action: 'address.proven', detail: { by: 'mail' } });
      });
    },
  } satisfies BetterAuthOptions['emailVerification'];
}

function userHooks(services: Services, onUserCreated: OnUserCreated[]) {
  const { db, log } = services;
  return {
    user: {
      create: {
        // A provider may send no name, so use the address. The database picks a username if the caller chose
        // none.
        before: async (user) => ({
          data: { ...user, name: (user.name.trim() || user.email).slice(0, 200) },
        }),
        after: async (user) => {
          try {
            await provisionUser(services, { userId: user.id, onUserCreated });
          } catch (error) {
            log.error(
              { err: error, user_id: user.id },
              'failed to set up new user; their first request will retry',
            );
          }
        },
      },
    },
    account: {
      create: {
        after: async ({ userId, providerId }) => {
          if (providerId === 'credential') return;
          await recordAudit(db, {
            userId,
            action: 'sign_in_method.linked',
            detail: { provider: providerId },
          });
        },
      },
      update: {
        // The library would overwrite the password even if another call has changed it during hashing.
        before: async ({ password: to }, ctx) => {
          const [userId, from] = [ctx?.context.session?.user.id, verifiedHash()];
          if (!to || !userId || from === null) return;
          const { endsKeys = false } = (ctx?.context ?? {}) as EndingKeys;
          await setPassword(services, { userId, from, to, endsKeys });
          setVerifiedHash(to);
          // The password is stored already, so the library must not update it.
          return false;
        },
      },
    },
    session: {
      create: {
        after: async (session) =>
          recordAudit(db, {
            userId: session.userId,
            action: 'session.created',
            detail: { address: session.ipAddress ?? '', user_agent: session.userAgent ?? '' },
          }),
      },
    },
  } satisfies BetterAuthOptions['databaseHooks'];
}

/** Replaces the password if the stored hash is still `from`. Otherwise throws the library's error. */
async function setPassword(
  { config, db, clock, rowChanges }: Services,
  { userId, from, to, endsKeys }: { userId: string; from: string; to: string; endsKeys: boolean },
): Promise<void> {
  const now = clock.now();
  await inTransaction(db, async (tx) => {
    if (!(await replacePassword(tx, { userId, from, to, at: now }))) {
      throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD', message: 'Invalid password' });
    }
    if (endsKeys) await revokeAllKeys(tx, { userId, serverSecret: serverSecret(config), now });
  });
  if (endsKeys) await rowChanges.catchUp();
}

/** Returns the mail after a sign-up, possibly by a stranger who used this address. */
function confirmAddressMail({ email }: { email: string }, url: string): Mail {
  return {
    to: email,
    subject: 'Confirm your email address for Bakehouse',
    text: `Hello,

A Bakehouse account was made with this email address. To confirm that it is yours, open this link within a day, in a browser where you are signed in:

${url}

If you did not make this account, ignore this message.
`,
  };
}

/** Returns the mail after a request to reset the password. */
function resetPasswordMail({ email }: { email: string }, url: string): Mail {
  return {
    to: email,
    subject: 'Choose a new Bakehouse password',
    text: `Hello,

A password reset was requested for your Bakehouse account, most likely by you. To choose a new password, open this link within an hour:

${url}

Your sessions, linked sign-in methods and API keys end when you do. If you did not ask for this, ignore this message: nothing changes.
`,
  };
}

type ValidateUserInfo = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;

/**
 * Returns the sign-in library's check before a provider creates a user, or is linked to the user with the
 * same address. Rejects addresses that the provider has not verified. The person who signs in owns the
 * verified address, so earlier access to the account ends (`proveAddress`). New accounts count towards the
 * sign-up limits.
 */
function checkProviderUser(services: Services): ValidateUserInfo {
  return async ({ user, source }, ctx) => {
    if (source.method !== 'oauth' || source.action === 'sign-in') return;
    if (!user.emailVerified) {
      return {
        error: 'email_not_verified',
        errorDescription: 'Your provider has not verified your email address. Verify it there and try again',
      };
    }
    if (source.action === 'create-user') return tooMany();
    if (source.action === 'link-account' && user.id && user.email) {
      // A signed-in user links the provider to their own account, so no access ends.
      const session = await getSessionFromCtx(ctx);
      const by = session?.user.id === user.id ? 'own_provider' : 'provider';
      await proveAddress(services, { userId: user.id, email: user.email.toLowerCase(), by });
    }
  };
}

/** Counts a new account; returns an error if there are too many. */
async function tooMany(): Promise<{ error: string; errorDescription: string } | undefined> {
  try {
    await countSignUp();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error;
    return { error: 'rate_limited', errorDescription: error.publicMessage };
  }
}
