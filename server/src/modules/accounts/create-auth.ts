import {
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  profileForm,
  signUpForm,
} from '@bakehouse/contract/accounts';
import { betterAuth } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import type { Services } from '../../platform/context.ts';
import { checkProviderUser } from './check-provider-user.ts';
import { hashPasswords } from './hash-passwords.ts';
import { isCommonPassword } from './is-common-password.ts';
import { isOperatorAddress } from './is-operator.ts';
import { proveAddress } from './prove-address.ts';
import { type OnUserCreated, provisionUser } from './provision-user.ts';
import { isUsernameTaken } from './queries.ts';
import { recordAudit } from './record-audit.ts';
import { serverSecret } from './server-secret.ts';

export const AUTH_PATH = '/api/auth';
/** Carries the address that the HTTP layer has worked out; a caller's own header of this name is dropped. */
export const CLIENT_ADDRESS_HEADER = 'x-bakehouse-client-address';

export type Auth = ReturnType<typeof createAuth>;

/**
 * The sign-in library on our tables: email and password, GitHub and Google where configured.
 * It inserts user, sign-in method and session in one transaction; right after it we complete the
 * user in a second one. Should the program die between the two, the session check does it later.
 */
export function createAuth(services: Services, onUserCreated: OnUserCreated[]) {
  const { config, db, log } = services;
  return betterAuth({
    appName: 'Bakehouse',
    baseURL: config.publicUrl,
    basePath: AUTH_PATH,
    secret: serverSecret(config),
    // A browser may know the server by another name than its public URL, e.g. localhost: what
    // counts is that the page came from the host that it now calls.
    trustedOrigins: (request) => {
      const host = request?.headers.get('host');
      return host ? [`http://${host}`, `https://${host}`] : [];
    },
    telemetry: { enabled: false },
    logger: { log: (level, message, ...details) => log[level]({ part: 'auth', details }, message) },
    database: { db, type: 'postgres', transaction: true },
    advanced: {
      cookiePrefix: 'bakehouse',
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      // Our migrations make the tables; a test compares them with the library's wishes.
      database: { validateSchema: false },
    },
    // The HTTP layer limits sign-in and sign-up, with the headers and errors of all other routes.
    rateLimit: { enabled: false },
    // What is no answer of the library goes on to the HTTP layer, which knows how to say it.
    onAPIError: { throw: true },
    emailAndPassword: {
      enabled: true,
      disableSignUp: !config.signUp,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      password: hashPasswords(),
      revokeSessionsOnPasswordReset: true,
      // There is no mail transport: the operator reads the link in the log and hands it on.
      sendResetPassword: async ({ user, url }) => {
        await recordAudit(db, { userId: user.id, action: 'password.reset_requested' });
        log.warn(
          { part: 'auth', user_id: user.id, reset_link: url },
          'someone asked to reset this password; hand them the link',
        );
      },
      onPasswordReset: async ({ user }) => {
        await proveAddress(services, { userId: user.id, by: 'reset_link' });
        await recordAudit(db, { userId: user.id, action: 'password.reset' });
      },
    },
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
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    account: {
      modelName: 'sign_in_methods',
      encryptOAuthTokens: true,
      // Whoever had the address without proof loses it to whom the provider vouches for: `checkProviderUser`.
      accountLinking: { requireLocalEmailVerified: false },
      fields: {
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
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    hooks: {
      before: createAuthMiddleware(async (ctx) => {
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
          return { context: { ...ctx, body: { ...form.data, callbackURL, rememberMe } } };
        }
        if (ctx.path === '/change-password' || ctx.path === '/reset-password') {
          refuseCommonPassword(ctx.body.newPassword);
        }
        if (ctx.path === '/update-user') {
          if (ctx.body.username !== undefined) throw badRequest('A username cannot be changed');
          const profile = profileForm.safeParse(ctx.body);
          if (!profile.success) throw badRequest(profile.error.issues[0]?.message ?? 'Not valid');
        }
      }),
      after: createAuthMiddleware(async (ctx) => {
        const { session, returned } = ctx.context;
        if (ctx.path !== '/change-password' || !session || returned instanceof APIError) return;
        await recordAudit(db, { userId: session.user.id, action: 'password.changed' });
      }),
    },
    databaseHooks: {
      user: {
        create: {
          // A provider may know no name; the database picks the username where none is given.
          before: async (user) => ({
            data: { ...user, name: (user.name.trim() || user.email).slice(0, 200) },
          }),
          after: async (user) => {
            try {
              await provisionUser(services, { userId: user.id, onUserCreated });
            } catch (error) {
              log.error(
                { err: error, user_id: user.id },
                'could not complete a new user; their first request will',
              );
            }
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
    },
  });
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
