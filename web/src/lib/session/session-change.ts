let underWay: Promise<unknown> | null = null;

/**
 * Sends what replaces the cookie of a session, or ends it: a change of password, a sign-out. What reads by the cookie
 * waits until that is over: in between the server refuses the old one.
 */
export async function changeSession<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  // One after the other: the answer of the first would bring a cookie that the second has made invalid.
  const change = underWay ? underWay.then(send, send) : send();
  underWay = change;
  try {
    return await change;
  } finally {
    if (underWay === change) underWay = null;
  }
}

/** Resolves when no change of the session is under way, however it ended; throws the signal's reason when it was aborted meanwhile. */
export async function sessionSettled(signal?: AbortSignal): Promise<void> {
  while (underWay) await underWay.catch(() => undefined);
  signal?.throwIfAborted();
}
