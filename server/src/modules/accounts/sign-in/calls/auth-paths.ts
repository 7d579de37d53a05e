import * as z from 'zod';
import type { Paths } from '../../../../platform/http/openapi.ts';
import { authBodies } from './auth-bodies.ts';

const signedIn = z.object({
  token: z.string().nullable(),
  user: z.object({ id: z.string(), email: z.email() }),
});
const done = z.object({ status: z.boolean() });

/** OpenAPI descriptions of the sign-in library's paths, which set and read the session's cookie. */
export const authPaths: Paths = {
  ...operation('/sign-up/email', { operationId: 'signUp', summary: 'Sign up and sign in' }, signedIn),
  ...operation('/sign-in/email', { operationId: 'signIn', summary: 'Sign in' }, signedIn),
  ...operation(
    '/sign-out',
    { operationId: 'signOut', summary: 'Sign out' },
    z.object({ success: z.boolean() }),
  ),
  ...operation(
    '/request-password-reset',
    { operationId: 'requestPasswordReset', summary: 'Request a password reset link' },
    done,
  ),
  ...operation(
    '/reset-password',
    { operationId: 'resetPassword', summary: "Reset the password with the link's token" },
    done,
  ),
  ...operation(
    '/change-password',
    {
      operationId: 'changePassword',
      summary: 'Change the password; other sessions end, and with `revokeApiKeys` API keys too',
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
