let underWay: Promise<unknown> | null = null;

/**
 * Sends a request that replaces or ends the session cookie, such as a password change or sign-out.
 * Cookie-authenticated reads wait for it, because the server rejects the old cookie.
 */
export async function changeSession<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  // Serialize: the first response would set a cookie that the second request has invalidated.
  const change = underWay ? underWay.then(send, send) : send();
  underWay = change;
  try {
    return await change;
  } finally {
    if (underWay === change) underWay = null;
  }
}

/**
 * Resolves when no session change is in flight, whether or not it succeeded. Throws the signal's reason on
 * abort.
 */
export async function sessionSettled(signal?: AbortSignal): Promise<void> {
  while (underWay) await underWay.catch(() => undefined);
  signal?.throwIfAborted();
}
