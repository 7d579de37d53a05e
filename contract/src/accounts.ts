import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';
import { nameText } from './fields/text.ts';
import { tooLong } from './labels.ts';
import { NAME_LENGTH_MAX } from './limits.ts';
import { bgl } from './money.ts';

export const PASSWORD_LENGTH_MIN = 8;
export const PASSWORD_LENGTH_MAX = 128;

/** Maximum length of an inline picture. Small, because every page that its owner opens contains it. */
const IMAGE_CHARS_MAX = 280_000;

export const userId = z.string().min(1);
export const userIdParams = z.object({ userId });

const personName = nameText(NAME_LENGTH_MAX);

const username = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9_-]{3,30}$/, 'Username must have 3 to 30 characters: a-z, 0-9, - and _');

/**
 * Body of the sign-in library's `POST /api/auth/sign-up/email`. Without a username, one is derived from the
 * email.
 */
export const signUpForm = z.object({
  name: personName,
  username: username.optional(),
  email: z
    .email('Enter a valid email address')
    .max(254, 'Enter a valid email address')
    // RFC 5321 limits the part before the @ to 64 characters.
    .refine((address) => address.indexOf('@') <= 64, 'Enter a valid email address'),
  password: z
    .string()
    .min(PASSWORD_LENGTH_MIN, `Password must have at least ${PASSWORD_LENGTH_MIN} characters`)
    .max(PASSWORD_LENGTH_MAX, tooLong('Password', PASSWORD_LENGTH_MAX)),
});

/** Body of the library's `POST /api/auth/update-user`. */
export const profileForm = z.object({
  name: personName.optional(),
  /** Address of the picture, or the picture itself as the web app sends it. */
  image: z
    .string()
    .regex(/^(https:\/\/|data:image\/(png|jpeg|webp|gif);base64,)/, 'Choose a PNG, JPEG, WebP or GIF')
    .max(IMAGE_CHARS_MAX, 'Picture is larger than 200 kB')
    .nullish(),
});

export const publicUser = z.object({ user_id: z.string(), username: z.string() });

export const onboarding = z.object({
  onboarding_completed: z.boolean(),
  steps: z.object({
    create_dataset: z.object({ completed: z.boolean() }),
    create_model: z.object({ completed: z.boolean() }),
    fine_tune_model: z.object({ completed: z.boolean() }),
  }),
  /** Whether the user dismissed the first steps. */
  dismissed: z.boolean(),
});

export type OnboardingStep = keyof z.infer<typeof onboarding>['steps'];

export const user = z.object({
  id: z.string(),
  username: z.string(),
  name: z.string(),
  email: z.string(),
  /** True if the address was confirmed by a provider, a mailed link, a reset link or the operator. */
  email_verified: z.boolean(),
  image_url: z.string().nullable(),
  is_operator: z.boolean(),
  /** The mailbox already had an account, so this one got no starting credits and no invitation bonus. */
  is_returning: z.boolean(),
  onboarding,
});

export type User = z.infer<typeof user>;

/**
 * What every page needs, authenticated by the session's cookie. In one call, because round trips are slow on
 * phones. Also extends the session.
 */
export const getSession = endpoint({
  method: 'GET',
  path: '/api/v1/session',
  access: 'public',
  operation: 'sign in',
  summary: "Get the signed-in user and the web app's API key",
  response: z.object({
    /** Null if not signed in. */
    user: user.nullable(),
    /** Null too if the key was encrypted with an earlier server secret. */
    api_key: z.string().nullable(),
  }),
});

/** Returns the key that the web app sends with every call. Of API keys, only this one may call it. */
export const getApiKey = endpoint({
  method: 'GET',
  path: '/api/v1/api_keys',
  access: 'key_or_session',
  managesKeys: true,
  summary: "Get the web app's API key",
  query: z.object({ user_id: userId }),
  response: z.object({ data: z.string() }),
});

/** Creates a new key and revokes the old one immediately, even if the server cannot decrypt the old one. */
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

/** Sign-in methods that this server offers. The sign-in page shows only these. */
export const getSignInMethods = endpoint({
  method: 'GET',
  path: '/api/v1/sign-in-methods',
  access: 'public',
  summary: 'List available sign-in methods',
  response: z.object({
    methods: z.array(z.enum(['password', 'github', 'google'])),
    /** True if links are mailed. If not, the operator finds them in the log. */
    sends_mail: z.boolean(),
    /** Bonus that each side of an invitation gets; 0 for none. */
    referral_bonus: bgl,
  }),
});
