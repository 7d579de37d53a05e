import * as z from 'zod';
import { type Paths, toJsonSchema } from '../../../../platform/http/openapi.ts';
import { authBodies } from './auth-bodies.ts';

const signedIn = z
  .looseObject({ token: z.string().nullable(), user: z.looseObject({ id: z.string(), email: z.email() }) })
  .meta({ id: 'SignedIn' });
const done = z.looseObject({ status: z.boolean() });

/** OpenAPI descriptions of the sign-in library's paths. The calls set and read the session's cookie. */
export const authPaths: Paths = {
  ...operation('/sign-up/email', { operationId: 'signUp', summary: 'Sign up and sign in' }, signedIn),
  ...operation('/sign-in/email', { operationId: 'signIn', summary: 'Sign in' }, signedIn),
  ...operation(
    '/sign-out',
    { operationId: 'signOut', summary: 'Sign out' },
    z.looseObject({ success: z.boolean() }),
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
    requestBody: { required, content: json(toJsonSchema(body, 'input')) },
    responses: {
      200: { description: 'Done', content: json(toJsonSchema(answer, 'output')) },
      default: { $ref: '#/components/responses/Error' },
    },
  };
  return { [`/api/auth${path}`]: { post } };
}

function json(schema: object): object {
  return { 'application/json': { schema } };
}
