import type { TestServer, TestUser } from '../../../testing/test-server.ts';

type Options = { as?: TestUser | null; method?: string; headers?: Record<string, string>; body?: unknown };

/** Returns calls that imitate the hub's clients. */
export function hubCalls(server: TestServer) {
  const send = (path: string, { as = null, method, headers, body }: Options = {}): Promise<Response> => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    return fetch(`${server.url}/hub${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(as && { authorization: `Bearer ${as.apiKey}` }),
        ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }),
        ...headers,
      },
      body:
        body === undefined ? null : isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    });
  };
  return {
    send,
    /** Creates a user with this username, which is also their namespace. */
    signUpAs: async (username: string): Promise<TestUser> => {
      const user = await server.signUp(username);
      await server.services.db.updateTable('users').set({ username }).where('id', '=', user.userId).execute();
      return user;
    },
    // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every kind
    read: async (path: string, options?: Options): Promise<any> => {
      const response = await send(path, options);
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return response.json();
    },
    /** Returns the error of a failed call. */
    refusal: async (path: string, options?: Options) => {
      const response = await send(path, options);
      const { error } = (await response.json()) as { error: string };
      return { status: response.status, code: response.headers.get('x-error-code'), error };
    },
    /** Returns the user's audited actions without duplicates. */
    recorded: async ({ userId }: TestUser): Promise<string[]> => {
      const rows = await server.services.db
        .selectFrom('audit_log')
        .select('action')
        .distinct()
        .where('user_id', '=', userId)
        .execute();
      return rows.map(({ action }) => action);
    },
    /** Sends a commit to main; each line is one operation. */
    commit: (repository: string, lines: object[], options: Options = {}): Promise<Response> => {
      const type = options.headers?.['x-type'] ?? 'datasets';
      return send(`/api/${type}/${repository}/commit/main`, {
        ...options,
        body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
        headers: { 'content-type': 'application/x-ndjson' },
      });
    },
  };
}

export const header = (summary: string, more: Record<string, string> = {}) => ({
  key: 'header',
  value: { summary, ...more },
});

export const fileLine = (path: string, content: string) => ({
  key: 'file',
  value: { path, content: Buffer.from(content).toString('base64'), encoding: 'base64' },
});
