import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = { status: number; body: object; headers?: Record<string, string> };
type Post = { text: string; reply?: object; quote_tweet_id?: string };

const CLIENT = { clientId: 'our id', clientSecret: 'our:secret' };
const UNAUTHORIZED: Answer = {
  status: 401,
  body: { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'Unauthorized' },
};
/** Basic authentication of form-encoded credentials, as X requires. */
const BASIC = `Basic ${Buffer.from('our%20id:our%3Asecret').toString('base64')}`;

/** For tests: an HTTP server with X's API. Stop it with `close`. */
export async function xServer() {
  const book = new XBook();
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, body, headers } = book.answer(request, Buffer.concat(chunks).toString());
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { book, config: { ...CLIENT, url }, close: () => new Promise((resolve) => server.close(resolve)) };
}

/** Accounts, tokens and posts at the fake X. */
class XBook {
  /** Replaces the answer to the next post, or to the next call of the address `to`. */
  next: (Answer & { to?: string }) | null = null;
  readonly posts: Post[] = [];
  readonly revoked: string[] = [];
  refreshes = 0;
  private readonly codes = new Map<string, { challenge: string; redirectUri: string }>();
  private readonly access = new Set<string>();
  private readonly refresh = new Set<string>();
  private made = 0;

  /** Grants consent on the page with this address. Returns the query of X's redirect. */
  consent(page: string): { code: string; state: string } {
    const { searchParams } = new URL(page);
    const code = `code-${++this.made}`;
    this.codes.set(code, {
      challenge: searchParams.get('code_challenge') ?? '',
      redirectUri: searchParams.get('redirect_uri') ?? '',
    });
    return { code, state: searchParams.get('state') ?? '' };
  }

  /**
   * Expires all access tokens. With `refreshToo` it also expires the refresh tokens, as if the user had
   * disconnected the application.
   */
  end({ refreshToo }: { refreshToo: boolean }): void {
    this.access.clear();
    if (refreshToo) this.refresh.clear();
  }

  answer({ method, url, headers }: http.IncomingMessage, body: string): Answer {
    const call = `${method} ${url}`;
    if (this.next && call === (this.next.to ?? 'POST /2/tweets')) {
      const answer = this.next;
      this.next = null;
      return answer;
    }
    if (call === 'POST /2/oauth2/token' || call === 'POST /2/oauth2/revoke') {
      if (headers.authorization !== BASIC) return { status: 401, body: { error: 'unauthorized_client' } };
      const form = new URLSearchParams(body);
      return call.endsWith('token') ? this.token(form) : this.revoke(form.get('token') ?? '');
    }
    if (!this.access.has(headers.authorization?.replace('Bearer ', '') ?? '')) return UNAUTHORIZED;
    if (call === 'GET /2/users/me') {
      return { status: 200, body: { data: { id: '2244994945', name: 'Ada', username: 'ada_bakes' } } };
    }
    return call === 'POST /2/tweets' ? this.post(JSON.parse(body)) : { status: 404, body: {} };
  }

  private token(form: URLSearchParams): Answer {
    const code = this.codes.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const fits =
      form.get('grant_type') === 'refresh_token'
        ? this.refresh.delete(form.get('refresh_token') ?? '')
        : code?.challenge === challenge && code.redirectUri === form.get('redirect_uri');
    this.codes.delete(form.get('code') ?? '');
    if (!fits) {
      const error_description = 'Value passed for the authorization code was invalid.';
      return { status: 400, body: { error: 'invalid_request', error_description } };
    }
    if (form.get('grant_type') === 'refresh_token') this.refreshes += 1;
    const [access_token, refresh_token] = [`access-${++this.made}`, `refresh-${this.made}`];
    this.access.add(access_token);
    this.refresh.add(refresh_token);
    return { status: 200, body: { token_type: 'bearer', expires_in: 7_200, access_token, refresh_token } };
  }

  private revoke(token: string): Answer {
    this.revoked.push(token);
    return { status: 200, body: { revoked: this.refresh.delete(token) } };
  }

  private post(post: Post): Answer {
    this.posts.push(post);
    return { status: 201, body: { data: { id: `${1_000 + this.posts.length}`, text: post.text } } };
  }
}
