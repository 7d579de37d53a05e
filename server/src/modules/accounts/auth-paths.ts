import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, signUpForm } from '@bakehouse/contract/accounts';
import * as z from 'zod';
import type { Paths } from '../../platform/http/openapi.ts';

const email = z.email();
const password = z.string().min(PASSWORD_LENGTH_MIN).max(PASSWORD_LENGTH_MAX);
const signedIn = z.object({ token: z.string().nullable(), user: z.object({ id: z.string(), email }) });
const done = z.object({ status: z.boolean() });

/** What OpenAPI says of the sign-in library's paths that a program can use; they set and take the session's cookie. */
export const authPaths: Paths = {
  '/api/auth/sign-up/email': {
    post: operation('signUp', 'Make an account and sign in', { body: signUpForm, answer: signedIn }),
  },
  '/api/auth/sign-in/email': {
    post: operation('signIn', 'Sign in', { body: z.object({ email, password }), answer: signedIn }),
  },
  '/api/auth/sign-out': {
    post: operation('signOut', 'End the session', {
      body: z.object({}),
      answer: z.object({ success: z.boolean() }),
      needsSession: true,
    }),
  },
  '/api/auth/request-password-reset': {
    post: operation('requestPasswordReset', 'Ask for a link that sets a new password', {
      body: z.object({ email, redirectTo: z.string().optional() }),
      answer: done,
    }),
  },
  '/api/auth/reset-password': {
    post: operation('resetPassword', 'Set a new password with the token of such a link', {
      body: z.object({ newPassword: password, token: z.string() }),
      answer: done,
    }),
  },
  '/api/auth/change-password': {
    post: operation('changePassword', 'Change the password', {
      body: z.object({ currentPassword: z.string(), newPassword: password }),
      answer: signedIn,
      needsSession: true,
    }),
  },
};

function operation(
  operationId: string,
  summary: string,
  { body, answer, needsSession = false }: { body?: z.ZodType; answer: z.ZodType; needsSession?: boolean },
): Paths[string][string] {
  return {
    operationId,
    summary,
    tags: ['auth'],
    security: needsSession ? [{ session: [] }] : [],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: { description: 'Done', content: json(answer) },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function json(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return { 'application/json': { schema: rest } };
}
