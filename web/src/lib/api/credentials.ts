/** The user and API key of this tab. In memory only: a reload fetches the key with the session cookie. */
export type Credentials = { userId: string; apiKey: string };

let current: Credentials | null = null;

export function setCredentials(credentials: Credentials | null): void {
  current = credentials;
}

export function getCredentials(): Credentials | null {
  return current;
}
