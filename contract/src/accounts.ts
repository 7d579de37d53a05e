import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';
import { nameText } from './fields/text.ts';
import { tooLong } from './labels.ts';
import { NAME_LENGTH_MAX } from './limits.ts';
import { bgl } from './money.ts';

export const PASSWORD_LENGTH_MIN = 8;
export const PASSWORD_LENGTH_MAX = 128;

/** Of a picture as text: every page of its owner carries it. */
const IMAGE_CHARS_MAX = 280_000;

export const userId = z.string().min(1);
export const userIdParams = z.object({ userId });

const personName = nameText(NAME_LENGTH_MAX);

const username = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9_-]{3,30}$/, 'Username must have 3 to 30 characters: a-z, 0-9, - and _');

/** Body of the sign-in library's `POST /api/auth/sign-up/email`. A username is picked from the email if absent. */
export const signUpForm = z.object({
  name: personName,
  username: username.optional(),
  email: z
    .email('Enter a valid email address')
    .max(254, 'Enter a valid email address')
    // RFC 5321 allows no more before the @.
    .refine((address) => address.indexOf('@') <= 64, 'Enter a valid email address'),
  password: z
    .string()
    .min(PASSWORD_LENGTH_MIN, `Password must have at least ${PASSWORD_LENGTH_MIN} characters`)
    .max(PASSWORD_LENGTH_MAX, tooLong('Password', PASSWORD_LENGTH_MAX)),
});

/** Body of the library's `POST /api/auth/update-user`. */
export const profileForm = z.object({
  name: personName.optional(),
  /** An address, or the picture itself as the web app sends it. */
  image: z
    .string()
    .regex(/^(https:\/\/|data:image\/(png|jpeg|webp|gif);base64,)/, 'Image must be a PNG, JPEG, WebP or GIF')
    .max(IMAGE_CHARS_MAX, 'Image is larger than 200 kB')
    .nullish(),
});

const onboarding = z.object({
  onboarding_completed: z.boolean(),
  steps: z.object({
    create_dataset: z.object({ completed: z.boolean() }),
    create_model: z.object({ completed: z.boolean() }),
    fine_tune_model: z.object({ completed: z.boolean() }),
  }),
  /** Whether the user has put the first steps away. */
  dismissed: z.boolean(),
});

export type OnboardingStep = keyof z.infer<typeof onboarding>['steps'];

export const user = z.object({
  id: z.string(),
  username: z.string(),
  name: z.string(),
  email: z.string(),
  /** Whether it was proven: by a provider, a mailed link, a reset link or the operator. */
  email_verified: z.boolean(),
  image_url: z.string().nullable(),
  is_operator: z.boolean(),
  /** The mailbox had an account here before: this one was given no starting credits, and no invitation counts for it. */
  is_returning: z.boolean(),
  onboarding,
});

export type User = z.infer<typeof user>;

/**
 * What every page begins with, read by the session's cookie and in one call, since on a phone each further one is felt. It
 * also keeps the session alive.
 */
export const getSession = endpoint({
  method: 'GET',
  path: '/api/v1/session',
  access: 'public',
  operation: 'sign in',
  summary: "Get the signed-in user and the web app's API key",
  response: z.object({
    /** Null for nobody. */
    user: user.nullable(),
    /** Null too where it was encrypted under a secret that the server no longer has. */
    api_key: z.string().nullable(),
  }),
});

/** The key that the signed-in web app sends with every call. A program that has it is answered with it; one with another key is refused. */
export const getApiKey = endpoint({
  method: 'GET',
  path: '/api/v1/api_keys',
  access: 'key_or_session',
  managesKeys: true,
  summary: "Get the web app's API key",
  query: z.object({ user_id: userId }),
  response: z.object({ data: z.string() }),
});

/** Makes a new key and ends the old one at once. Also for a browser to which the server can no longer show the old one. */
export const rotateApiKey = endpoint({
  method: 'POST',
  path: '/api/v1/api_keys/rotate',
  access: 'key_or_session',
  managesKeys: true,
  summary: "Rotate the web app's API key",
  response: z.object({ data: z.string() }),
});

export const getMe = endpoint({
  method: 'GET',
  path: '/api/v1/users/me',
  access: 'key_or_session',
  operation: 'read your account',
  summary: 'Get the current user',
  response: user,
});

export const changeOnboarding = endpoint({
  method: 'PATCH',
  path: '/api/v1/users/me/onboarding',
  access: 'key',
  operation: 'hide the first steps',
  summary: 'Hide or show the onboarding checklist',
  body: only({ dismissed: z.boolean('dismissed must be true or false') }),
  response: onboarding,
});

/** Which sign-in methods this server offers; the sign-in page shows just these. */
export const getSignInMethods = endpoint({
  method: 'GET',
  path: '/api/v1/sign-in-methods',
  access: 'public',
  summary: 'List available sign-in methods',
  response: z.object({
    methods: z.array(z.enum(['password', 'github', 'google'])),
    /** Whether links are mailed; else the operator finds them in the log. */
    sends_mail: z.boolean(),
    /** What an invitation gives to each of the two; 0: nothing. */
    referral_bonus: bgl,
  }),
});
