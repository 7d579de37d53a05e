import * as z from 'zod';
import { endpoint } from './endpoint.ts';

export const userId = z.string().min(1);
export const userIdParams = z.object({ userId });

export const onboarding = z.object({
  onboarding_completed: z.boolean(),
  steps: z.object({
    create_dataset: z.object({ completed: z.boolean() }),
    create_model: z.object({ completed: z.boolean() }),
    fine_tune_model: z.object({ completed: z.boolean() }),
  }),
});

export const user = z.object({
  id: z.string(),
  username: z.string(),
  name: z.string(),
  email: z.string(),
  image_url: z.string().nullable(),
  is_operator: z.boolean(),
  onboarding,
});

export type User = z.infer<typeof user>;

/** The key that the signed-in web app sends with every call. */
export const getApiKey = endpoint({
  method: 'GET',
  path: '/api/v1/api_keys',
  access: 'session',
  summary: 'The API key of the signed-in user',
  query: z.object({ user_id: userId }),
  response: z.object({ data: z.string() }),
});

/** Makes a new key and ends the old one at once. */
export const rotateApiKey = endpoint({
  method: 'POST',
  path: '/api/v1/api_keys/rotate',
  access: 'key',
  summary: 'Replace the API key',
  response: z.object({ data: z.string() }),
});

export const getMe = endpoint({
  method: 'GET',
  path: '/api/v1/users/me',
  access: 'key',
  summary: 'The owner of the key',
  response: user,
});

/** Which sign-in methods this server offers; the sign-in page shows just these. */
export const getSignInMethods = endpoint({
  method: 'GET',
  path: '/api/v1/sign-in-methods',
  access: 'public',
  summary: 'The sign-in methods that this server offers',
  response: z.object({ methods: z.array(z.enum(['password', 'github', 'google'])) }),
});
