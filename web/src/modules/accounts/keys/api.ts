/** The keys that a user has or had, for who names them; they are on no first screen. */
export { everyApiKeyQuery } from './keys-api.ts';
