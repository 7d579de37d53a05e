import * as z from 'zod';
import type { Paths } from '../../../../platform/http/openapi.ts';
import { authBodies } from './auth-bodies.ts';

const signedIn = z.object({
  token: z.string().nullable(),
  user: z.object({ id: z.string(), email: z.email() }),
});
const done = z.object({ status: z.boolean() });

/** What OpenAPI says of the sign-in library's paths that a program can use; they set and take the session's cookie. */
export const authPaths: Paths = {
  ...operation('/sign-up/email', { operationId: 'signUp', summary: 'Make an account and sign in' }, signedIn),
  ...operation('/sign-in/email', { operationId: 'signIn', summary: 'Sign in' }, signedIn),
  ...operation(
    '/sign-out',
    { operationId: 'signOut', summary: 'End the session' },
    z.object({ success: z.boolean() }),
  ),
  ...operation(
    '/request-password-reset',
    { operationId: 'requestPasswordReset', summary: 'Ask for a link that sets a new password' },
    done,
  ),
  ...operation(
    '/reset-password',
    { operationId: 'resetPassword', summary: 'Set a new password with the token of such a link' },
    done,
  ),
  ...operation(
    '/change-password',
    {
      operationId: 'changePassword',
      summary: 'Change the password: other sessions end, and API keys where `revokeApiKeys` says so',
      security: [{ session: [] }],
    },
    signedIn,
  ),
};

type Said = { operationId: string; summary: string; security?: object[] };

function operation(path: keyof typeof authBodies, said: Said, answer: z.ZodType): Paths {
  const body = authBodies[path];
  const required = !body.safeParse(undefined).success;
  const post = {
    ...{ security: [], ...said },
    tags: ['auth'],
    requestBody: { required, content: json(body) },
    responses: {
      200: { description: 'Done', content: json(answer) },
      default: { $ref: '#/components/responses/Error' },
    },
  };
  return { [`/api/auth${path}`]: { post } };
}

function json(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return { 'application/json': { schema: rest } };
}
