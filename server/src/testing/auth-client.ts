import { getApiKey } from '@bakehouse/contract/accounts';
import type { TestServer } from './test-server.ts';

export const password = 'correct horse battery staple';

type AuthBody = { user: { id: string; username: string }; error: { code: string; message: string } };

/** Calls the sign-in library's paths of a server like the server's own page. */
export function authClient(server: Pick<TestServer, 'url' | 'request'>) {
  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${server.url}/api/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url, ...headers },
      body: JSON.stringify(body),
    });
  const keyOf = async (response: Response): Promise<string> => {
    const { user } = await bodyOf(response);
    const answer = await server.request(
      getApiKey,
      { query: { user_id: user.id } },
      { headers: { cookie: cookieOf(response) } },
    );
    return answer.data;
  };
  return { post, keyOf };
}

export async function bodyOf(response: Response | undefined): Promise<AuthBody> {
  return (await response?.clone().json()) as AuthBody;
}

/** Returns the cookies that a response sets, as a browser would send them back. */
export function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}
